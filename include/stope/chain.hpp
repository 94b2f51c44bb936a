// Chains: tables are prepared by fitted steps (normalise, code by cuts, components), and the last step predicts.
//
//   const Model scale{outline(train), Normalizer::fit(train, {.method = Normalization::z})};
//   const Table scaled = Predictor(scale).transform(train);
//   const Model both = make_chain({scale, {outline(scaled), DecisionTree::fit(scaled)}});
//   Predictor(both).classify(test);   // the same bits as scaling `test` by hand
#pragma once

#include <cstddef>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

struct Model;

/// Fitted steps, in the order in which a table passes them. Every step but the last gives a table of as many rows. The
/// last step may be of any kind; it decides what the chain gives. A step is no chain itself.
struct ChainModel {
  static constexpr std::size_t kMostSteps = 64;
  std::vector<Model> steps;
};

/// Joins models into one. A chain among them is replaced by its steps. The columns of the result are those of the first
/// model. Label, id and weight are those of the last one: a column that the first model takes as a feature becomes the
/// label if the last one says so, and one that the first model lacks is added. Each step ignores what its own model
/// ignores, and takes as features what that takes.
///
/// Throws invalid_argument
/// - for fewer than two models, and more than ChainModel::kMostSteps steps;
/// - for a model before the last that gives no table, leaves rows out, or fills gaps from the rows that it is given
///   (MissingPolicy::drop and MissingPolicy::fill): predictions would not belong to the rows;
/// - naming the column, where a step lacks a feature, has a number for a nominal one or the reverse, or changes the
///   label, id or weight of the last step.
Model make_chain(std::vector<Model> models);

/// The last step of a chain; any other model is its own last step. Throws invalid_argument for a chain without steps.
const Model& last_step(const Model& model);

}  // namespace stope
#pragma GCC visibility pop
