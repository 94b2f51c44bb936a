// The orders in which the queries of a tile visit blocks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "knn/filter/tile_search.hpp"

namespace stope::knn {
namespace {

// Blocks between two tightenings: few at first, when thresholds fall fast.
constexpr std::int64_t kFirstStep = 8;
// The first step of a sample: so many rows for each neighbour, at most kFirstStep blocks. It lists all of its rows, for
// there is no threshold yet. 1,000 queries, k = 5, uniform, one thread: 8.3 -> 5.0 ms at 1,000 x 50 and 14.5 -> 11.1 ms
// at 10,000 x 50, against kFirstStep. k = 100, 20,000 x 50: 38.6 -> 40.3 ms; with one block it would be 46.3 ms.
constexpr std::int64_t kFirstRowsPerNeighbor = 8;
// The first step where blocks hold near rows: the very first blocks give good thresholds.
constexpr std::int64_t kFirstNear = 1;
// The reach of a query, in squares, as a guess for the next: half of its neighbours may be in another block.
constexpr float kReachOfNext = 2.0F;
constexpr float kNothingSeen = -kNoLimit;
constexpr std::int64_t kAnyRow = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostSampled = 512;  // neighbours that the first step of a sample has rows for

}  // namespace

// Visits blocks in row order, as RapidMiner's heap must see the rows.
void TileSearch::visit_in_order(std::int64_t begin, std::int64_t end) {
  std::int64_t size = kFirstStep;
  for (std::int64_t block = begin; block < end; size = std::min(2 * size, kMostBlocks)) {
    blocks_.clear();
    for (; block < end && static_cast<std::int64_t>(blocks_.size()) < size; ++block) blocks_.push_back(block);
    step(blocks_.data(), static_cast<std::int64_t>(blocks_.size()));
  }
}

// Visits some blocks from all over the range first. In a table sorted by class or time, the first rows would give
// thresholds that every later row beats.
void TileSearch::visit_sampled(std::int64_t begin, std::int64_t end) {
  const std::int64_t n = end - begin;
  const std::int64_t stride = std::max<std::int64_t>(1, n / kMostBlocks);
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(n));
  for (std::int64_t block = begin; block < end; block += stride) order.push_back(block);
  for (std::int64_t sampled = begin; sampled < end; sampled += stride) {
    for (std::int64_t block = sampled + 1; block < std::min(sampled + stride, end); ++block) order.push_back(block);
  }
  const Selection& selection = context_->selection;
  const std::int64_t k =
      selection.kind == Selection::Kind::nearest ? std::min(selection.ks.front(), kMostSampled) : kMostSampled;
  std::int64_t size = std::clamp<std::int64_t>(kFirstRowsPerNeighbor * k / kScanBlockRows, 1, kFirstStep);
  const std::int64_t most = capacity_ / kScanBlockRows;
  for (std::int64_t at = 0; at < n; at += size, size = std::min(2 * size, most)) {
    size = std::min(size, n - at);
    step(order.data() + at, size);
  }
}

float TileSearch::reach() const {
  float most = 0.0F;
  for (std::int64_t i = 0; i < n_; ++i) most = std::max(most, box_cuts_[i]);
  return most;
}

void TileSearch::describe_boxes() {
  const ImageMap& map = *context_->index.map;
  box_scan_ = {};
  box_scan_.n_numeric = map.n_numeric();
  box_scan_.n_equality = map.n_columns() - map.n_numeric();
  box_scan_.mismatch = map.mismatch();
}

// Computes the sums between a point or box and the boxes of a group.
void TileSearch::compare_boxes(const float* from, const float* to, int level, std::int64_t group, float* sums) {
  const BoxLevel& boxes = context_->index.images->boxes.level(level);
  box_scan_.from = from;
  box_scan_.to = to;
  box_scan_.low = boxes.low(group);
  box_scan_.high = boxes.high(group);
  box_scan_.sums = sums;
  context_->boxes.compare(box_scan_);
  ++counts_.opened;
}

// Returns a group of blocks near a point, and the sums of its boxes.
std::int64_t TileSearch::group_near(const float* point, float* sums) {
  const BoxTree& tree = context_->index.images->boxes;
  std::int64_t group = 0;
  for (int level = tree.n_levels() - 1;; --level) {
    compare_boxes(point, point, level, group, sums);
    if (level == 0) return group;
    const auto n = std::popcount(tree.level(level).boxes_of(group));
    group = group * kBoxFan + (std::min_element(sums, sums + n) - sums);
  }
}

// Lists the blocks below a group whose boxes are within reach of the tile.
void TileSearch::list_near_boxes(int level, std::int64_t group, float reach) {
  alignas(64) float sums[kBoxFan];
  compare_boxes(queries_.box().low(), queries_.box().high(), level, group, sums);
  std::uint32_t boxes = context_->index.images->boxes.level(level).boxes_of(group);
  for (; boxes != 0; boxes &= boxes - 1) {
    const int box = std::countr_zero(boxes);
    if (sums[box] > reach) continue;
    const std::int64_t number = group * kBoxFan + box;
    level == 0 ? static_cast<void>(near_.emplace_back(sums[box], number)) : list_near_boxes(level - 1, number, reach);
  }
}

// Visits a few blocks around the tile's middle first, then whatever is still within reach of the thresholds they gave.
void TileSearch::visit_nearest() {
  const TrainImages& images = *context_->index.images;
  alignas(64) float sums[kBoxFan];
  const std::int64_t first = group_near(queries_.box().middle(), sums) * kBoxFan;
  const std::int64_t end = std::min<std::int64_t>(first + kBoxFan, images.n_blocks);
  near_.clear();
  for (std::int64_t block = first; block < end; ++block) near_.emplace_back(sums[block - first], block);
  std::sort(near_.begin(), near_.end());
  for (auto& [distance, block] : near_) distance = 0.0F;
  visit_within_reach(kFirstNear);

  near_.clear();
  list_near_boxes(images.boxes.n_levels() - 1, 0, reach());
  const auto done = std::remove_if(near_.begin(), near_.end(),
                                   [&](const auto& box) { return box.second >= first && box.second < end; });
  near_.erase(done, near_.end());
  // Sorting a long list costs more than it saves. Only its nearest part then comes first, in no order.
  constexpr std::size_t kMostSorted = 1024;
  const auto part = near_.begin() + static_cast<std::ptrdiff_t>(std::min(near_.size(), kMostSorted));
  if (part != near_.end()) std::nth_element(near_.begin(), part, near_.end());
  std::sort(near_.begin(), part);
  visit_within_reach(kNearStep);
  counts_.skipped += n_ * kScanBlockRows * (images.n_blocks - (end - first) - n_visited_);
}

// Visits the blocks of near_ in their order, a few at a time. Blocks that have fallen out of reach are left out.
void TileSearch::visit_within_reach(std::int64_t size) {
  n_visited_ = 0;
  for (std::size_t at = 0; at < near_.size(); size = std::min(2 * size, kNearStep)) {
    blocks_.clear();
    const float now = reach();
    for (; at < near_.size() && static_cast<std::int64_t>(blocks_.size()) < size; ++at) {
      if (near_[at].first <= now) blocks_.push_back(near_[at].second);
    }
    n_visited_ += static_cast<std::int64_t>(blocks_.size());
    step(blocks_.data(), static_cast<std::int64_t>(blocks_.size()));
  }
}

// Every query goes its own way through the boxes. Near queries follow each other: they find boxes and blocks in the
// cache.
void TileSearch::visit_one_by_one() {
  open_.resize(static_cast<std::size_t>(context_->index.images->boxes.n_levels()));
  const bool squares = context_->index.map->form().term == Term::square;
  likely_reach_ = kNoLimit;
  likely_sum_ = std::numeric_limits<double>::infinity();
  Scan scan{};
  if (!context_->with_values) describe(scan, 0, 1);
  for (std::int64_t i = 0; i < n_; ++i) {
    context_->cancel.check();
    if (context_->with_values) {
      begin_values(i);
      visit_tree(i, nullptr);
      end_values(i);
    } else {
      queries_.describe(scan, i, 1);
      scan.cuts = &cuts_[static_cast<std::size_t>(i)];
      visit_tree(i, &scan);
    }
    likely_reach_ = box_cuts_[i] * (squares ? kReachOfNext : std::sqrt(kReachOfNext));
    if (collectors_[static_cast<std::size_t>(i)].too_long()) return;
  }
}

// Visits the blocks within reach of a query. Of the boxes that lie in an open box, the nearest is opened first, and all
// that lie in it come before the next. So the first blocks are near, and their distances keep the others closed. Where
// k rows are equal to the query, so do their numbers: equal rows stand in their order, and there may be many of them.
// Without a scan, blocks have values.
void TileSearch::visit_tree(std::int64_t i, Scan* scan) {
  const BoxTree& tree = context_->index.images->boxes;
  const float* const point = queries_.image(i);
  const std::int64_t visited = counts_.scanned;
  const int top = tree.n_levels() - 1;
  const auto open = [&](int level, std::int64_t number) {
    OpenGroup& group = open_[static_cast<std::size_t>(level)];
    compare_boxes(point, point, level, number, group.sums);
    group.number = number;
    group.boxes = tree.level(level).boxes_of(number);
  };
  open(top, 0);
  for (int level = top; level <= top;) {
    OpenGroup& group = open_[static_cast<std::size_t>(level)];
    const int nearest = close_far_boxes(i, level);
    const std::int64_t first_box = group.number * kBoxFan;
    if (group.boxes == 0) {
      ++level;
    } else if (level > 0) {
      group.boxes &= ~(std::uint32_t{1} << nearest);
      open(--level, first_box + nearest);
    } else if (scan == nullptr ? lacks_candidates(i) : collectors_[static_cast<std::size_t>(i)].lacking() > 0) {
      group.boxes &= ~(std::uint32_t{1} << nearest);
      blocks_.assign(1, first_box + nearest);
      scan == nullptr ? visit_values(i) : visit_block_without_threshold(i, *scan);
    } else {
      // All that the group still has within reach are compared at once.
      blocks_.clear();
      for (; group.boxes != 0; group.boxes &= group.boxes - 1) {
        blocks_.push_back(first_box + std::countr_zero(group.boxes));
      }
      scan == nullptr ? visit_values(i) : visit_blocks(i, *scan, kNothingSeen);
    }
  }
  counts_.skipped += kScanBlockRows * context_->index.images->n_blocks - (counts_.scanned - visited);
}

// Forgets the boxes of an open group that cannot have a neighbour, and returns the nearest of the others.
int TileSearch::close_far_boxes(std::int64_t i, int level) {
  OpenGroup& group = open_[static_cast<std::size_t>(level)];
  group.boxes &= context_->boxes.within(group.sums, box_cuts_[i]);
  if (const std::int64_t last_row = last_row_of(i); last_row != kAnyRow) {
    const BoxLevel& boxes_of_level = context_->index.images->boxes.level(level);
    for (std::uint32_t boxes = group.boxes; boxes != 0; boxes &= boxes - 1) {
      const std::uint32_t lowest = boxes & -boxes;
      const std::int64_t box = group.number * kBoxFan + std::countr_zero(boxes);
      if (boxes_of_level.first_row(box) > last_row) group.boxes &= ~lowest;
    }
  }
  // Without a threshold all are left; the nearest is among those within the likely reach, if there are any.
  const std::uint32_t likely = group.boxes & context_->boxes.within(group.sums, likely_reach_);
  std::uint32_t boxes = likely != 0 ? likely : group.boxes;
  int nearest = boxes == 0 ? 0 : std::countr_zero(boxes);
  for (; boxes != 0; boxes &= boxes - 1) {
    const int box = std::countr_zero(boxes);
    if (group.sums[box] < group.sums[nearest]) nearest = box;
  }
  return nearest;
}

// Returns the largest number of a row that can still be a neighbour of a query. The half of Finish::half is a
// difference, which rounding may take below 0, and an equal row is then not the nearest. A negated sum has no least.
std::int64_t TileSearch::last_row_of(std::int64_t i) const {
  const std::int64_t last = collectors_[static_cast<std::size_t>(i)].last_row();
  const Finish finish = context_->index.map->form().finish;
  const bool least_is_zero = finish != Finish::half && finish != Finish::negated;
  return least_is_zero && last != kAnyRow ? last - context_->part.first : kAnyRow;
}

// Without a threshold, every row of a block would be listed. The query before is near: a little more than its reach
// lists few rows, and most often enough for a threshold. Where that turns out to be farther, the rest of the block is
// looked at after all.
void TileSearch::visit_block_without_threshold(std::int64_t i, Scan& scan) {
  const bool is_sum = queries_.kind() == ScanKind::differences && context_->index.map->form().divisor == Divisor::none;
  if (!is_sum || !(likely_reach_ < kNoLimit)) return visit_blocks(i, scan, kNothingSeen);
  Cut& cut = cuts_[static_cast<std::size_t>(i)];
  cut.beta = likely_reach_;
  visit_blocks(i, scan, kNothingSeen);
  if (cut.beta == likely_reach_) tighten(i);  // no distance was computed
  if (cut.beta > likely_reach_) visit_blocks(i, scan, likely_reach_);
}

// Compares a query with the blocks of blocks_. Rows whose sums are at most `seen` have been looked at before.
void TileSearch::visit_blocks(std::int64_t i, Scan& scan, float seen) {
  const TrainImages& images = *context_->index.images;
  const auto n = std::ssize(blocks_);
  std::int64_t skipped = 0;
  scan.visit = blocks_.data();
  scan.n_visit = n;
  scan.n_skipped = &skipped;
  n_hits_[0] = 0;
  context_->scans[static_cast<std::size_t>(queries_.kind())](scan);
  std::int64_t n_hits = n_hits_[0];
  if (seen == kNothingSeen) {
    counts_.scanned += n * kScanBlockRows;
  } else {
    const auto is_seen = [&](const Hit& hit) { return !(hit.score > seen); };
    n_hits = std::remove_if(hits_.data(), hits_.data() + n_hits, is_seen) - hits_.data();
  }
  if (context_->selection.excludes_some() || (blocks_.back() + 1) * kScanBlockRows > images.n_rows) {
    return take_hits(i, blocks_.data(), hits_.data(), n_hits);
  }
  counts_.listed += n_hits;
  if (n_hits > 0) evaluate_hits(i, blocks_.data(), hits_.data(), n_hits);
}

}  // namespace stope::knn
