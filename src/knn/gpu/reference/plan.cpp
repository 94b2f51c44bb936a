#include "knn/gpu/reference/plan.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "knn/measure/measure.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kDouble = sizeof(double);
// Enough blocks of pairs fill a large GPU several times over, and distances mostly stay in its L2 cache.
constexpr std::int64_t kReferenceTileQueries = 512, kTileRows = 8192;
// The host polls the cancel token between tiles. This much work takes some 10 ms for a simple measure, and 200 ms for
// pow(). A thread with work space in memory is slower by far.
constexpr std::int64_t kTermsPerTile = std::int64_t{1} << 34, kTermsPerTileWithScratch = std::int64_t{1} << 31;
constexpr std::int64_t kScratchThreads = std::int64_t{1} << 16, kLeastScratchThreads = 32;
constexpr std::int64_t kMostPairs = std::int64_t{1} << 30;  // the plug-in counts the survivors of a query in 32 bits
// Sizes of the pieces in which rows are copied: long enough to hide the cost of a call. Four of them and the survivors
// of two full tiles, all pinned, fit the quarter of the host's budget that make_plan leaves them.
constexpr std::int64_t kMostPiece = std::int64_t{8} << 20, kLeastPiece = 4096;

// A pair of a tile has its distance, and in each slot room for a survivor (a distance and a row).
constexpr std::int64_t kBytesPerPair = kDouble + cuda_abi::kSlots * (kDouble + 4);
constexpr std::int64_t kBytesPerTileQuery = cuda_abi::kSlots * (2 * kDouble + 4 + 8);

std::int64_t half(std::int64_t n) {
  return (n + 1) / 2;
}

std::int64_t row_bytes(const cuda_abi::Sizes& sizes) {
  return checked::mul(sizes.width, kDouble);
}

// Bytes of everything but the training rows.
std::int64_t fixed_bytes(const GpuDemand& demand, const cuda_abi::Sizes& sizes) {
  const std::int64_t pairs = checked::mul(checked::mul(sizes.tile_queries, sizes.tile_rows), kBytesPerPair);
  const std::int64_t queries =
      checked::add(checked::mul(sizes.held_queries, row_bytes(sizes)), sizes.tile_queries * kBytesPerTileQuery);
  const std::int64_t measure =
      checked::add(checked::mul(demand.n_storage, kDouble), checked::mul(demand.width, sizeof(Attribute)));
  const std::int64_t scratch = checked::mul(checked::mul(sizes.scratch_threads, sizes.scratch_doubles), kDouble);
  return checked::add(checked::add(pairs, queries), checked::add(measure, scratch));
}

// Holds as many training rows as the rest of the budget allows: all of them once, or some of them twice.
bool hold_rows(const GpuDemand& demand, std::int64_t left, cuda_abi::Sizes& sizes) {
  if (demand.lent_rows) {
    sizes.n_buffers = 1;
    sizes.held_rows = demand.n_rows;
    return left >= 0;
  }
  const std::int64_t most = std::max<std::int64_t>(
      1, demand.most_held_rows > 0 ? std::min(demand.most_held_rows, demand.n_rows) : demand.n_rows);
  const std::int64_t affordable = std::max<std::int64_t>(left, 0) / row_bytes(sizes);
  sizes.n_buffers = most >= demand.n_rows && affordable >= most ? 1 : 2;
  sizes.held_rows = std::min(most, affordable / sizes.n_buffers);
  // With fewer rows than a tile has, the GPU would be idle between copies: smaller tiles are the better choice.
  return sizes.held_rows >= std::min(sizes.tile_rows, most);
}

cuda_abi::Sizes first_sizes(const GpuDemand& demand, std::int64_t budget) {
  cuda_abi::Sizes sizes{};
  sizes.width = demand.width;
  sizes.lent_rows = demand.lent_rows ? 1 : 0;
  sizes.piece_bytes = std::clamp<std::int64_t>(budget / 64, kLeastPiece, kMostPiece);
  const auto clamp = [](std::int64_t wanted, std::int64_t forced, std::int64_t there) {
    return std::clamp<std::int64_t>(forced > 0 ? forced : wanted, 1, std::max<std::int64_t>(there, 1));
  };
  sizes.tile_queries = clamp(kReferenceTileQueries, demand.most_tile_queries, demand.n_queries);
  // Rows that nobody copies are there at once, so that a few queries may have longer tiles of as many pairs.
  const std::int64_t growth = demand.lent_rows ? kReferenceTileQueries / sizes.tile_queries : 1;
  sizes.tile_rows = clamp(std::max<std::int64_t>(growth, 1) * kTileRows, demand.most_tile_rows, demand.n_rows);
  sizes.held_queries = std::max<std::int64_t>(demand.n_queries, 1);
  sizes.scratch_doubles = demand.scratch_doubles;
  sizes.scratch_threads = demand.scratch_doubles > 0 ? kScratchThreads : 0;
  const std::int64_t terms = demand.scratch_doubles > 0 ? kTermsPerTileWithScratch : kTermsPerTile;
  const std::int64_t pairs =
      std::clamp<std::int64_t>(terms / std::max<std::int64_t>(demand.terms_per_pair, 1), 1, kMostPairs);
  while (sizes.tile_rows > pairs / sizes.tile_queries) {
    std::int64_t& longer = sizes.tile_rows >= sizes.tile_queries ? sizes.tile_rows : sizes.tile_queries;
    if (longer == 1) break;
    longer = half(longer);
  }
  return sizes;
}

}  // namespace

std::int64_t gpu_budget(std::int64_t free, std::int64_t memory_limit) {
  // A billion rows of 8 columns take 136 of the 150 GB that an H200 has free
  // (bench/results/knn_gpu_billion_nvidia-h200_2026-11-28.json).
  constexpr std::int64_t kEnoughForOthers = std::int64_t{8} << 30;
  const std::int64_t most = free - std::min(free / 5, kEnoughForOthers);
  return memory_limit > 0 ? std::min(memory_limit, most) : most;
}

GpuPlan plan_gpu(const GpuDemand& demand, std::int64_t budget) {
  GpuPlan plan;
  cuda_abi::Sizes& sizes = plan.sizes;
  sizes = first_sizes(demand, budget);
  // Whatever takes more than a quarter shrinks first. Then everything shrinks, until the training rows fit as well.
  for (std::int64_t share = budget / 4;; share /= 2) {
    const auto shrink = [share](std::int64_t& count, std::int64_t least, std::int64_t bytes) {
      while (count > least && checked::mul(count, bytes) > share) count = half(count);
    };
    shrink(sizes.scratch_threads, kLeastScratchThreads, checked::mul(sizes.scratch_doubles, kDouble));
    shrink(sizes.tile_rows, std::min<std::int64_t>(sizes.tile_rows, 256), sizes.tile_queries * kBytesPerPair);
    shrink(sizes.tile_queries, 1, sizes.tile_rows * kBytesPerPair + kBytesPerTileQuery);
    shrink(sizes.tile_rows, 1, sizes.tile_queries * kBytesPerPair);
    shrink(sizes.held_queries, 1, row_bytes(sizes));
    sizes.tile_queries = std::min(sizes.tile_queries, sizes.held_queries);
    const std::int64_t fixed = fixed_bytes(demand, sizes);
    if (hold_rows(demand, budget - fixed, sizes)) {
      const std::int64_t rows = demand.lent_rows ? 0 : checked::mul(sizes.n_buffers, sizes.held_rows);
      plan.bytes = checked::add(fixed, checked::mul(rows, row_bytes(sizes)));
      return plan;
    }
    if (share == 0) {
      throw Error(ErrorCode::out_of_memory,
                  "one pair of rows needs " + std::to_string(checked::add(fixed, 2 * row_bytes(sizes))) +
                      " bytes on the GPU, the memory limit there is " + std::to_string(budget));
    }
  }
}

}  // namespace stope::knn
