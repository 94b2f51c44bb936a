// What the k-NN commands share: the options for metric, weights of attributes, normalisation and compatibility, and the
// preparation of two tables for a search.
#pragma once

#include <string>
#include <vector>

#include "arguments/class_weight_arguments.hpp"
#include "report/session.hpp"
#include "stope/knn.hpp"
#include "stope/neighbors_model.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

/// Whether a command compares several measures and normalisations.
enum class Measures { one, several };

struct KnnArguments {
  std::string metric = Metric{}.name;
  std::vector<std::string> metrics = {};           // Measures::several; `metric` is the first
  std::vector<Normalization> normalizations = {};  // Measures::several; `normalize` is the first
  ClassWeightArguments class_weights;
  std::vector<std::string> metric_params;  // KEY=VALUE
  std::string feature_weights;             // a list of numbers, or a file
  Normalization normalize = Normalization::none;
  Compat compat = Compat::none;

  void add_to(CLI::App& app, Measures measures = Measures::one);
  /// Adds --class-weight, for commands that vote.
  void add_class_weights(CLI::App& app);

  NormalizeOptions normalization() const;
  /// What is compared: the given ones, or the default alone.
  std::vector<std::string> all_metrics() const;
  std::vector<NormalizeOptions> all_normalizations() const;
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
