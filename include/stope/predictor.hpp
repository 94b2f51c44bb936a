// A fitted model of any kind, and its application to tables.
//
//   const Predictor predictor(read_model("scores.stope"));   // stope/model.hpp
//   if (predictor.gives() == Predictor::Gives::classes) predictor.classify(table);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stope/chain.hpp"
#include "stope/cuts.hpp"
#include "stope/discretize.hpp"
#include "stope/explain.hpp"
#include "stope/impute.hpp"
#include "stope/knn.hpp"
#include "stope/lsq.hpp"
#include "stope/neighbors_model.hpp"
#include "stope/normalize.hpp"
#include "stope/pca.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"
#include "stope/tree.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// Cuts, and how tables are coded with them. Under MissingPolicy::fill the means are those of the table that is coded.
struct CutsModel {
  CutSet cuts;
  ApplyOptions coding;
};

/// A fitted model, and the columns of the table to which it was fitted: names, types, roles and values, without rows.
struct Model {
  Table columns;
  std::variant<NeighborsModel, Pca, LinearModel, DecisionTree, CutsModel, Normalizer, Imputer, ChainModel> fitted;

  /// "k-NN classifier", "principal components", ...
  std::string_view kind() const;
};

/// The table's columns without its rows.
Table outline(const Table& table);

/// A model ready for use. Copies share it; everything is const and safe from several threads at once. Columns of other
/// tables are matched by name. Each call throws what the model's own job throws, and invalid_argument for a model that
/// gives something else.
class Predictor {
 public:
  /// Fits k-NN to its training table, once; other kinds are ready. Throws what KnnIndex::fit throws, and
  /// invalid_argument for a chain that make_chain() would not make.
  explicit Predictor(Model model, const RunOptions& run = {});

  /// What the model gives. table: scores of components, codes of cuts, normalised columns, the table without missing
  /// values. A chain gives what its last step gives.
  enum class Gives { classes, numbers, neighbors, table };
  Gives gives() const;

  const Model& model() const;
  /// The names of the classes, in the order of confidences; empty for a model that gives no classes.
  const Values& classes() const;

  /// The table as the last step of a chain takes it: all steps before it are applied. The same table for other models.
  Table prepared(const Table& table, const RunOptions& run = {}) const;
  /// k-NN, also as the last step of a chain: the fitted index, whatever the label. It finds neighbours of rows that
  /// normalized() has prepared.
  const KnnIndex& index() const;
  /// k-NN: the table as the index takes its rows; the same table where the model has no normalisation and no steps.
  Table normalized(const Table& table, const RunOptions& run = {}) const;
  /// k-NN: the same model with another k and other weights of votes. Nothing is fitted again. Throws invalid_argument
  /// for a k below 1.
  Predictor with_vote(std::int64_t n_neighbors, VoteWeights weights) const;

  /// k-NN classifiers and trees. `report` tells how a search ran; models that do not search leave it as it is.
  Classification classify(const Table& table, const RunOptions& run = {}, SearchReport* report = nullptr) const;
  /// k-NN regressors and least squares.
  std::vector<double> regress(const Table& table, const RunOptions& run = {}, SearchReport* report = nullptr) const;
  /// k-NN with a label: predicts for rows that normalized() has prepared, of a table or an array, and writes to the
  /// caller's memory, on the host or in a GPU (stope/knn_arrays.hpp). Without `out.values` a classifier gives codes
  /// alone.
  SearchReport predict(const QueryRows& prepared, const PredictionArrays& out, const RunOptions& run = {}) const;
  /// k-NN without a label: the nearest rows of the training table, as many as the model says.
  Neighbors neighbors(const Table& table, const RunOptions& run = {}, SearchReport* report = nullptr) const;
  /// Components, cuts, normalisations, imputations, and chains of them.
  Table transform(const Table& table, const RunOptions& run = {}) const;

  /// Why k-NN predicts what it predicts: hands the neighbours of every row, their votes and what their distances
  /// consist of to `sink`, in the order of the rows (stope/explain.hpp). Costs a search; the prediction has the bits of
  /// classify() and regress(). A model without a label has neighbours, and no votes.
  SearchReport explain(const Table& table, const RunOptions& run, const ExplanationSink& sink) const;

  /// The same in blocks of rows, in their order, so that the result need not fit in memory. Empty for models that do
  /// not search.
  std::optional<SearchReport> classify(const Table& table, const RunOptions& run, const ClassificationSink& sink,
                                       Confidences confidences = Confidences::all) const;
  std::optional<SearchReport> regress(const Table& table, const RunOptions& run, const RegressionSink& sink) const;
  SearchReport neighbors(const Table& table, const RunOptions& run, const NeighborSink& sink) const;

 private:
  struct Ready;
  explicit Predictor(std::shared_ptr<const Ready> ready) : ready_(std::move(ready)) {}
  std::shared_ptr<const Ready> ready_;
};

}  // namespace stope
#pragma GCC visibility pop
