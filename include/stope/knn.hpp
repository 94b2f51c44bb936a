// Exact nearest neighbours over mixed tables: search, classification, regression, pairwise distances.
// Neighbours are the k smallest by (distance, row); NaN distances come last (docs/NUMERICS.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stope/compat.hpp"
#include "stope/knn_report.hpp"
#include "stope/metric.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

/// What an index fixes when it is fitted.
struct KnnOptions {
  Metric metric = {};
  std::vector<double> feature_weights = {};  ///< one per feature, >= 0, finite; 0 leaves the feature out; empty = all 1
  Compat compat = Compat::none;
};

/// Which neighbours are wanted.
struct SearchOptions {
  std::int64_t n_neighbors = 5;    ///< 1 to the number of training rows (any k >= 1 under Compat::rapidminer)
  bool exclude_self = false;       ///< query row i is training row i and never its own neighbour (leave-one-out)
  std::string exclude_group = {};  ///< a column of both tables: rows with the same present value are no neighbours
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

namespace knn {
class Fitted;  // the encoded training table (src/knn/fitted.hpp)
}
struct DeviceMatrix;  // stope/device_arrays.hpp
struct DeviceNeighbors;

/// A fitted index: the encoded features of a training table. Copies share the data. Searching is const and safe from
/// several threads at once.
class KnnIndex {
 public:
  /// Throws unsupported if the metric cannot take a feature's type or the training values, invalid_argument for bad
  /// weights or parameters, invalid_file for a table without rows or features. Cost: one pass over the table.
  static KnnIndex fit(const Table& train, const KnnOptions& options = {}, const RunOptions& run = {});

  /// Fits rows in a GPU's memory; the features are named x0, x1, ... (stope/device_arrays.hpp).
  static KnnIndex fit(const DeviceMatrix& train, const KnnOptions& options = {}, const RunOptions& run = {});

  std::int64_t n_samples() const;
  std::int64_t n_features() const;

  /// Finds the k nearest training rows of every row of `queries`. Attributes are matched by name, nominal values by the
  /// names of values. O(queries x rows x features). Throws invalid_argument for k outside 1..n, invalid_file for a
  /// missing or mistyped attribute.
  Neighbors kneighbors(const Table& queries, const SearchOptions& search = {}, const RunOptions& run = {}) const;
  /// As above, but hands the lists to `sink` block by block, so that the result need not fit in memory.
  SearchReport kneighbors(const Table& queries, const SearchOptions& search, const RunOptions& run,
                          const NeighborSink& sink) const;

  /// Searches for rows in a GPU's memory, and writes the lists to that memory, too (stope/device_arrays.hpp). The
  /// columns are in the order of the training table's features, which are numeric. Groups cannot be excluded, and k is
  /// at most the number of rows to choose from.
  SearchReport kneighbors(const DeviceMatrix& queries, const SearchOptions& search, const RunOptions& run,
                          const DeviceNeighbors& out) const;

  /// Finds all training rows with distance <= radius, ordered by (distance, row). `search.n_neighbors` is not used.
  SearchReport radius_neighbors(const Table& queries, double radius, const SearchOptions& search, const RunOptions& run,
                                const NeighborSink& sink) const;

  const knn::Fitted& fitted() const { return *fitted_; }

 private:
  std::shared_ptr<const knn::Fitted> fitted_;
};

/// How neighbours vote. `uniform`: each has one vote. `distance`: each weighs 1/d, and neighbours at distance zero
/// share all the weight; a negative distance is an error. Under Compat::rapidminer this is RapidMiner's weighted vote.
enum class VoteWeights { uniform, distance };

struct VoteOptions {
  std::int64_t n_neighbors = 5;
  VoteWeights weights = VoteWeights::uniform;
  bool exclude_self = false;
  std::string exclude_group = {};
};

/// Predicted classes. Ties go to the first class in the order of the label's values.
struct Classification {
  std::vector<std::string> classes;
  std::vector<std::int32_t> codes;  ///< one per row: an index into `classes`, or kMissingCode
  std::vector<double> confidences;  ///< rows x classes, row-major
};

/// Receives the predictions of consecutive rows from row `first_row` on, in row order.
using ClassificationSink = std::function<void(std::int64_t first_row, const Classification& block)>;
using RegressionSink = std::function<void(std::int64_t first_row, std::span<const double> block)>;

/// k-NN classification. The training table needs a nominal column of role label; a column of role weight multiplies
/// votes (ignored under Compat::rapidminer).
class KnnClassifier {
 public:
  static KnnClassifier fit(const Table& train, const KnnOptions& options = {}, const RunOptions& run = {});
  Classification predict(const Table& test, const VoteOptions& vote = {}, const RunOptions& run = {}) const;
  /// As above, but hands the predictions to `sink` block by block, so that the result need not fit in memory.
  SearchReport predict(const Table& test, const VoteOptions& vote, const RunOptions& run,
                       const ClassificationSink& sink) const;
  /// Predicts for several k with one search. Results are in the order of `ks`; vote.n_neighbors is not used.
  std::vector<Classification> predict_each(const Table& test, const std::vector<std::int64_t>& ks,
                                           const VoteOptions& vote, const RunOptions& run,
                                           SearchReport* report = nullptr) const;
  const KnnIndex& index() const { return index_; }

 private:
  KnnIndex index_;
  Column label_;
  std::vector<double> sample_weights_;
};

/// k-NN regression. The training table needs a numeric column of role label.
class KnnRegressor {
 public:
  static KnnRegressor fit(const Table& train, const KnnOptions& options = {}, const RunOptions& run = {});
  std::vector<double> predict(const Table& test, const VoteOptions& vote = {}, const RunOptions& run = {}) const;
  /// As above, but hands the predictions to `sink` block by block.
  SearchReport predict(const Table& test, const VoteOptions& vote, const RunOptions& run,
                       const RegressionSink& sink) const;
  std::vector<std::vector<double>> predict_each(const Table& test, const std::vector<std::int64_t>& ks,
                                                const VoteOptions& vote, const RunOptions& run,
                                                SearchReport* report = nullptr) const;
  const KnnIndex& index() const { return index_; }

 private:
  KnnIndex index_;
  std::vector<double> target_;
  std::vector<double> sample_weights_;
};

enum class SearchFor { nearest, farthest };

struct PairwiseOptions {
  KnnOptions knn;
  std::int64_t n_neighbors = 0;  ///< 0 = every pair
  SearchFor search_for = SearchFor::nearest;
  bool similarities = false;  ///< report similarities (-distance, or the measure's own)
};

/// Consecutive rows of the matrix, from `first_request` on, each with all `n_reference` values, row-major.
struct PairwiseBlock {
  std::int64_t first_request = 0;
  std::int64_t n_requests = 0;
  std::int64_t n_reference = 0;
  const double* values = nullptr;
};

/// Computes every pair and hands the matrix to `sink` block by block. The request is the measure's first argument.
SearchReport pairwise_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                const RunOptions& run, const std::function<void(const PairwiseBlock&)>& sink);

/// One pair of a cross-distance table; rows count from 0.
struct CrossDistance {
  std::int64_t request;
  std::int64_t document;
  double distance;
};

/// Every pair, ordered by request; if n_neighbors > 0, only the k nearest or farthest of each request, by (distance,
/// row). Under Compat::rapidminer this is RapidMiner's Cross Distances: the whole table, sorted by distance.
std::vector<CrossDistance> cross_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                           const RunOptions& run = {}, SearchReport* report = nullptr);

}  // namespace stope
