#include "knn/filter/tile_search.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

// One query by itself has room for more hits. It then computes few distances between two thresholds of one table.
constexpr std::int64_t kMostLoneBlocks = 512;
constexpr std::int64_t most_blocks(std::int64_t n_queries) {
  return n_queries == 1 ? kMostLoneBlocks : TileSearch::kMostBlocks;
}
// Distances evaluated between two looks at the threshold, doubled each time. Formulas take four rows at once.
constexpr std::int64_t kFirstBatch = 4;
constexpr std::int64_t kMostRows = 512;  // rows evaluated at once
constexpr std::int64_t kDoublesPerLine = 8, kMostAhead = 64;
constexpr std::int64_t kMostSteps = 64;  // most steps without a filter

// Puts hits with the lowest scores first: at least `wanted` of n, and rarely a quarter more. Returns how many. Quick
// selection without branches takes half the time of std::nth_element on a block's hits.
std::int64_t lowest_first(Hit* hits, std::int64_t n, std::int64_t wanted) {
  constexpr std::int64_t kSample = 9;
  std::int64_t begin = 0, end = n;
  while (end > wanted + wanted / 4 + 2) {
    float sample[kSample];
    for (std::int64_t i = 0; i < kSample; ++i) {
      const float score = hits[begin + i * (end - begin) / kSample].score;
      std::int64_t at = i;
      for (; at > 0 && sample[at - 1] > score; --at) sample[at] = sample[at - 1];
      sample[at] = score;
    }
    const float pivot = sample[std::min(kSample * (wanted - begin) / (end - begin) + 1, kSample - 1)];
    std::int64_t middle = begin;
    for (std::int64_t i = begin; i < end; ++i) {
      const Hit hit = hits[i];
      hits[i] = hits[middle];
      hits[middle] = hit;
      middle += hit.score <= pivot ? 1 : 0;
    }
    if (middle == end) break;  // many equal scores
    (middle >= wanted ? end : begin) = middle;
  }
  return end;
}

}  // namespace

TileSearch::TileSearch(const FilterIndex& index, ValueFunctions values, std::int64_t n)
    : queries_(index),
      cuts_(static_cast<std::size_t>(n)),
      box_cuts_(kScanTileQueries),
      collectors_(static_cast<std::size_t>(n)),
      capacity_(most_blocks(n) * kScanBlockRows),
      n_hits_(static_cast<std::size_t>(n)),
      rows_(kMostRows),
      distances_(kMostRows),
      near_sums_(values) {}

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
  if (!context.with_values && hits_.empty()) hits_ = Buffer<Hit>(capacity_ * std::ssize(cuts_));
  pause_ = unfiltered_ = 0;
  const bool ordered = context.index.images->ordered();
  const Visit visit = ordered && n > 1 ? context.visit : Visit::queries;  // without an order there are no boxes
  queries_.load(context.index, context.queries, which, n, visit, context.has(ScanKind::byte_differences_present));
  queries_.load_reaches(context.block.rows, context.fitted.width(), which, n);
  std::fill(box_cuts_.begin(), box_cuts_.end(), -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < n; ++i) {
    Collector& collector = collectors_[static_cast<std::size_t>(i)];
    collector.reset(context.selection);
    const std::size_t first_list = static_cast<std::size_t>(which[i]) * context.selection.n_lists();
    if (begin == 0 && context.part.first > 0) collector.restore(context.lists, first_list);
    tighten(i);
  }
  if (ordered) {
    describe_boxes();
    visit == Visit::queries ? visit_one_by_one() : visit_nearest();
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

// Fills in what a scan of n queries, from query `first` on, reads.
void TileSearch::describe(Scan& scan, std::int64_t first, std::int64_t n) {
  const FilterIndex& index = context_->index;
  const ScanKind kind = queries_.kind();
  queries_.describe(scan, first, n);
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
  scan.cuts = cuts_.data() + first;
  scan.hits = hits_.data();
  scan.capacity = capacity_;
  scan.n_hits = n_hits_.data();
}

void TileSearch::scan_blocks(const std::int64_t* blocks, std::int64_t n) {
  const TrainImages& images = *context_->index.images;
  std::fill(n_hits_.begin(), n_hits_.end(), 0);
  std::int64_t skipped = 0;
  Scan scan{};
  describe(scan, 0, n_);
  if (images.ordered()) {
    scan.low = images.boxes.level(0).low(0);
    scan.high = images.boxes.level(0).high(0);
  }
  scan.visit = blocks;
  scan.n_visit = n;
  scan.box_cuts = box_cuts_.data();
  scan.n_skipped = &skipped;
  context_->scans[static_cast<std::size_t>(queries_.kind())](scan);
  counts_.skipped += skipped * kScanBlockRows;
  counts_.scanned += (n * n_ - skipped) * kScanBlockRows;
  for (std::int64_t i = 0; i < n_; ++i) {
    take_hits(i, blocks, hits_.data() + i * capacity_, n_hits_[static_cast<std::size_t>(i)]);
  }
}

// Takes the hits of a query in some blocks. Slots become rows; slots without a row, and excluded rows, are removed.
void TileSearch::take_hits(std::int64_t i, const std::int64_t* blocks, Hit* hits, std::int64_t n) {
  const TileContext& context = *context_;
  const TrainImages& images = *context.index.images;
  std::int64_t left = 0;
  for (std::int64_t h = 0; h < n; ++h) {
    const std::int64_t position =
        blocks[hits[h].position / kScanBlockRows] * kScanBlockRows + hits[h].position % kScanBlockRows;
    if (position >= images.n_rows ||
        context.selection.excludes(context.block, which_[i], context.part.first + images.row(position)))
      continue;
    hits[left++] = hits[h];
  }
  counts_.listed += left;
  if (left > 0) evaluate_hits(i, blocks, hits, left);
}

// Evaluates the hits of a query, likely nearest first, so that the threshold falls before most are evaluated. It does
// not fall for a radius, and RapidMiner's heap takes rows in their order: these get all hits as they come.
void TileSearch::evaluate_hits(std::int64_t i, const std::int64_t* blocks, Hit* hits, std::int64_t n) {
  const bool falls = context_->selection.kind == Selection::Kind::nearest;  // whether the threshold does
  std::int64_t batch = falls ? std::max(collectors_[static_cast<std::size_t>(i)].lacking(), kFirstBatch) : n;
  std::int64_t done = 0;
  while (done < n) {
    batch = batch < n - done ? lowest_first(hits + done, n - done, batch) : n - done;
    evaluate(i, blocks, hits + done, batch);
    done += batch;
    tighten(i);
    const float cut = cuts_[static_cast<std::size_t>(i)].score;
    const std::int64_t before = n - done;
    n = std::remove_if(hits + done, hits + n, [&](const Hit& hit) { return hit.score > cut; }) - hits;
    // There are ties: another search for the nearest would not help.
    batch = 4 * (n - done) > 3 * before ? n - done : 2 * batch;
  }
}

void TileSearch::evaluate(std::int64_t i, const std::int64_t* blocks, const Hit* hits, std::int64_t n) {
  const TileContext& context = *context_;
  const TrainImages& images = *context.index.images;
  const std::int64_t width = context.fitted.width();
  const double* query = context.block.rows + which_[i] * width;
  const bool near = context.index.near_rows != nullptr;
  const double* const rows = near ? context.index.near_rows->rows.data() : context.part.rows;
  for (std::int64_t begin = 0; begin < n; begin += kMostRows) {
    const std::int64_t count = std::min(kMostRows, n - begin);
    for (std::int64_t h = 0; h < count; ++h) {
      const std::int32_t in_blocks = hits[begin + h].position;
      const std::int64_t position = blocks[in_blocks / kScanBlockRows] * kScanBlockRows + in_blocks % kScanBlockRows;
      rows_[static_cast<std::size_t>(h)] = near ? position : images.row(position);
      // The rows lie anywhere in memory. Asked for together, they arrive while the first are evaluated. Only so many
      // can be under way: long rows are asked for one after the other (typed_kernel.hpp).
      const double* values = rows + rows_[static_cast<std::size_t>(h)] * width;
      for (std::int64_t c = 0; c < std::min(width, kMostAhead); c += kDoublesPerLine) __builtin_prefetch(values + c);
    }
    context.fitted.kernel().evaluate_rows(rows, rows_.data(), count, query, distances_.data());
    Collector& collector = collectors_[static_cast<std::size_t>(i)];
    for (std::int64_t h = 0; h < count; ++h) {
      const std::int64_t row = rows_[static_cast<std::size_t>(h)];
      collector.offer({distances_[static_cast<std::size_t>(h)], context.part.first + (near ? images.row(row) : row)});
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
