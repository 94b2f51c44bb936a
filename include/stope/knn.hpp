// Exact nearest neighbours over mixed tables: search, classification, regression.
// Neighbours are the k smallest by (distance, row); NaN distances come last (docs/NUMERICS.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stope/compat.hpp"
#include "stope/knn_arrays.hpp"
#include "stope/knn_parts.hpp"
#include "stope/knn_report.hpp"
#include "stope/metric.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"
#include "stope/vote.hpp"

namespace stope::knn {
class Fitted;       // the encoded training table (src/knn/fitted.hpp)
struct HeldVoters;  // labels and sample weights (src/knn/vote/held_voters.hpp)
}  // namespace stope::knn

#pragma GCC visibility push(default)
namespace stope {

/// What an index fixes when it is fitted.
struct KnnOptions {
  Metric metric = {};
  std::vector<double> feature_weights = {};  ///< one per feature, >= 0, finite; 0 leaves the feature out; empty = all 1
  Compat compat = Compat::none;
  /// The whole's ranges, where the training table is a part (stope/knn_parts.hpp). Empty: the training table's own.
  FeatureRanges ranges = {};
  /// Weights of classes by name, finite and >= 0, which multiply those of the rows in votes; other classes weigh 1. An
  /// index has no votes and ignores them; a regressor refuses them, and so do RapidMiner's rules, which weigh no rows.
  std::vector<std::pair<std::string, double>> class_weights = {};
  bool balanced = false;  ///< classes weigh n / (classes * rows of the class); class_weights must be empty

  bool weighs_classes() const { return balanced || !class_weights.empty(); }
};

/// Which neighbours are wanted.
struct SearchOptions {
  std::int64_t n_neighbors = 5;    ///< 1 to the number of training rows (any k >= 1 under Compat::rapidminer)
  bool exclude_self = false;       ///< no row is its own neighbour (leave-one-out); the queries are training rows
  std::string exclude_group = {};  ///< a column of both tables: rows with the same present value are no neighbours
  /// With exclude_self: query row i is training row first_query + i. -1: the queries are all training rows.
  std::int64_t first_query = -1;
  /// Groups that are in no table: one value a training row, and one a query row. Both are given, or none.
  std::optional<Column> exclude_train = {}, exclude_query = {};
};

/// Neighbour lists of consecutive query rows. List i is [offsets[i], offsets[i+1]) of `indices` and `distances`,
/// nearest first (in heap-array order under Compat::rapidminer). Lists are shorter than k only where exclusion, or
/// k > n under Compat::rapidminer, leaves fewer rows.
struct Neighbors {
  std::int64_t first_query = 0;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int64_t> indices;  ///< training rows
  std::vector<double> distances;
  std::int64_t n_queries() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

/// Receives the lists block by block, in query order.
using NeighborSink = std::function<void(const Neighbors&)>;

/// A fitted index: the encoded features of a training table. Copies share the data. Searching is const and safe from
/// several threads at once. An index that fit() did not make throws invalid_argument whatever it is asked.
class KnnIndex {
 public:
  /// Throws unsupported if the metric cannot take a feature's type or the training values, invalid_argument for bad
  /// weights or parameters, invalid_data for a table without rows or features. Cost: one pass over the table; 8 bytes a
  /// value of the features (stope/knn_arrays.hpp says what is shared).
  static KnnIndex fit(const Table& train, const KnnOptions& options = {}, const RunOptions& run = {});
  /// Fits the rows of an array; the features are numeric and named x0, x1, ... A float64 array in C order that has an
  /// owner is used where it lies (stope/knn_arrays.hpp).
  static KnnIndex fit(const ArrayView& train, const KnnOptions& options = {}, const RunOptions& run = {});

  std::int64_t n_samples() const;
  std::int64_t n_features() const;
  /// Makes the training table again, value for value. Features come out of the index's rows, 8 bytes a value (4 for
  /// float32 columns and codes); an array's rows are float64. Other columns are shared. The index keeps no copy.
  Table train() const;

  /// The rows that the index compares: n_samples x n_features float64, row-major, without features of weight 0. They
  /// live as long as a copy of the index. Null where it encodes them in every search, for want of memory.
  const double* rows() const;
  /// Whether none of the values that it compares is missing or infinite: the fit has seen them all.
  bool all_finite() const;

  /// Finds the k nearest training rows of every query row: a Table, an ArrayView, or QueryRows::of_training().
  /// O(queries x rows x features). Throws invalid_argument for k outside 1..n, invalid_data for a missing or mistyped
  /// attribute, out_of_memory for lists beyond the memory limit.
  Neighbors kneighbors(const QueryRows& queries, const SearchOptions& search = {}, const RunOptions& run = {}) const;
  /// As above, but hands the lists to `sink` block by block, so that the result need not fit in memory.
  SearchReport kneighbors(const QueryRows& queries, const SearchOptions& search, const RunOptions& run,
                          const NeighborSink& sink) const;
  /// As above, but writes the lists to the caller's memory, on the host or in a GPU (stope/knn_arrays.hpp).
  SearchReport kneighbors(const QueryRows& queries, const SearchOptions& search, const RunOptions& run,
                          const NeighborArrays& out) const;

  /// Finds all training rows with distance <= radius, ordered by (distance, row). `search.n_neighbors` is not used.
  Neighbors radius_neighbors(const QueryRows& queries, double radius, const SearchOptions& search = {},
                             const RunOptions& run = {}, SearchReport* report = nullptr) const;
  SearchReport radius_neighbors(const QueryRows& queries, double radius, const SearchOptions& search,
                                const RunOptions& run, const NeighborSink& sink) const;

  /// Frees what searches have left in the memory of GPUs for later ones, which will make it again. Searches under way
  /// keep theirs until they end.
  void release_devices() const;

  const knn::Fitted& fitted() const;

 private:
  std::shared_ptr<const knn::Fitted> fitted_;
};

/// k-NN classification. The training table needs a nominal column of role label; a column of role weight multiplies
/// votes (ignored under Compat::rapidminer). Labels and weights are copied.
class KnnClassifier {
 public:
  static KnnClassifier fit(const Table& train, const KnnOptions& options = {}, const RunOptions& run = {});
  /// Fits labels to an index that is there: several predictors share its rows, and what searches keep of them on CPU
  /// and GPUs. The label has a value per training row; so have the weights, unless they are empty (all 1). O(rows).
  static KnnClassifier fit(const KnnIndex& index, const Column& label, std::span<const double> sample_weights = {});
  /// Predicts for the rows of a Table or an ArrayView, as KnnIndex::kneighbors takes them.
  Classification predict(const QueryRows& test, const VoteOptions& vote = {}, const RunOptions& run = {}) const;
  /// As above, but hands the predictions to `sink` block by block, so that the result need not fit in memory.
  SearchReport predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                       const ClassificationSink& sink) const;
  /// As above, but writes the predictions to the caller's memory, on the host or in a GPU (stope/knn_arrays.hpp).
  SearchReport predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                       const PredictionArrays& out) const;
  /// Predicts for several k with one search. Results are in the order of `ks`; vote.n_neighbors is not used.
  std::vector<Classification> predict_each(const QueryRows& test, const std::vector<std::int64_t>& ks,
                                           const VoteOptions& vote, const RunOptions& run,
                                           SearchReport* report = nullptr) const;
  /// The values of the label, which codes refer to.
  const Values& classes() const { return classes_; }
  const KnnIndex& index() const { return index_; }
  const knn::HeldVoters& voters() const { return *voters_; }

 private:
  KnnIndex index_;
  Values classes_;
  std::shared_ptr<const knn::HeldVoters> voters_;
};

/// k-NN regression. The training table needs a numeric column of role label.
class KnnRegressor {
 public:
  static KnnRegressor fit(const Table& train, const KnnOptions& options = {}, const RunOptions& run = {});
  /// Fits labels to an index that is there, as KnnClassifier does.
  static KnnRegressor fit(const KnnIndex& index, const Column& label, std::span<const double> sample_weights = {});
  std::vector<double> predict(const QueryRows& test, const VoteOptions& vote = {}, const RunOptions& run = {}) const;
  /// As above, but hands the predictions to `sink` block by block.
  SearchReport predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                       const RegressionSink& sink) const;
  /// As above, but writes the means to the caller's memory, on the host or in a GPU (stope/knn_arrays.hpp).
  SearchReport predict(const QueryRows& test, const VoteOptions& vote, const RunOptions& run,
                       const PredictionArrays& out) const;
  std::vector<std::vector<double>> predict_each(const QueryRows& test, const std::vector<std::int64_t>& ks,
                                                const VoteOptions& vote, const RunOptions& run,
                                                SearchReport* report = nullptr) const;
  const KnnIndex& index() const { return index_; }
  const knn::HeldVoters& voters() const { return *voters_; }

 private:
  KnnIndex index_;
  std::shared_ptr<const knn::HeldVoters> voters_;
};

}  // namespace stope
#pragma GCC visibility pop
