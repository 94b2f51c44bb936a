// Fitted models to content and back: one pair of functions per kind of model. Content is checked as if an enemy had
// written it: the checksum keeps out only accidents.
#pragma once

#include <string_view>
#include <vector>

#include "model/content.hpp"
#include "stope/model.hpp"

namespace stope::model {

inline constexpr std::string_view kNeighbors = "neighbors";
inline constexpr std::string_view kPca = "pca";
inline constexpr std::string_view kLeastSquares = "least squares";
inline constexpr std::string_view kTree = "tree";
inline constexpr std::string_view kCuts = "cuts";
inline constexpr std::string_view kNormalization = "normalization";
inline constexpr std::string_view kChain = "chain";
inline constexpr std::string_view kImpute = "impute";

/// The model, whatever its kind. Throws invalid_data, and out_of_memory beyond the run's limit.
Model model_of(const Content& content, const RunOptions& run);
/// Its content. The tables share the model's memory. Throws invalid_argument where the model's columns have rows.
Content content_of(const Model& model);

void put_neighbors(const NeighborsModel& model, Content& content);
NeighborsModel get_neighbors(const Content& content);

void put_pca(const Pca& model, Content& content);
Pca get_pca(const Content& content);

void put_lsq(const LinearModel& model, Content& content);
LinearModel get_lsq(const Content& content);

void put_tree(const DecisionTree& model, Content& content);
DecisionTree get_tree(const Content& content, const RunOptions& run);

void put_cuts(const CutsModel& model, Content& content);
CutsModel get_cuts(const Content& content);

void put_normalizer(const Normalizer& model, Content& content);
Normalizer get_normalizer(const Content& content);

void put_chain(const ChainModel& model, Content& content);
/// Throws invalid_data for steps that do not fit behind each other, or not the `columns` of the chain.
ChainModel get_chain(const Content& content, const Table& columns, const RunOptions& run);
/// The content of every step of a chain, with the names that it has in a file of its own.
std::vector<Content> steps_of(const Content& content);

void put_imputer(const Imputer& model, Content& content);
Imputer get_imputer(const Content& content, const RunOptions& run);

/// A measure as options: its name and parameters. get_metric() checks the name.
void put_metric(const Metric& metric, Content& content);
Metric get_metric(const Content& content);

/// Weights of features as a table, if there are any.
void put_feature_weights(const std::vector<double>& weights, Content& content);
std::vector<double> get_feature_weights(const Content& content);

/// The options and the table of a normalisation, which k-NN has besides its own.
void add_normalization(const Normalizer& normalizer, Content& content);
Normalizer normalization_of(const Content& content);

}  // namespace stope::model
