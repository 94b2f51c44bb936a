// What the k-NN commands share: the options for metric, weights of attributes, normalisation and compatibility, and the
// preparation of two tables for a search.
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
  /// Metric and compatibility, checked as far as possible without a table. Throws invalid_argument.
  KnnOptions options() const;

  /// Prepares a search among the rows of `train`. It warns if ranges differ too much, fits the normalisation to
  /// `train`, and applies it to both tables. It returns the options with the weights in the order of the features.
  /// `other` may be null, and so may `normalizer`, which receives the normalisation.
  KnnOptions prepare(Session& session, Table& train, Table* other, Normalizer* normalizer = nullptr) const;

  /// The weights of `table`'s features; empty where none were asked for.
  std::vector<double> weights(const Table& table, const RunOptions& run) const;

  /// Notes the command's own `options`, then those of the search, and how the search ran.
  void note(Session& session, Json options, const SearchReport& report) const;
};

/// Throws invalid_file if a table that is searched or learnt from has no rows.
void require_rows(const Table& table, const std::string& path);

/// Warns if the ranges of numeric features differ by more than a hundred times and nothing evens them out.
void warn_of_ranges(Session& session, const KnnArguments& arguments, const Table& table);

/// Takes a column out of the features: the group of --exclude-group says which rows belong together, not how far apart
/// they are. Does nothing if the table lacks the column or it already has a role.
void leave_out(Table& table, const std::string& column);

/// The name of the column that `reference` stands for: a name, or a number from 1 (a name that exists wins). Throws
/// invalid_file naming `path`, `option` and the nearest name.
std::string column_name(const Table& table, const std::string& path, const std::string& reference,
                        const std::string& option);

/// The label, id or weight column, or null.
const Column* column_of(const Table& table, Role role);

}  // namespace stope::cli
