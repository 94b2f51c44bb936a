// Decides when a table that is searched on GPUs is put into clusters, and when it is taken out again: rent or buy
// (docs/adr/0063-tiles-left-out.md, "The planner"). It counts pairs and reads no clock. The answers never depend on it.
#pragma once

#include <cstdint>
#include <string>

namespace stope::knn {

/// How many pairs a table's searches must have had before a step.
struct ClusterPrices {
  std::int64_t look;   ///< a look at a sample costs 2 % of searches with so many pairs,
  std::int64_t make;   ///< and so does making clusters
  std::int64_t judge;  ///< so many pairs in clusters show whether clusters help
};

/// The prices for a table of so many rows whose images have so many columns.
ClusterPrices cluster_prices(std::int64_t n_rows, std::int64_t image_width);

/// The plan of one table. One thread at a time may use it.
class ClusterPlan {
 public:
  enum class Step { search, look, make };

  explicit ClusterPlan(ClusterPrices prices) : prices_(prices) {}

  /// Counts the pairs of a search that could leave tiles out. Call it when the search begins: a search that is large
  /// enough pays for its own clusters.
  void count(std::int64_t n_pairs);
  /// What is to be done before that search. After a step, ask again.
  Step next() const;
  /// The look was taken: whether a sample has clusters.
  void looked(bool found);
  /// Whether the GPUs made the clusters.
  void tried(bool made);
  /// There is no memory for the next step now. It waits until searches have paid twice as much.
  void put_off();
  /// Says whether searches in clusters are to go on, by the pairs that they compared and left out so far. After false
  /// the table has no clusters any more.
  bool pays(std::int64_t scanned, std::int64_t skipped);

  bool in_clusters() const { return stage_ == Stage::in_clusters; }
  /// One clause for --explain: what is scanned, and why.
  std::string reason() const;

 private:
  enum class Stage { unseen, found, in_clusters, scattered, impossible, useless };

  ClusterPrices prices_;
  std::int64_t paid_ = 0;
  Stage stage_ = Stage::unseen;
  bool no_room_ = false;  // the next step was put off
};

}  // namespace stope::knn
