// Searches one tile of queries in a range of training blocks. It scans, evaluates what is left, tightens the cuts, and
// goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "knn/engine/searcher.hpp"
#include "knn/filter/near_sums.hpp"
#include "knn/filter/tile_queries.hpp"
#include "knn/lists/collector.hpp"

namespace stope::knn {

/// The work of a search, added up over its tiles.
struct FilterCounts {
  std::int64_t scanned = 0;    ///< pairs whose images were compared
  std::int64_t skipped = 0;    ///< pairs that a box ruled out
  std::int64_t listed = 0;     ///< pairs that the filter could not rule out at first
  std::int64_t evaluated = 0;  ///< pairs whose distance was computed
  std::int64_t opened = 0;     ///< groups of boxes that were compared with a query or a tile

  void add(const FilterCounts& other) {
    scanned += other.scanned;
    skipped += other.skipped;
    listed += other.listed;
    evaluated += other.evaluated;
    opened += other.opened;
  }
};

/// What all tiles of a search share.
struct TileContext {
  const Fitted& fitted;
  const FilterIndex& index;
  const TrainPart& part;
  const ScanFunction* scans;  ///< per ScanKind; null where there is none
  BoxFunctions boxes;
  ValueFunctions values;
  bool with_values;  ///< whether queries look at blocks of values instead of images
  Visit visit;
  const QueryBlock& block;
  const RowImages& queries;
  const Selection& selection;
  const Lists& lists;  ///< what earlier parts left
  const CancelToken& cancel;
  /// Per query, the least threshold of all segments: k rows are known to be as near. Null: there is one segment.
  std::atomic<double>* thresholds;

  bool has(ScanKind kind) const { return scans[static_cast<std::size_t>(kind)] != nullptr; }
};

/// The work space of one worker.
class TileSearch {
 public:
  /// Makes room for n <= kScanTileQueries queries.
  TileSearch(const FilterIndex& index, ValueFunctions values, std::int64_t n);
  /// Whether it serves n queries of another search by these functions, in blocks of values of the same table.
  bool serves(ValueFunctions values, std::int64_t n) const {
    return hits_.empty() && near_sums_.uses(values) && std::ssize(cuts_) >= n;
  }
  void forget_counts() { counts_ = {}; }

  /// Searches `n` queries of the block, numbered by `which`, in blocks [begin, end) of the index.
  /// The lists of query i go to collectors()[i]; they go on from earlier parts' lists if `begin` is 0.
  [[nodiscard]] PartEnd run(const TileContext& context, const std::int64_t* which, std::int64_t n, std::int64_t begin,
                            std::int64_t end);
  std::vector<Collector>& collectors() { return collectors_; }
  const FilterCounts& counts() const { return counts_; }

  /// Bytes of one work space.
  static std::int64_t bytes(std::int64_t n_columns);

  /// Most blocks between two tightenings: 64 blocks of hits are 2 MB a worker.
  static constexpr std::int64_t kMostBlocks = 64;
  /// The same where blocks hold near rows.
  static constexpr std::int64_t kNearStep = 8;

 private:
  // A group of boxes, the sums between them and a query, and a bit for each box that is still to be looked at.
  struct OpenGroup {
    alignas(64) float sums[kBoxFan];
    std::int64_t number;
    std::uint32_t boxes;
  };

  // tile_visits.cpp
  void visit_in_order(std::int64_t begin, std::int64_t end);
  void visit_sampled(std::int64_t begin, std::int64_t end);
  void describe_boxes();
  void compare_boxes(const float* from, const float* to, int level, std::int64_t group, float* sums);
  std::int64_t group_near(const float* point, float* sums);
  void list_near_boxes(int level, std::int64_t group, float reach);
  void visit_nearest();
  void visit_within_reach(std::int64_t size);
  void visit_one_by_one();
  void visit_tree(std::int64_t i, Scan* scan);
  std::int64_t last_row_of(std::int64_t i) const;
  int close_far_boxes(std::int64_t i, int level);
  void visit_block_without_threshold(std::int64_t i, Scan& scan);
  void visit_blocks(std::int64_t i, Scan& scan, float seen);
  float reach() const;

  // tile_values.cpp
  void begin_values(std::int64_t i);
  std::uint64_t nearest_sums(const double* sums, std::int64_t wanted, double& bound) const;
  double most_of_sum(std::int64_t i) const;
  bool lacks_candidates(std::int64_t i) const;
  void visit_values(std::int64_t i);
  void take_values(std::int64_t i, std::int64_t block, std::uint64_t near, const double* sums);
  void offer_row(std::int64_t i, std::int64_t row, double sum);
  void offer_sums(std::int64_t i);
  void end_values(std::int64_t i);

  // tile_search.cpp
  bool list_too_long() const;
  void step(const std::int64_t* blocks, std::int64_t n);
  void describe(Scan& scan, std::int64_t first, std::int64_t n);
  void scan_blocks(const std::int64_t* blocks, std::int64_t n);
  void take_hits(std::int64_t i, const std::int64_t* blocks, Hit* hits, std::int64_t n);
  void evaluate_blocks(const std::int64_t* blocks, std::int64_t n);
  void evaluate_hits(std::int64_t i, const std::int64_t* blocks, Hit* hits, std::int64_t n);
  void evaluate(std::int64_t i, const std::int64_t* blocks, const Hit* hits, std::int64_t n);
  double threshold(std::int64_t i);
  void tighten(std::int64_t i);

  // State of one run().
  const TileContext* context_ = nullptr;
  const std::int64_t* which_ = nullptr;
  std::int64_t n_ = 0;                       // queries in the tile
  std::int64_t pause_ = 0, unfiltered_ = 0;  // steps without a filter: after the next look, and left

  TileQueries queries_;
  std::vector<Cut> cuts_;  // per query
  Buffer<float> box_cuts_;
  std::vector<Collector> collectors_;
  std::int64_t capacity_;  // hits of a query between two thresholds
  Buffer<Hit> hits_;       // once a scan needs them: queries that look at blocks of values have none
  std::vector<std::int32_t> n_hits_;
  std::vector<std::int64_t> rows_;  // rows being evaluated, and their distances
  std::vector<double> distances_;
  std::vector<std::int64_t> blocks_;                  // blocks of the step being put together
  std::vector<std::pair<float, std::int64_t>> near_;  // distance of a box, its block
  BoxScan box_scan_{};
  float likely_reach_ = kNoLimit;  // of the next query, from the one before
  // Where blocks have values:
  double likely_sum_ = 0.0;    // the sum of squares for that reach
  double bound_of_cut_ = 0.0;  // the sum that the query's cut stands for
  bool as_sums_ = false;       // whether the candidates of the query are in near_sums_, not in its collector
  NearSums near_sums_;
  std::vector<Neighbor> nearest_;
  std::vector<OpenGroup> open_;  // per level of the boxes: the group that is being looked at
  std::int64_t n_visited_ = 0;
  FilterCounts counts_;
};

}  // namespace stope::knn
