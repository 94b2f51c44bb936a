// Queries that go their own way through blocks of values: all distances of a block by the formula, at once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "knn/filter/tile_search.hpp"

namespace stope::knn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

// Begins a query. Its candidates are kept as sums if it has no lists from earlier parts, and wants the k nearest.
void TileSearch::begin_values(std::int64_t i) {
  const Selection& selection = context_->selection;
  const std::int64_t k = selection.kind == Selection::Kind::nearest ? selection.ks.front() : 0;
  as_sums_ = k > 0 && k <= NearSums::kMostNeighbors && collectors_[static_cast<std::size_t>(i)].lacking() == k;
  if (as_sums_) near_sums_.reset(k);
  bound_of_cut_ = kInf;
}

// Returns a bit for each row of a block that may be among its nearest `wanted` rows: at least those, and rarely half as
// many more. Lowers `bound`, if it can, to a sum that so many are below. The cut is sought around the one of the query
// before. A sum that is NaN says nothing, and its row is one.
std::uint64_t TileSearch::nearest_sums(const double* sums, std::int64_t wanted, double& bound) const {
  constexpr int kMostTries = 16;
  if (wanted >= kScanBlockRows) return ~std::uint64_t{0};
  const auto below = context_->values.below;
  double low = 0.0, cut = likely_sum_ < kInf ? likely_sum_ : sums[0];
  for (int tries = 0; tries < kMostTries && cut > low && cut < bound; ++tries) {
    const std::int64_t n = std::popcount(below(sums, cut));
    (n < wanted ? low : bound) = cut;
    if (n >= wanted && n <= wanted + wanted / 2 + 2) break;
    cut = bound < kInf ? 0.5 * (low + bound) : 4.0 * cut;
  }
  return below(sums, beyond_ties(bound)) | ~below(sums, kInf);
}

// Returns the sum that no neighbour of a query exceeds.
double TileSearch::most_of_sum(std::int64_t i) const {
  if (as_sums_) return near_sums_.bound();
  return most_sum(collectors_[static_cast<std::size_t>(i)].threshold(),
                  context_->index.map->form().finish == Finish::root);
}

bool TileSearch::lacks_candidates(std::int64_t i) const {
  return as_sums_ ? !near_sums_.full() : collectors_[static_cast<std::size_t>(i)].lacking() > 0;
}

// Compares a query with the blocks of blocks_.
void TileSearch::visit_values(std::int64_t i) {
  const TileContext& context = *context_;
  const std::int64_t width = context.fitted.width();
  const double* const query = context.block.rows + which_[i] * width;
  for (const std::int64_t block : blocks_) {
    alignas(64) double sums[kScanBlockRows];
    const double* const values = context.index.values->values.data() + block * kScanBlockRows * width;
    std::uint64_t near = context.values.squares(values, query, width, most_of_sum(i), sums);
    double bound = kInf;
    if (lacks_candidates(i) && context.selection.train_groups == nullptr) {
      near = nearest_sums(sums, context.selection.ks.front() + (context.selection.exclude_self ? 1 : 0), bound);
    }
    if (near == 0) continue;
    take_values(i, block, near, sums);
    if (!as_sums_) continue;
    if (bound < kInf) near_sums_.lower_bound(bound);
    if (!near_sums_.tighten()) offer_sums(i);
  }
  counts_.scanned += std::ssize(blocks_) * kScanBlockRows;
  if (!as_sums_) return tighten(i);
  const double bound = near_sums_.bound();
  if (bound == bound_of_cut_) return;
  bound_of_cut_ = bound;
  const bool root = context.index.map->form().finish == Finish::root;
  Cut& cut = cuts_[static_cast<std::size_t>(i)];
  cut = queries_.cut(i, root ? std::sqrt(bound) : bound);
  box_cuts_[i] = cut.box;
}

// Takes rows of a block whose sums are known.
void TileSearch::take_values(std::int64_t i, std::int64_t block, std::uint64_t near, const double* sums) {
  const TileContext& context = *context_;
  const TrainImages& images = *context.index.images;
  const std::int64_t first = block * kScanBlockRows;
  if (images.n_rows - first < kScanBlockRows) near &= (std::uint64_t{1} << (images.n_rows - first)) - 1;
  counts_.listed += std::popcount(near);
  counts_.evaluated += std::popcount(near);
  for (; near != 0; near &= near - 1) {
    const int at = std::countr_zero(near);
    const std::int64_t row = context.part.first + images.row(first + at);
    if (context.selection.excludes_some() && context.selection.excludes(context.block, which_[i], row)) continue;
    if (as_sums_ && sums[at] == sums[at]) {
      near_sums_.add(sums[at], row);
    } else {
      if (as_sums_) offer_sums(i);
      offer_row(i, row, sums[at]);
    }
  }
}

// Offers a row. A sum that is NaN may still have a distance.
void TileSearch::offer_row(std::int64_t i, std::int64_t row, double sum) {
  const TileContext& context = *context_;
  const MeasureKernel& kernel = context.fitted.kernel();
  double distance = 0.0;
  if (sum == sum) {
    kernel.finish_sums(&sum, 1, &distance);
  } else {
    const double* const query = context.block.rows + which_[i] * context.fitted.width();
    const std::int64_t in_part = row - context.part.first;
    kernel.evaluate_rows(context.part.rows, &in_part, 1, query, &distance);
  }
  collectors_[static_cast<std::size_t>(i)].offer({distance, row});
}

// Goes on with a list of distances, where sums would tell too little or are too many.
void TileSearch::offer_sums(std::int64_t i) {
  as_sums_ = false;
  for (std::int64_t j = 0; j < near_sums_.n(); ++j) offer_row(i, near_sums_.row(j), near_sums_.sums()[j]);
}

// Ends a query: its nearest rows go to its list.
void TileSearch::end_values(std::int64_t i) {
  likely_sum_ = 2.0 * most_of_sum(i);
  if (!as_sums_) return;
  near_sums_.take(context_->fitted.kernel(), nearest_);
  collectors_[static_cast<std::size_t>(i)].take_over(nearest_);
}

}  // namespace stope::knn
