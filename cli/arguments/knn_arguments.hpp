// What the k-NN commands share: metric, weights of attributes, normalisation, compatibility, and making two tables
// ready for a search.
#pragma once

#include <string>
#include <vector>

#include "report/session.hpp"
#include "stope/knn.hpp"
#include "stope/normalize.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct KnnArguments {
  std::string metric = Metric{}.name;
  std::vector<std::string> metric_params;  // KEY=VALUE
  std::string feature_weights;             // a list of numbers, or a file
  std::string normalize = "none";
  std::string compat = "none";

  void add_to(CLI::App& app);

  Compat compat_mode() const;
  NormalizeOptions normalization() const;
  /// Metric and compatibility, checked as far as that goes without a table. Throws invalid_argument.
  KnnOptions options() const;

  /// For a search among the rows of `train`: warns where ranges differ too much, fits the normalisation to `train` and
  /// applies it to both, and returns the options with the weights in the order of the features. `other` may be null,
  /// and so may `normalizer`, which takes the normalisation.
  KnnOptions prepare(Session& session, Table& train, Table* other, Normalizer* normalizer = nullptr) const;

  /// The weights of `table`'s features; empty where none were asked for.
  std::vector<double> weights(const Table& table, const RunOptions& run) const;

  /// Notes how a search was asked for, these options after the command's own, and how it ran.
  void note(Session& session, Json options, const SearchReport& report) const;
};

/// Throws invalid_file where a table that is searched or learnt from has no rows.
void require_rows(const Table& table, const std::string& path);

/// Warns where the ranges of numeric features differ by more than a hundred times and nothing evens them out.
void warn_of_ranges(Session& session, const KnnArguments& arguments, const Table& table);

/// Takes a column out of the features (the group of --exclude-group says which rows belong together, not how far apart
/// they are). Nothing happens where the table lacks it or it has a role already.
void leave_out(Table& table, const std::string& column);

/// The name of the column that `reference`, a name or a number from 1, stands for (a name that exists wins). Throws
/// invalid_file naming `path`, `option` and the nearest name.
std::string column_name(const Table& table, const std::string& path, const std::string& reference,
                        const std::string& option);

/// The label, id or weight column, or null.
const Column* column_of(const Table& table, Role role);

}  // namespace stope::cli
