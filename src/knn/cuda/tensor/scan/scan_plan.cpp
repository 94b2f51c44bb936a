#include "knn/cuda/tensor/scan/scan_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kMostParts = 5;
constexpr std::int64_t kMostStride = 64;
constexpr std::int64_t kLeastTiles = 32;  // tiles of a sample: a smaller one would prove little

/// A scan takes as many waves of blocks of threads as its grid has. A wave takes as long as one block does to start and
/// to scan its tiles. Of `fewest` to `most` segments, this returns the number that takes the least time.
Segments cut(std::int64_t n_tiles, const ScanSize& size, std::int64_t fewest, std::int64_t most) {
  constexpr std::int64_t kStart = 512;  // a block of threads starts in the time of this many columns of a tile
  Segments best{n_tiles, 1};
  std::int64_t least = INT64_MAX;
  most = std::min(n_tiles, most);
  for (std::int64_t wanted = std::min(fewest, most); wanted <= most; ++wanted) {
    const std::int64_t tiles = checked::ceil_div(n_tiles, wanted), count = checked::ceil_div(n_tiles, tiles);
    const std::int64_t cost =
        checked::ceil_div(size.block_rows * count, size.multiprocessors) * (tiles * size.width + kStart);
    if (cost >= least) continue;
    least = cost;
    best = {tiles, count};
  }
  return best;
}

struct Choice {
  int parts;
  std::int64_t stride;
};

/// Chooses the cheapest number of parts and share of the sample. The first part has a share 2^(1 - parts) of the rows,
/// and lists k times this share / the sample's share groups. Each further part doubles what is known and lists k
/// groups.
Choice choose(const ScanSize& size) {
  // Measured on an H200 (docs/adr/0007). kGroup: seconds of a listed group with all that follows. kPart: seconds of a
  // part with its tightening. kProducts: operations of the products a second. kBytes: bytes of images read a second,
  // which count for few queries. Images narrower than kLeastWidth do not make the scan faster in proportion.
  constexpr double kGroup = 0.11e-9, kPart = 10e-6, kProducts = 750e12, kBytes = 4e12, kLeastWidth = 96.0;
  // What a sample promises varies, by a third for k = 10. A list three times as long as expected still fits.
  const double most_listed = static_cast<double>(size.capacity) / 3.0;
  const auto n_queries = static_cast<double>(size.n_queries);
  const auto n_rows = static_cast<double>(size.n_tiles * size.tile_rows), width = static_cast<double>(size.width);
  const double pass =
      std::max(2.0 * n_rows * n_queries * std::max(width, kLeastWidth) / kProducts, 2.0 * n_rows * width / kBytes);
  Choice best{1, 1};
  double least = HUGE_VAL;
  for (int parts = 1; parts <= kMostParts; ++parts) {
    const double first = std::ldexp(1.0, 1 - parts);
    if (parts > 1 && first * static_cast<double>(size.n_tiles) < static_cast<double>(kLeastTiles)) break;
    for (std::int64_t stride = 1; stride <= kMostStride; stride *= 2) {
      if (stride > 1 && stride * kLeastTiles > size.n_tiles) break;
      const double listed = static_cast<double>(size.k) * (static_cast<double>(stride) * first + parts - 1);
      if (stride > 1 && listed > most_listed) break;
      const double cost = pass / static_cast<double>(stride) + kGroup * n_queries * listed + kPart * parts;
      if (cost >= least) continue;
      least = cost;
      best = {parts, stride};
    }
  }
  return best;
}

}  // namespace

ScanPlan plan_scan(const ScanSize& size) {
  // A thread has a quarter of a query's rows and room for 8 candidates; further ones go to memory one by one. So
  // segments are short enough that a thread lists 2 on average.
  constexpr double kListedOfSegment = 8.0;
  // How many more segments may be tried: enough for a batch of kBlockQueries queries to use all multiprocessors.
  constexpr std::int64_t kMoreSegments = 256;
  const Choice choice = choose(size);
  ScanPlan plan{};
  const std::int64_t sampled = checked::ceil_div(size.n_tiles, choice.stride);
  plan.sample = {0, choice.stride, sampled,
                 cut(sampled, size, size.least_maxima_segments,
                     std::min(size.most_maxima_segments, size.least_maxima_segments + kMoreSegments))};
  double known = 1.0 / static_cast<double>(choice.stride);
  for (int i = 0; i < choice.parts; ++i) {
    const std::int64_t stride = std::int64_t{1} << (i == 0 ? choice.parts - 1 : choice.parts - i);
    const std::int64_t first_tile = i == 0 ? 0 : stride / 2;
    const std::int64_t n_tiles = checked::ceil_div(size.n_tiles - first_tile, stride);
    const double share = 1.0 / static_cast<double>(stride);
    const double listed = static_cast<double>(size.k) * share / known;
    const auto fewest = static_cast<std::int64_t>(std::ceil(listed / kListedOfSegment));
    plan.parts.push_back({first_tile, stride, n_tiles, cut(n_tiles, size, fewest, fewest + kMoreSegments)});
    known = i == 0 ? share : known + share;
  }
  return plan;
}

Segments segments_of(const ScanSize& size) {
  constexpr std::int64_t kMostSegments = 256;
  return cut(size.n_tiles, size, 1, kMostSegments);
}

}  // namespace stope::knn::cuda
