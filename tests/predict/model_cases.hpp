// Small models of every kind.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/find_cuts.hpp"
#include "stope/neighbors_model.hpp"
#include "stope/predictor.hpp"

namespace stope::testing_models {

/// Makes numbers, missing ones, a nominal attribute, an id and a label of the given kind.
inline Table mixed_table(std::int64_t n_rows, bool nominal_label) {
  Random random(7);
  std::vector<double> x, y, weight;
  std::vector<std::int32_t> color, id, label;
  std::vector<std::string> ids;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    x.push_back(row == 3 ? std::numeric_limits<double>::quiet_NaN() : random.uniform() - 0.5);
    y.push_back(static_cast<double>(random.below(5)));
    weight.push_back(1.0 + static_cast<double>(random.below(3)));
    color.push_back(static_cast<std::int32_t>(random.below(4)) - 1);
    id.push_back(static_cast<std::int32_t>(row));
    ids.push_back("row " + std::to_string(row));
    label.push_back(static_cast<std::int32_t>(random.below(3)));
  }
  Table table;
  table.n_rows = n_rows;
  table.columns = {make_numeric("x", x), make_nominal("id", id, ids), make_nominal("colour", color, {"red", "", "??"}),
                   make_numeric("y", y), make_numeric("w", weight)};
  table.columns.push_back(nominal_label ? make_nominal("class", label, {"a", "b", "c"}) : make_numeric("class", y));
  table.columns[1].role = Role::id;
  table.columns[4].role = Role::weight;
  table.columns[5].role = Role::label;
  return table;
}

inline Table numeric_table(std::int64_t n_rows) {
  Table table = mixed_table(n_rows, false);
  table.columns.erase(table.columns.begin() + 1, table.columns.begin() + 3);
  std::vector<double> x;
  for (std::int64_t row = 0; row < n_rows; ++row) x.push_back(static_cast<double>(row * row % 11));
  table.columns[0] = make_numeric("x", x);
  return table;
}

inline Model neighbors_model(std::int64_t n_rows = 8, bool nominal_label = true) {
  Table table = mixed_table(n_rows, nominal_label);
  NeighborsModel fitted;
  fitted.options.metric = {"gower", {}};
  fitted.options.feature_weights = {1.0, 0.25, 2.0};
  fitted.normalizer = Normalizer::fit(table, {.method = Normalization::z});
  fitted.train = fitted.normalizer.apply(table);
  fitted.n_neighbors = 3;
  fitted.weights = VoteWeights::distance;
  return {outline(table), fitted};
}

inline Model pca_model() {
  const Table table = numeric_table(9);
  return {outline(table), Pca::fit(table, {.n_components = 2, .whiten = true})};
}

/// scikit-learn's TruncatedSVD; a missing value counts as the mean.
inline Model uncentred_model() {
  const Table table = numeric_table(9);
  return {outline(table),
          Pca::fit(table, {.n_components = 2, .centering = Centering::none, .missing = MissingValues::mean})};
}

inline Model lsq_model() {
  const Table table = numeric_table(9);
  return {outline(table), LinearModel::fit(table, {.alpha = 0.5, .missing = MissingValues::mean})};
}

inline Model tree_model(std::int64_t n_rows = 12) {
  const Table table = mixed_table(n_rows, true);
  return {outline(table), DecisionTree::fit(table, {.missing = MissingPolicy::value})};
}

inline Model cuts_model() {
  const Table table = mixed_table(20, true);
  const ApplyOptions coding{.missing = MissingPolicy::value, .style = CodeStyle::labels};
  return {outline(table), CutsModel{find_cuts(table, {.missing = MissingPolicy::value}), coding}};
}

inline Model normalizer_model() {
  const Table table = mixed_table(9, true);
  return {outline(table), Normalizer::fit(table, {.method = Normalization::range, .min = -1.0, .max = 3.0})};
}

/// A normalisation, cuts of its numbers, and a tree of these.
inline Model chain_of_cuts(std::int64_t n_rows = 12) {
  const Table table = mixed_table(n_rows, true);
  const Model scale{outline(table), Normalizer::fit(table, {.method = Normalization::z})};
  const Table scaled = std::get<Normalizer>(scale.fitted).apply(table);
  const ApplyOptions coding{.missing = MissingPolicy::value, .style = CodeStyle::labels};
  const CutsModel cuts{find_cuts(scaled, {.missing = MissingPolicy::value}), coding};
  const Table coded = apply_cuts(scaled, cuts.cuts, coding);
  return make_chain({scale, {outline(scaled), cuts}, {outline(coded), DecisionTree::fit(coded)}});
}

/// A normalisation, components of its columns, and k-NN among their scores.
inline Model chain_of_neighbors(std::int64_t n_rows = 9) {
  const Table table = numeric_table(n_rows);
  const Model scale{outline(table), Normalizer::fit(table, {.method = Normalization::range})};
  const Table scaled = std::get<Normalizer>(scale.fitted).apply(table);
  const Model pca{outline(scaled), Pca::fit(scaled, {.n_components = 2})};
  const Table scores = std::get<Pca>(pca.fitted).transform(scaled);
  const NormalizeOptions normalize{.method = Normalization::z};
  return make_chain({scale, pca, {outline(scores), make_neighbors_model(scores, {}, normalize, {.n_neighbors = 2})}});
}

inline Model imputer_model() {
  const Table table = mixed_table(12, true);
  ImputeOptions options{.n_neighbors = 2, .weights = VoteWeights::distance, .strategy = ImputeStrategy::median};
  options.feature_weights = {1.0, 0.25, 2.0};
  options.normalize = {.method = Normalization::range, .min = -1.0, .max = 3.0};
  options.columns = {"colour", "x", "class"};
  options.indicators = Indicators::append;
  return {outline(table), Imputer::fit(table, options)};
}

/// One model of every kind.
inline std::vector<Model> small_models() {
  return {neighbors_model(3), pca_model(),        uncentred_model(), lsq_model(),     tree_model(),
          cuts_model(),       normalizer_model(), imputer_model(),   chain_of_cuts(), chain_of_neighbors()};
}

}  // namespace stope::testing_models
