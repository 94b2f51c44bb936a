// What the k-NN commands share: the options for metric, weights of attributes, normalisation and compatibility, and the
// preparation of two tables for a search.
#pragma once

#include <string>
#include <vector>

#include "report/session.hpp"
#include "stope/knn.hpp"
#include "stope/neighbors_model.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct KnnArguments {
  std::string metric = Metric{}.name;
  std::vector<std::string> metric_params;  // KEY=VALUE
  std::string feature_weights;             // a list of numbers, or a file
  Normalization normalize = Normalization::none;
  Compat compat = Compat::none;

  void add_to(CLI::App& app);
  /// Adds the options of the distance alone, without --compat.
  void add_distance_to(CLI::App& app);

  NormalizeOptions normalization() const;
  /// Metric and compatibility, checked as far as possible without a table. Throws invalid_argument.
  KnnOptions options() const;

  /// Prepares a search among the rows of `train`: reads the weights, warns if ranges differ too much, and normalises
  /// both tables by `train`. `other` may be null.
  NeighborsModel prepare(Session& session, Table& train, Table* other, const VoteOptions& vote = {}) const;

  /// The weights of `table`'s features; empty where none were asked for.
  std::vector<double> weights(const Table& table, const RunOptions& run) const;

  /// Notes the command's own `options`, then those of the search, and how the search ran.
  void note(Session& session, Json options, const SearchReport& report) const;
};

/// Throws invalid_data if a table that is searched or learnt from has no rows.
void require_rows(const Table& table, const std::string& path);

/// The label, id or weight column, or null.
const Column* column_of(const Table& table, Role role);

}  // namespace stope::cli
