// One tile of queries against a range of training blocks: scan, evaluate what is left, tighten, go on.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/filter/filter_cache.hpp"
#include "knn/lists/collector.hpp"

namespace stope::knn {

/// What a search did, added up over its tiles.
struct FilterCounts {
  std::int64_t scanned = 0;    ///< pairs whose images were compared
  std::int64_t skipped = 0;    ///< pairs that a box ruled out
  std::int64_t listed = 0;     ///< pairs the filter could not rule out at first
  std::int64_t evaluated = 0;  ///< pairs whose distance was computed

  void add(const FilterCounts& other) {
    scanned += other.scanned;
    skipped += other.skipped;
    listed += other.listed;
    evaluated += other.evaluated;
  }
};

/// What all tiles of a search share.
struct TileContext {
  const Fitted& fitted;
  const FilterIndex& index;
  const TrainPart& part;
  const ScanFunction* scans;  ///< per ScanKind; null where there is none
  const QueryBlock& block;
  const RowImages& queries;
  const Selection& selection;
  const Lists& lists;  ///< what earlier parts left
  const CancelToken& cancel;

  bool has(ScanKind kind) const { return scans[static_cast<std::size_t>(kind)] != nullptr; }
};

/// The work space of one worker.
class TileSearch {
 public:
  explicit TileSearch(const FilterIndex& index);

  /// Searches `n` <= kScanTileQueries queries of the block, numbered by `which`, in blocks [begin, end) of the index;
  /// the lists of query i, begun by earlier parts if `begin` is 0, go to collectors()[i].
  void run(const TileContext& context, const std::int64_t* which, std::int64_t n, std::int64_t begin, std::int64_t end);
  std::vector<Collector>& collectors() { return collectors_; }
  const FilterCounts& counts() const { return counts_; }

  /// Bytes of one work space.
  static std::int64_t bytes(std::int64_t n_columns);

 private:
  void load(const TileContext& context, const std::int64_t* which, std::int64_t n, bool restore);
  void visit_in_order(const TileContext& context, std::int64_t begin, std::int64_t end);
  void visit_sampled(const TileContext& context, std::int64_t begin, std::int64_t end);
  void visit_nearest(const TileContext& context);
  void visit_within_reach(const TileContext& context, std::int64_t size);
  void list_near_boxes(const TrainImages& images, float reach);
  void step(const TileContext& context, const std::int64_t* blocks, std::int64_t n);
  void scan_blocks(const TileContext& context, const std::int64_t* blocks, std::int64_t n);
  void evaluate_blocks(const TileContext& context, const std::int64_t* blocks, std::int64_t n);
  void settle(const TileContext& context, std::int64_t i);
  void tighten(const TileContext& context, std::int64_t i);
  void add_product_cut(const TileContext& context, std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const;
  void add_byte_cut(const ByteImages& train, std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const;
  void evaluate(const TileContext& context, std::int64_t i, std::int64_t first, std::int64_t n);
  float box_distance(const float* low, const float* high, float reach) const;
  float middle_distance(const float* low, const float* high) const;
  float reach() const;

  const FilterForm* form_ = nullptr;
  ScanKind kind_ = ScanKind::differences;  // of this tile
  std::int64_t n_columns_;
  std::int64_t n_ = 0;  // queries in the tile
  const std::int64_t* which_ = nullptr;
  Buffer<float> images_;        // row-major
  Buffer<std::uint8_t> bytes_;  // the queries' byte images
  std::vector<ByteImage> byte_images_;
  std::vector<double> norms_;           // squares of the images
  Buffer<float> by_column_;             // [column * kScanTileQueries + query]
  Buffer<float> tile_low_, tile_high_;  // the box around the tile's queries
  Buffer<Hit> hits_;
  std::vector<Cut> cuts_;
  Buffer<float> box_cuts_;
  std::vector<std::int32_t> n_hits_;
  std::vector<Collector> collectors_;
  std::vector<std::int64_t> rows_;
  std::vector<double> distances_;
  std::vector<std::int64_t> blocks_;  // of the step being put together
  const std::int64_t* blocks_in_step_ = nullptr;
  std::vector<std::pair<float, std::int64_t>> near_;  // distance of a box, its block
  std::int64_t n_visited_ = 0;
  std::int64_t pause_ = 0, steps_without_filter_ = 0;
  FilterCounts counts_;
  const ImageMap* map_ = nullptr;
};

}  // namespace stope::knn
