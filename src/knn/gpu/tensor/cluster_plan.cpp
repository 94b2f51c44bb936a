#include "knn/gpu/tensor/cluster_plan.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

// A step may cost this share of what searches have paid.
constexpr double kShare = 0.02;
// A call of 1M x 10k x 128 takes 5.0 ms on an H100 (docs/adr/0063-tiles-left-out.md). Calls over fewer columns take
// longer per column, so this counts less than they pay.
constexpr double kSecondsPerTerm = 5.0e-3 / (1e10 * 128.0);
// A look at a sample of 4,096 rows x 128 lengthens a call by 7 to 9 ms where there are no clusters. With a thousand it
// takes three times that, and then clusters come.
constexpr double kLookSeconds = 2e-3, kLookSecondsPerColumn = 6e-3 / 128.0;
// 1M x 128 take an H200 1 to 2 ms. This is more, since memory for them may have to be found first.
constexpr double kMakeSeconds = 1e-3, kMakeSecondsPerValue = 8e-3 / (1e6 * 128.0);
// This number of queries shows whether clusters help. Where they do not, these queries take a tenth longer.
constexpr std::int64_t kJudgedQueries = 4096;
// Clusters help where they leave out one pair in so many.
constexpr std::int64_t kLeastPart = 3;

std::int64_t pairs_of(double seconds, std::int64_t image_width) {
  const double pairs =
      seconds / kShare / (kSecondsPerTerm * static_cast<double>(std::max<std::int64_t>(image_width, 1)));
  constexpr double kMost = 0x1p61;
  return static_cast<std::int64_t>(std::clamp(pairs, 1.0, kMost));
}

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace

ClusterPrices cluster_prices(std::int64_t n_rows, std::int64_t image_width) {
  const auto columns = static_cast<double>(image_width);
  return {.look = pairs_of(kLookSeconds + kLookSecondsPerColumn * columns, image_width),
          .make = pairs_of(kMakeSeconds + kMakeSecondsPerValue * static_cast<double>(n_rows) * columns, image_width),
          .judge = checked::mul(n_rows, kJudgedQueries)};
}

void ClusterPlan::count(std::int64_t n_pairs) {
  paid_ = sum_of(paid_, n_pairs);
}

ClusterPlan::Step ClusterPlan::next() const {
  if (stage_ == Stage::unseen && paid_ >= prices_.look) return Step::look;
  if (stage_ == Stage::found && paid_ >= prices_.make) return Step::make;
  return Step::search;
}

void ClusterPlan::looked(bool found) {
  no_room_ = false;
  stage_ = found ? Stage::found : Stage::scattered;
}

void ClusterPlan::tried(bool made) {
  no_room_ = false;
  stage_ = made ? Stage::in_clusters : Stage::impossible;
}

void ClusterPlan::put_off() {
  no_room_ = true;
  std::int64_t& price = stage_ == Stage::unseen ? prices_.look : prices_.make;
  price = sum_of(std::max(price, paid_), std::max(price, paid_));
}

bool ClusterPlan::pays(std::int64_t scanned, std::int64_t skipped) {
  if (stage_ != Stage::in_clusters) return false;
  const std::int64_t seen = sum_of(scanned, skipped);
  if (seen >= prices_.judge && skipped < seen / kLeastPart) stage_ = Stage::useless;
  return stage_ == Stage::in_clusters;
}

std::string ClusterPlan::reason() const {
  if (no_room_) return "all tiles: no room for clusters so far";
  switch (stage_) {
    case Stage::unseen: return "all tiles: too few pairs so far to pay for a look at clusters";
    case Stage::found: return "all tiles: rows are in clusters, but too few pairs so far pay for them";
    case Stage::in_clusters: return "near tiles alone: rows are in clusters";
    case Stage::scattered: return "all tiles: a sample has no clusters";
    case Stage::impossible: return "all tiles: the GPU has no room for clusters, or no scan that uses them";
    case Stage::useless: return "all tiles: clusters left out less than a third of the pairs";
  }
  return {};
}

}  // namespace stope::knn
