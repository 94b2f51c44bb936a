#include "knn/filter/tile_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

// Blocks between two tightenings: few at first, when the thresholds fall fast; 64 blocks of hits are 2 MB a worker.
constexpr std::int64_t kFirstStep = 8;
constexpr std::int64_t kMostBlocks = 64;
// The same where blocks hold near rows: the very first give good thresholds.
constexpr std::int64_t kFirstNear = 1;
constexpr std::int64_t kNearStep = 8;
constexpr std::int64_t kCapacity = kMostBlocks * kScanBlockRows;
// Distances evaluated between two looks at the threshold, doubled each time.
constexpr std::int64_t kFirstBatch = 16;
constexpr std::int64_t kMostRows = 512;  // evaluated at once
constexpr std::int64_t kMostSteps = 64;  // without a filter

}  // namespace

TileSearch::TileSearch(const FilterIndex& index)
    : n_columns_(index.map->n_columns()),
      images_(n_columns_ * kScanTileQueries),
      bytes_(in_bytes(index.kind) ? index.bytes->query_bytes() * kScanTileQueries : 0),
      byte_images_(kScanTileQueries),
      norms_(kScanTileQueries),
      by_column_(n_columns_ * kScanTileQueries),
      tile_low_(n_columns_),
      tile_high_(n_columns_),
      hits_(kCapacity * kScanTileQueries),
      cuts_(kScanTileQueries),
      box_cuts_(kScanTileQueries),
      n_hits_(kScanTileQueries),
      collectors_(kScanTileQueries),
      rows_(kMostRows),
      distances_(kMostRows) {}

std::int64_t TileSearch::bytes(std::int64_t n_columns) {
  // Images twice, the tile's box, at most a byte image.
  return n_columns * (2 * kScanTileQueries + 2) * static_cast<std::int64_t>(sizeof(float)) +
         (n_columns + 8) * kScanTileQueries + kCapacity * kScanTileQueries * static_cast<std::int64_t>(sizeof(Hit));
}

void TileSearch::run(const TileContext& context, const std::int64_t* which, std::int64_t n, std::int64_t begin,
                     std::int64_t end) {
  load(context, which, n, begin == 0);
  if (context.index.images->ordered()) {
    visit_nearest(context);
  } else if (context.selection.kind == Selection::Kind::rapidminer_heap) {
    visit_in_order(context, begin, end);
  } else {
    visit_sampled(context, begin, end);
  }
}

void TileSearch::load(const TileContext& context, const std::int64_t* which, std::int64_t n, bool restore) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  map_ = context.index.map.get();
  form_ = &map_->form();
  which_ = which;
  n_ = n;
  std::fill(tile_low_.begin(), tile_low_.end(), kInf);
  std::fill(tile_high_.begin(), tile_high_.end(), -kInf);
  std::fill(by_column_.begin(), by_column_.end(), std::numeric_limits<float>::quiet_NaN());
  std::fill(box_cuts_.begin(), box_cuts_.end(), -kInf);
  kind_ = context.index.kind;
  bool missing = context.index.images->missing;
  pause_ = steps_without_filter_ = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const float* image = context.queries.rows.data() + which[i] * n_columns_;
    std::copy_n(image, n_columns_, images_.data() + i * n_columns_);
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      by_column_[c * kScanTileQueries + i] = image[c];
      const bool absent = std::isnan(image[c]);
      tile_low_[c] = std::min(tile_low_[c], absent ? -kInf : image[c]);
      tile_high_[c] = std::max(tile_high_[c], absent ? kInf : image[c]);
      missing |= absent;
    }
    if (context.index.kind != ScanKind::products) continue;
    double norm = 0.0;
    for (std::int64_t c = 0; c < n_columns_; ++c) norm += static_cast<double>(image[c]) * static_cast<double>(image[c]);
    norms_[static_cast<std::size_t>(i)] = norm;
    // Beyond the range of a float a product is no bound: -|t|^2 / 2 would be -infinity and drop its row.
    const double largest = context.index.floats->largest_norm;
    if (!(norm + largest * largest < 1e37)) kind_ = ScanKind::differences;
  }
  if (missing) {
    const bool bytes = kind_ == ScanKind::byte_differences && context.has(ScanKind::byte_differences_present);
    kind_ = bytes ? ScanKind::byte_differences_present : ScanKind::differences;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    if (in_bytes(kind_)) {
      const ByteImages& train = *context.index.bytes;
      byte_images_[static_cast<std::size_t>(i)] =
          make_byte_image(images_.data() + i * n_columns_, train, bytes_.data() + i * train.query_bytes());
    }
    Collector& collector = collectors_[static_cast<std::size_t>(i)];
    collector.reset(context.selection);
    if (restore) collector.restore(&context.lists[static_cast<std::size_t>(which[i]) * context.selection.n_lists()]);
    tighten(context, i);
  }
}

// Row order, as RapidMiner's heap must see it.
void TileSearch::visit_in_order(const TileContext& context, std::int64_t begin, std::int64_t end) {
  std::int64_t size = kFirstStep;
  for (std::int64_t block = begin; block < end; size = std::min(2 * size, kMostBlocks)) {
    blocks_.clear();
    for (; block < end && static_cast<std::int64_t>(blocks_.size()) < size; ++block) blocks_.push_back(block);
    step(context, blocks_.data(), static_cast<std::int64_t>(blocks_.size()));
  }
}

// Some blocks from all over the range come first: in a table sorted by class or time the first rows would give
// thresholds that every later row beats.
void TileSearch::visit_sampled(const TileContext& context, std::int64_t begin, std::int64_t end) {
  const std::int64_t n = end - begin;
  const std::int64_t stride = std::max<std::int64_t>(1, n / kMostBlocks);
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(n));
  for (std::int64_t block = begin; block < end; block += stride) order.push_back(block);
  for (std::int64_t block = begin; block < end; ++block) {
    if ((block - begin) % stride != 0) order.push_back(block);
  }
  std::int64_t size = kFirstStep;
  for (std::int64_t at = 0; at < n; at += size, size = std::min(2 * size, kMostBlocks)) {
    size = std::min(size, n - at);
    step(context, order.data() + at, size);
  }
}

// A lower bound of the sum between any query of the tile and any row in the box, as soon as it exceeds `reach`.
float TileSearch::box_distance(const float* low, const float* high, float reach) const {
  float sum = 0.0F;
  for (std::int64_t c = 0; c < n_columns_; ++c) {
    const float gap = std::max({low[c] - tile_high_[c], tile_low_[c] - high[c], 0.0F});
    if (!(gap > 0.0F)) continue;
    if (c >= map_->n_numeric()) {
      sum = form_->term == Term::maximum ? std::max(sum, map_->mismatch()[c]) : sum + map_->mismatch()[c];
    } else if (form_->term == Term::square) {
      sum += gap * gap;
    } else {
      sum = form_->term == Term::maximum ? std::max(sum, gap) : sum + gap;
    }
    if (sum > reach) break;
  }
  return sum;
}

float TileSearch::reach() const {
  float most = 0.0F;
  for (std::int64_t i = 0; i < n_; ++i) most = std::max(most, box_cuts_[i]);
  return most;
}

void TileSearch::list_near_boxes(const TrainImages& images, float reach) {
  const std::int64_t n_coarse = checked::ceil_div(images.n_blocks, TrainImages::kCoarse);
  for (std::int64_t coarse = 0; coarse < n_coarse; ++coarse) {
    const std::int64_t at = coarse * n_columns_;
    if (box_distance(images.coarse_low.data() + at, images.coarse_high.data() + at, reach) > reach) continue;
    const std::int64_t end = std::min((coarse + 1) * TrainImages::kCoarse, images.n_blocks);
    for (std::int64_t block = coarse * TrainImages::kCoarse; block < end; ++block) {
      const float* low = images.low.data() + block * n_columns_;
      const float distance = box_distance(low, images.high.data() + block * n_columns_, reach);
      if (distance <= reach) near_.emplace_back(distance, block);
    }
  }
}

// Distance between the middles of a box and of the tile's: which of several boxes that touch the tile to look at first.
float TileSearch::middle_distance(const float* low, const float* high) const {
  float sum = 0.0F;
  for (std::int64_t c = 0; c < n_columns_; ++c) {
    const float gap = low[c] + high[c] - (tile_low_[c] + tile_high_[c]);
    if (std::isfinite(gap)) sum += std::fabs(gap);
  }
  return sum;
}

// A few blocks around the tile's middle first; then, under the thresholds they gave, whatever is still within reach.
void TileSearch::visit_nearest(const TileContext& context) {
  const TrainImages& images = *context.index.images;
  const std::int64_t n_coarse = checked::ceil_div(images.n_blocks, TrainImages::kCoarse);
  const auto middle = [&](const Buffer<float>& low, const Buffer<float>& high, std::int64_t box) {
    return std::pair{middle_distance(low.data() + box * n_columns_, high.data() + box * n_columns_), box};
  };
  near_.clear();
  for (std::int64_t i = 0; i < n_coarse; ++i) near_.push_back(middle(images.coarse_low, images.coarse_high, i));
  const std::int64_t first = std::min_element(near_.begin(), near_.end())->second * TrainImages::kCoarse;
  const std::int64_t end = std::min(first + TrainImages::kCoarse, images.n_blocks);
  near_.clear();
  for (std::int64_t i = first; i < end; ++i) near_.push_back(middle(images.low, images.high, i));
  std::sort(near_.begin(), near_.end());
  for (auto& [distance, block] : near_) distance = 0.0F;
  visit_within_reach(context, kFirstNear);

  near_.clear();
  list_near_boxes(images, reach());
  const auto done = std::remove_if(near_.begin(), near_.end(),
                                   [&](const auto& box) { return box.second >= first && box.second < end; });
  near_.erase(done, near_.end());
  // Sorting a long list costs more than it saves: then the nearest part comes first, in no order.
  constexpr std::size_t kMostSorted = 1024;
  const auto part = near_.begin() + static_cast<std::ptrdiff_t>(std::min(near_.size(), kMostSorted));
  if (part != near_.end()) std::nth_element(near_.begin(), part, near_.end());
  std::sort(near_.begin(), part);
  visit_within_reach(context, kNearStep);
  counts_.skipped += n_ * kScanBlockRows * (images.n_blocks - (end - first) - n_visited_);
}

// Visits the blocks of near_ in their order, a few at a time, leaving out those that have fallen out of reach.
void TileSearch::visit_within_reach(const TileContext& context, std::int64_t size) {
  n_visited_ = 0;
  for (std::size_t at = 0; at < near_.size(); size = std::min(2 * size, kNearStep)) {
    blocks_.clear();
    const float now = reach();
    for (; at < near_.size() && static_cast<std::int64_t>(blocks_.size()) < size; ++at) {
      if (near_[at].first <= now) blocks_.push_back(near_[at].second);
    }
    n_visited_ += static_cast<std::int64_t>(blocks_.size());
    step(context, blocks_.data(), static_cast<std::int64_t>(blocks_.size()));
  }
}

// Where the bound rules out next to nothing (thousands of equal rows, k near n), scanning and sorting out hits only
// delays the distances: they are then computed for the whole step, and the filter is tried again later and later.
void TileSearch::step(const TileContext& context, const std::int64_t* blocks, std::int64_t n) {
  if (n == 0) return;
  context.cancel.check();
  if (steps_without_filter_ > 0) {
    --steps_without_filter_;
    evaluate_blocks(context, blocks, n);
    return;
  }
  const std::int64_t listed = counts_.listed;
  scan_blocks(context, blocks, n);
  const bool useless = counts_.listed - listed > n * n_ * kScanBlockRows / 2;
  pause_ = !useless ? 0 : pause_ == 0 ? 1 : std::min<std::int64_t>(8 * pause_, kMostSteps);
  // A first step lists everything, having no thresholds.
  steps_without_filter_ = pause_ > 1 ? pause_ : 0;
}

void TileSearch::evaluate_blocks(const TileContext& context, const std::int64_t* blocks, std::int64_t n) {
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
  for (std::int64_t i = 0; i < n_; ++i) tighten(context, i);
}

void TileSearch::scan_blocks(const TileContext& context, const std::int64_t* blocks, std::int64_t n) {
  const TrainImages& images = *context.index.images;
  std::fill(n_hits_.begin(), n_hits_.end(), 0);
  std::int64_t skipped = 0;
  Scan scan{};
  scan.n_numeric = map_->n_numeric();
  scan.n_equality = n_columns_ - scan.n_numeric;
  scan.mismatch = map_->mismatch();
  scan.weight = map_->weight();
  scan.blocks = images.blocks.data();
  if (kind_ == ScanKind::products) scan.starts = context.index.floats->starts.data();
  if (in_bytes(kind_)) {
    scan.bytes = context.index.bytes->bytes.data();
    scan.byte_starts = context.index.bytes->starts.data();
    scan.n_groups = context.index.bytes->n_groups;
    scan.n_numeric_groups = context.index.bytes->n_numeric_groups;
    scan.byte_mismatch = context.index.bytes->mismatch.data();
    scan.byte_weight = context.index.bytes->weight.data();
    scan.query_bytes = bytes_.data();
  }
  scan.always = in_bytes(kind_) ? context.index.bytes->always.data() : images.always.data();
  scan.low = images.ordered() ? images.low.data() : nullptr;
  scan.high = images.high.data();
  scan.visit = blocks;
  scan.n_visit = n;
  scan.queries = images_.data();
  scan.n_queries = n_;
  scan.cuts = cuts_.data();
  scan.by_column = by_column_.data();
  scan.box_cuts = box_cuts_.data();
  scan.hits = hits_.data();
  scan.capacity = kCapacity;
  scan.n_hits = n_hits_.data();
  scan.n_skipped = &skipped;
  context.scans[static_cast<std::size_t>(kind_)](scan);
  counts_.skipped += skipped * kScanBlockRows;
  counts_.scanned += (n * n_ - skipped) * kScanBlockRows;
  for (std::int64_t i = 0; i < n_; ++i) {
    // Slots become rows; rows that are none, or excluded, go.
    Hit* hits = hits_.data() + i * kCapacity;
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
    blocks_in_step_ = blocks;
    settle(context, i);
  }
}

// Evaluates the hits of a query, likely nearest first, so that the threshold falls before most are looked at.
// RapidMiner's heap takes them as they come, in row order.
void TileSearch::settle(const TileContext& context, std::int64_t i) {
  const bool in_order = context.selection.kind == Selection::Kind::rapidminer_heap;
  Hit* hits = hits_.data() + i * kCapacity;
  std::int64_t n = n_hits_[static_cast<std::size_t>(i)];
  const std::int64_t k = context.selection.kind == Selection::Kind::nearest ? context.selection.ks.front() : n;
  std::int64_t batch = in_order ? n : std::max(std::min(k, n), kFirstBatch);
  std::int64_t done = 0;
  while (done < n) {
    batch = std::min(batch, n - done);
    if (batch < n - done) {
      std::nth_element(hits + done, hits + done + batch, hits + n,
                       [](const Hit& a, const Hit& b) { return a.score < b.score; });
    }
    evaluate(context, i, done, batch);
    done += batch;
    tighten(context, i);
    if (!in_order) {
      const float cut = cuts_[static_cast<std::size_t>(i)].score;
      const std::int64_t before = n - done;
      n = std::remove_if(hits + done, hits + n, [&](const Hit& hit) { return hit.score > cut; }) - hits;
      // Ties: looking for the nearest once more would not help.
      if (4 * (n - done) > 3 * before) batch = n - done;
    }
    batch *= 2;
  }
}

void TileSearch::evaluate(const TileContext& context, std::int64_t i, std::int64_t first, std::int64_t n) {
  const TrainImages& images = *context.index.images;
  const Hit* hits = hits_.data() + i * kCapacity + first;
  const double* query = context.block.rows + which_[i] * context.fitted.width();
  for (std::int64_t begin = 0; begin < n; begin += kMostRows) {
    const std::int64_t count = std::min(kMostRows, n - begin);
    for (std::int64_t h = 0; h < count; ++h) {
      const std::int32_t position = hits[begin + h].position;
      rows_[static_cast<std::size_t>(h)] =
          images.row(blocks_in_step_[position / kScanBlockRows] * kScanBlockRows + position % kScanBlockRows);
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

void TileSearch::tighten(const TileContext& context, std::int64_t i) {
  const double distance = collectors_[static_cast<std::size_t>(i)].threshold();
  const double residual = context.queries.residuals[which_[i]] + context.index.images->residual;
  Cut& cut = cuts_[static_cast<std::size_t>(i)];
  cut = map_->cut(distance, residual);
  if (kind_ == ScanKind::products) add_product_cut(context, i, map_->limit(distance, residual), cut);
  if (in_bytes(kind_)) {
    const ByteImages& train = *context.index.bytes;
    const double rounding = (byte_images_[static_cast<std::size_t>(i)].residual + train.residual) / train.steps;
    add_byte_cut(train, i, map_->limit(distance, residual + rounding), cut);
  }
  box_cuts_[i] = cut.box;
}

// |q-t|^2 <= beta is s = <q,t> - |t|^2/2 >= (|q|^2 - beta) / 2; the float sum of s is off by less than `error`.
void TileSearch::add_product_cut(const TileContext& context, std::int64_t i, const ImageMap::Limit& limit,
                                 Cut& cut) const {
  const double norm = norms_[static_cast<std::size_t>(i)], largest = context.index.floats->largest_norm;
  const double error =
      (static_cast<double>(n_columns_) + 8.0) * 0x1p-23 * (std::sqrt(norm) * largest + largest * largest) +
      (static_cast<double>(n_columns_) + 1.0) * 1e-37;
  cut.norm = static_cast<float>(norm);
  if (!(cut.beta < kNoLimit)) return;
  cut.least = -round_up(-(0.5 * (norm - limit.beta) - error));
  cut.score = round_up(limit.beta + 2.0 * error + (norm + largest * largest) * 0x1p-21);
}

// The same in whole steps, where products are exact but for the half lost in |t|^2 / 2 (128 was added to every training
// byte), and sums of differences exact.
void TileSearch::add_byte_cut(const ByteImages& train, std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const {
  const ByteImage& image = byte_images_[static_cast<std::size_t>(i)];
  cut.norm = static_cast<float>(image.norm + 2.0 * image.offset);
  if (!(cut.beta < kNoLimit)) return;
  if (kind_ == ScanKind::byte_differences) {
    const double reach = limit.alpha * map_->total_weight() + limit.beta;
    const double most = std::floor(reach * train.steps * (1.0 + 1e-12)) + 1.0;
    cut.most_bytes = most < 2e9 ? static_cast<std::int32_t>(most) : INT32_MAX;
    cut.score = round_up(most);  // sums below 2^24 are exact floats
    return;
  }
  if (kind_ == ScanKind::byte_differences_present) {
    cut.alpha_bytes = limit.alpha * train.steps / train.weight_steps * (1.0 + 1e-12);
    cut.beta_bytes = limit.beta * train.steps * (1.0 + 1e-12) + 1.0;
    // A score is a quotient by the weight compared, without a divisor by 1.
    const bool quotient = form_->divisor == Divisor::present_weight;
    const double least = quotient ? static_cast<double>(image.least_by) : 1.0;
    cut.score = round_up((cut.alpha_bytes + cut.beta_bytes / least) * (1.0 + 1e-6));
    return;
  }
  const double beta = limit.beta * train.steps * train.steps * (1.0 + 1e-12);
  const double least = std::floor(0.5 * (image.norm - beta)) - 1.0 + image.offset;
  cut.least_bytes = least > -2e9 ? static_cast<std::int32_t>(least) : INT32_MIN;
  // Scores are floats: a product of up to 2^31 loses up to 2^7.
  cut.score = round_up(beta + (image.norm + std::fabs(2.0 * image.offset) + std::fabs(least)) * 0x1p-21 + 512.0);
}

}  // namespace stope::knn
