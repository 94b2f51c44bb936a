// Jobs and kinds of model by name, with options by name: for front ends that cannot name a structure of C++, such as
// the C ABI and a server. The answers are those of the functions that each job stands for.
//
//   Predictor model = fit_model("classify", table, {.texts = {{"n_neighbors", "3"}, {"metric", "gower"}}});
//   Table predictions = apply_model(model, other_table, {.texts = {{"proba", "true"}}});
//   Table statistics = compute("stats", table);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stope/predictor.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// What a caller has set, by the options' names. An option that takes a list of numbers may be in either map: as text,
/// its numbers are separated by commas.
struct NamedOptions {
  std::map<std::string, std::string> texts = {};
  std::map<std::string, std::vector<double>> numbers = {};
};

/// The kinds of fit_model(): neighbors, classify, regress, pca, lsq, tree, cuts, normalize,
/// impute.
std::vector<std::string> model_kinds();
/// The jobs of compute(): stats, correlation, histogram, value_counts, best_cuts, find_cuts, evaluate, confusion,
/// feature_ranges, pairwise.
std::vector<std::string> job_names();

/// The options of a kind or job as a JSON list of {"name", "type", "default", "choices", "help"}. It also knows "run",
/// "read", "arrow", "apply", "search" and "pairwise_distances". Empty for any other name.
std::string_view describe_options(std::string_view job);

/// Fits a model. Throws invalid_argument for an unknown kind or option, with the nearest name that there is, and what
/// fitting throws.
Predictor fit_model(const std::string& kind, const Table& train, const NamedOptions& options = {},
                    const RunOptions& run = {});

/// Joins fitted models into a chain, as make_chain() does. A last step of k-NN is fitted once more. Throws what
/// make_chain() and fitting throw.
Predictor chain_models(const std::vector<Predictor>& models, const RunOptions& run = {});

/// What the model says of every row of a table: predictions, neighbours, scores or coded columns. Columns are matched
/// by name.
Table apply_model(const Predictor& model, const Table& rows, const NamedOptions& options = {},
                  const RunOptions& run = {});

/// The n_neighbors nearest training rows of every row, for a model of k-NN of any kind. The columns are "row", "pos",
/// "train_index" and "distance". The options are those of "search".
Table model_neighbors(const Predictor& model, const Table& rows, std::int64_t n_neighbors,
                      const NamedOptions& options = {}, const RunOptions& run = {});

/// A job that makes a table of one table. Only "pairwise" takes another one; nullptr compares the table with itself.
Table compute(const std::string& job, const Table& table, const NamedOptions& options = {}, const RunOptions& run = {},
              const Table* other = nullptr);

/// What a model is, as JSON: {"kind", "gives", "classes", "options", "columns", "tables"}.
std::string model_info(const Predictor& model);
/// A part of a model: one of the "tables" of model_info(). Throws invalid_argument for any other name.
Table model_table(const Predictor& model, const std::string& name);

}  // namespace stope
#pragma GCC visibility pop
