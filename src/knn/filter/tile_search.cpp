#include "knn/filter/tile_search.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

// Blocks between two tightenings. They are few at first, when thresholds fall fast; 64 blocks of hits are 2 MB a
// worker.
constexpr std::int64_t kFirstStep = 8;
constexpr std::int64_t kMostBlocks = 64;
// The first step of a sample: so many rows for each neighbour, at most kFirstStep blocks. It lists all of its rows, for
// there is no threshold yet. 1,000 queries, k = 5, uniform, one thread: 8.3 -> 5.0 ms at 1,000 x 50 and 14.5 -> 11.1 ms
// at 10,000 x 50, against kFirstStep. k = 100, 20,000 x 50: 38.6 -> 40.3 ms; with one block it would be 46.3 ms.
constexpr std::int64_t kFirstRowsPerNeighbor = 8;
// The first step where blocks hold near rows: the very first blocks give good thresholds.
constexpr std::int64_t kFirstNear = 1;
constexpr std::int64_t kNearStep = 8;
// One query by itself has room for more. It then computes few distances between two thresholds of one table.
constexpr std::int64_t kMostLoneBlocks = 512;
constexpr std::int64_t most_blocks(std::int64_t n_queries) {
  return n_queries == 1 ? kMostLoneBlocks : kMostBlocks;
}
// Distances evaluated between two looks at the threshold, doubled each time.
constexpr std::int64_t kFirstBatch = 16;
constexpr std::int64_t kMostRows = 512;  // rows evaluated at once
constexpr std::int64_t kDoublesPerLine = 8, kMostAhead = 64;
constexpr std::int64_t kMostSteps = 64;  // most steps without a filter

}  // namespace

TileSearch::TileSearch(const FilterIndex& index, std::int64_t n)
    : queries_(index),
      cuts_(static_cast<std::size_t>(n)),
      box_cuts_(kScanTileQueries),
      collectors_(static_cast<std::size_t>(n)),
      capacity_(most_blocks(n) * kScanBlockRows),
      hits_(capacity_ * n),
      n_hits_(static_cast<std::size_t>(n)),
      rows_(kMostRows),
      distances_(kMostRows) {}

std::int64_t TileSearch::bytes(std::int64_t n_columns) {
  // The images twice, the tile's box, and at most three bytes a column, and a gap of a group.
  return n_columns * (2 * kScanTileQueries + 2) * static_cast<std::int64_t>(sizeof(float)) +
         (4 * n_columns + 32) * kScanTileQueries +
         kMostBlocks * kScanBlockRows * kScanTileQueries * static_cast<std::int64_t>(sizeof(Hit));
}

PartEnd TileSearch::run(const TileContext& context, const std::int64_t* which, std::int64_t n, std::int64_t begin,
                        std::int64_t end) {
  context_ = &context;
  which_ = which;
  n_ = n;
  pause_ = unfiltered_ = 0;
  queries_.load(context.index, context.queries, which, n, context.has(ScanKind::byte_differences_present));
  std::fill(box_cuts_.begin(), box_cuts_.end(), -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < n; ++i) {
    Collector& collector = collectors_[static_cast<std::size_t>(i)];
    collector.reset(context.selection);
    const std::size_t first_list = static_cast<std::size_t>(which[i]) * context.selection.n_lists();
    if (begin == 0) collector.restore(&context.lists[first_list]);
    tighten(i);
  }
  if (context.index.images->ordered()) {
    n == 1 ? visit_best_first() : visit_nearest();
  } else if (context.selection.kind == Selection::Kind::rapidminer_heap) {
    visit_in_order(begin, end);
  } else {
    visit_sampled(begin, end);
  }
  return list_too_long() ? PartEnd::list_too_long : PartEnd::complete;
}

bool TileSearch::list_too_long() const {
  const auto end = collectors_.begin() + n_;
  return std::any_of(collectors_.begin(), end, [](const Collector& collector) { return collector.too_long(); });
}

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
      selection.kind == Selection::Kind::nearest ? std::min(selection.ks.front(), kMostRows) : kMostRows;
  std::int64_t size = std::clamp<std::int64_t>(kFirstRowsPerNeighbor * k / kScanBlockRows, 1, kFirstStep);
  const std::int64_t most = capacity_ / kScanBlockRows;
  for (std::int64_t at = 0; at < n; at += size, size = std::min(2 * size, most)) {
    size = std::min(size, n - at);
    step(order.data() + at, size);
  }
}

// Visits the blocks of one query, the nearest box first. Thresholds fall fastest so, and only the coarse boxes within
// reach are opened. Box i of the blocks is numbered i, coarse box i is ~i, which comes before the blocks at its
// distance.
void TileSearch::visit_best_first() {
  const TrainImages& images = *context_->index.images;
  const ImageMap& map = *context_->index.map;
  const std::int64_t n_columns = map.n_columns();
  const auto farther = [](const auto& a, const auto& b) { return a > b; };
  const auto offer = [&](const Buffer<float>& low, const Buffer<float>& high, std::int64_t box, std::int64_t number) {
    const float reach = this->reach();
    const float distance =
        queries_.box().distance(map, low.data() + box * n_columns, high.data() + box * n_columns, reach);
    if (!(distance <= reach)) return;
    near_.emplace_back(distance, number);
    std::push_heap(near_.begin(), near_.end(), farther);
  };
  near_.clear();
  const std::int64_t n_coarse = checked::ceil_div(images.n_blocks, TrainImages::kCoarse);
  for (std::int64_t i = 0; i < n_coarse; ++i) offer(images.coarse_low, images.coarse_high, i, ~i);
  std::int64_t size = kFirstNear, n_visited = 0;
  blocks_.clear();
  while (!near_.empty() && near_.front().first <= reach()) {
    const std::int64_t number = near_.front().second;
    std::pop_heap(near_.begin(), near_.end(), farther);
    near_.pop_back();
    if (number < 0) {
      const std::int64_t first = ~number * TrainImages::kCoarse;
      const std::int64_t end = std::min(first + TrainImages::kCoarse, images.n_blocks);
      for (std::int64_t block = first; block < end; ++block) offer(images.low, images.high, block, block);
    } else {
      blocks_.push_back(number);
    }
    const auto n = static_cast<std::int64_t>(blocks_.size());
    if (n < size && !near_.empty()) continue;
    step(blocks_.data(), n);
    n_visited += n;
    blocks_.clear();
    size = std::min(2 * size, kNearStep);
  }
  step(blocks_.data(), static_cast<std::int64_t>(blocks_.size()));
  n_visited += static_cast<std::int64_t>(blocks_.size());
  counts_.skipped += kScanBlockRows * (images.n_blocks - n_visited);
}

float TileSearch::reach() const {
  float most = 0.0F;
  for (std::int64_t i = 0; i < n_; ++i) most = std::max(most, box_cuts_[i]);
  return most;
}

void TileSearch::list_near_boxes() {
  const TrainImages& images = *context_->index.images;
  const ImageMap& map = *context_->index.map;
  const std::int64_t n_columns = map.n_columns();
  const float reach = this->reach();
  const std::int64_t n_coarse = checked::ceil_div(images.n_blocks, TrainImages::kCoarse);
  const TileBox& box = queries_.box();
  near_.clear();
  for (std::int64_t coarse = 0; coarse < n_coarse; ++coarse) {
    const std::int64_t at = coarse * n_columns;
    if (box.distance(map, images.coarse_low.data() + at, images.coarse_high.data() + at, reach) > reach) continue;
    const std::int64_t end = std::min((coarse + 1) * TrainImages::kCoarse, images.n_blocks);
    for (std::int64_t block = coarse * TrainImages::kCoarse; block < end; ++block) {
      const std::int64_t first = block * n_columns;
      const float distance = box.distance(map, images.low.data() + first, images.high.data() + first, reach);
      if (distance <= reach) near_.emplace_back(distance, block);
    }
  }
}

// Visits a few blocks around the tile's middle first, then whatever is still within reach of the thresholds they gave.
void TileSearch::visit_nearest() {
  const TrainImages& images = *context_->index.images;
  const std::int64_t n_columns = context_->index.map->n_columns();
  const std::int64_t n_coarse = checked::ceil_div(images.n_blocks, TrainImages::kCoarse);
  const auto middle = [&](const Buffer<float>& low, const Buffer<float>& high, std::int64_t box) {
    return std::pair{queries_.box().middle_distance(low.data() + box * n_columns, high.data() + box * n_columns), box};
  };
  near_.clear();
  for (std::int64_t i = 0; i < n_coarse; ++i) near_.push_back(middle(images.coarse_low, images.coarse_high, i));
  const std::int64_t first = std::min_element(near_.begin(), near_.end())->second * TrainImages::kCoarse;
  const std::int64_t end = std::min(first + TrainImages::kCoarse, images.n_blocks);
  near_.clear();
  for (std::int64_t i = first; i < end; ++i) near_.push_back(middle(images.low, images.high, i));
  std::sort(near_.begin(), near_.end());
  for (auto& [distance, block] : near_) distance = 0.0F;
  visit_within_reach(kFirstNear);

  list_near_boxes();
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

// Where the bound rules out next to nothing (thousands of equal rows, k near n), scanning and sorting out hits only
// delays the distances. They are then computed for the whole step, and the filter is tried again at growing intervals.
void TileSearch::step(const std::int64_t* blocks, std::int64_t n) {
  if (n == 0 || list_too_long()) return;
  context_->cancel.check();
  if (unfiltered_ > 0) {
    --unfiltered_;
    evaluate_blocks(blocks, n);
    return;
  }
  const std::int64_t listed = counts_.listed;
  for (std::int64_t i = 0; i < n_ && context_->thresholds != nullptr; ++i) tighten(i);
  scan_blocks(blocks, n);
  // The first few blocks of near rows list everything, because there are no thresholds yet.
  const bool useless = n >= kNearStep && counts_.listed - listed > n * n_ * kScanBlockRows / 2;
  pause_ = !useless ? 0 : pause_ == 0 ? 1 : std::min<std::int64_t>(8 * pause_, kMostSteps);
  // A first step lists everything, because it has no thresholds.
  unfiltered_ = pause_ > 1 ? pause_ : 0;
}

void TileSearch::evaluate_blocks(const std::int64_t* blocks, std::int64_t n) {
  const TileContext& context = *context_;
  const TrainImages& images = *context.index.images;
  for (std::int64_t b = 0; b < n; ++b) {
    const std::int64_t first = blocks[b] * kScanBlockRows, end = std::min(first + kScanBlockRows, images.n_rows);
    const std::int64_t count = end - first;
    for (std::int64_t j = 0; j < count; ++j) rows_[static_cast<std::size_t>(j)] = images.row(first + j);
    counts_.evaluated += n_ * count;
    for (std::int64_t i = 0; i < n_; ++i) {
      const double* query = context.block.rows + which_[i] * context.fitted.width();
      context.fitted.kernel().evaluate_rows(context.part.rows, rows_.data(), count, query, distances_.data());
      Collector& collector = collectors_[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < count; ++j) {
        const std::int64_t row = context.part.first + rows_[static_cast<std::size_t>(j)];
        if (context.selection.excludes(context.block, which_[i], row)) continue;
        collector.offer({distances_[static_cast<std::size_t>(j)], row});
      }
    }
  }
  for (std::int64_t i = 0; i < n_; ++i) tighten(i);
}

void TileSearch::scan_blocks(const std::int64_t* blocks, std::int64_t n) {
  const TileContext& context = *context_;
  const FilterIndex& index = context.index;
  const TrainImages& images = *index.images;
  std::fill(n_hits_.begin(), n_hits_.end(), 0);
  std::int64_t skipped = 0;
  const ScanKind kind = queries_.kind();
  Scan scan{};
  queries_.describe(scan);
  if (kind == ScanKind::products) scan.starts = index.products->starts.data();
  if (kind == ScanKind::byte_products_present) {
    const PresentProducts& numbers = *index.present;
    scan.bytes = numbers.bytes.data();
    scan.byte_starts = numbers.starts.data();
    scan.n_groups = numbers.n_groups;
    scan.n_masked_groups = numbers.n_masked();
    scan.row_weights = numbers.weights.data();
    scan.always = numbers.always.data();
  } else if (in_bytes(kind)) {
    const ByteImages& numbers = index.whole_numbers();
    scan.bytes = numbers.bytes.data();
    scan.byte_starts = numbers.starts.data();
    scan.n_groups = numbers.n_groups;
    scan.n_numeric_groups = numbers.n_numeric_groups;
    scan.byte_mismatch = numbers.mismatch.data();
    scan.byte_weight = numbers.weight.data();
    scan.always = numbers.always.data();
  } else {
    scan.blocks = index.floats->blocks.data();
    scan.always = index.floats->always.data();
  }
  scan.low = images.ordered() ? images.low.data() : nullptr;
  scan.high = images.high.data();
  scan.visit = blocks;
  scan.n_visit = n;
  scan.cuts = cuts_.data();
  scan.box_cuts = box_cuts_.data();
  scan.hits = hits_.data();
  scan.capacity = capacity_;
  scan.n_hits = n_hits_.data();
  scan.n_skipped = &skipped;
  context.scans[static_cast<std::size_t>(kind)](scan);
  counts_.skipped += skipped * kScanBlockRows;
  counts_.scanned += (n * n_ - skipped) * kScanBlockRows;
  for (std::int64_t i = 0; i < n_; ++i) {
    // Slots become row numbers. Slots without a row, and excluded rows, are removed.
    Hit* hits = hits_.data() + i * capacity_;
    std::int32_t left = 0;
    for (std::int32_t h = 0; h < n_hits_[static_cast<std::size_t>(i)]; ++h) {
      const std::int64_t position =
          blocks[hits[h].position / kScanBlockRows] * kScanBlockRows + hits[h].position % kScanBlockRows;
      if (position >= images.n_rows ||
          context.selection.excludes(context.block, which_[i], context.part.first + images.row(position)))
        continue;
      hits[left++] = hits[h];
    }
    n_hits_[static_cast<std::size_t>(i)] = left;
    counts_.listed += left;
    if (left == 0) continue;
    evaluate_hits(i, blocks);
  }
}

// Evaluates the hits of a query, likely nearest first, so that the threshold falls before most are evaluated.
// RapidMiner's heap takes them in row order, as they come.
void TileSearch::evaluate_hits(std::int64_t i, const std::int64_t* blocks) {
  const bool in_order = context_->selection.kind == Selection::Kind::rapidminer_heap;
  Hit* hits = hits_.data() + i * capacity_;
  std::int64_t n = n_hits_[static_cast<std::size_t>(i)];
  const std::int64_t k = context_->selection.kind == Selection::Kind::nearest ? context_->selection.ks.front() : n;
  std::int64_t batch = in_order ? n : std::max(std::min(k, n), kFirstBatch);
  std::int64_t done = 0;
  while (done < n) {
    batch = std::min(batch, n - done);
    if (batch < n - done) {
      std::nth_element(hits + done, hits + done + batch, hits + n,
                       [](const Hit& a, const Hit& b) { return a.score < b.score; });
    }
    evaluate(i, blocks, hits + done, batch);
    done += batch;
    tighten(i);
    if (!in_order) {
      const float cut = cuts_[static_cast<std::size_t>(i)].score;
      const std::int64_t before = n - done;
      n = std::remove_if(hits + done, hits + n, [&](const Hit& hit) { return hit.score > cut; }) - hits;
      // There are ties: another search for the nearest would not help.
      if (4 * (n - done) > 3 * before) batch = n - done;
    }
    batch *= 2;
  }
}

void TileSearch::evaluate(std::int64_t i, const std::int64_t* blocks, const Hit* hits, std::int64_t n) {
  const TileContext& context = *context_;
  const TrainImages& images = *context.index.images;
  const std::int64_t width = context.fitted.width();
  const double* query = context.block.rows + which_[i] * width;
  for (std::int64_t begin = 0; begin < n; begin += kMostRows) {
    const std::int64_t count = std::min(kMostRows, n - begin);
    for (std::int64_t h = 0; h < count; ++h) {
      const std::int32_t position = hits[begin + h].position;
      const std::int64_t row =
          images.row(blocks[position / kScanBlockRows] * kScanBlockRows + position % kScanBlockRows);
      rows_[static_cast<std::size_t>(h)] = row;
      // The rows lie anywhere in memory. Asked for together, they arrive while the first are evaluated. Only so many
      // can be under way: long rows are asked for one after the other (typed_kernel.hpp).
      const double* values = context.part.rows + row * width;
      for (std::int64_t c = 0; c < std::min(width, kMostAhead); c += kDoublesPerLine) __builtin_prefetch(values + c);
    }
    context.fitted.kernel().evaluate_rows(context.part.rows, rows_.data(), count, query, distances_.data());
    Collector& collector = collectors_[static_cast<std::size_t>(i)];
    for (std::int64_t h = 0; h < count; ++h) {
      collector.offer(
          {distances_[static_cast<std::size_t>(h)], context.part.first + rows_[static_cast<std::size_t>(h)]});
    }
  }
  counts_.evaluated += n;
}

// Returns a distance that no neighbour exceeds. Segments tell each other theirs. What a late one hears changes how much
// it evaluates, and no result: the k nearest rows of the whole table are never farther.
double TileSearch::threshold(std::int64_t i) {
  const double own = collectors_[static_cast<std::size_t>(i)].threshold();
  if (context_->thresholds == nullptr) return own;
  std::atomic<double>& shared = context_->thresholds[which_[i]];
  double least = shared.load(std::memory_order_relaxed);
  while (own < least && !shared.compare_exchange_weak(least, own, std::memory_order_relaxed)) {
  }
  return own < least ? own : least;
}

void TileSearch::tighten(std::int64_t i) {
  Cut& cut = cuts_[static_cast<std::size_t>(i)];
  cut = queries_.cut(i, threshold(i));
  box_cuts_[i] = cut.box;
}

}  // namespace stope::knn
