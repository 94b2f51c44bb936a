// The work that GlobalCuts queues (global.hpp).
#include "discretize/cuda/global.hpp"

#include <algorithm>

#include "device/cuda/check.hpp"
#include "discretize/cuda/global.cuh"

namespace stope::discretize::cuda {

using stope::cuda::check;
using stope::cuda::check_launch;

GlobalCuts::GlobalCuts(std::int64_t n_rows)
    : n_rows_(n_rows), rows_(n_rows), host_rows_(n_rows), best_(1), host_best_(1) {}

double GlobalCuts::best(const SortedColumns& columns, const cuda_abi::RowBlocks& blocks, cuda_abi::GlobalBest* best,
                        const stope::cuda::Stream& stream) {
  const GlobalJob job = {.orders = columns.orders(),
                         .n_columns = columns.n(),
                         .n_rows = static_cast<int>(n_rows_),
                         .n_blocks = blocks.n_blocks,
                         .n_cells = blocks.n_cells,
                         .rows = rows_.data(),
                         .best = best_.data()};
  std::copy(blocks.rows, blocks.rows + n_rows_, host_rows_.data());
  check(cudaMemcpyAsync(rows_.data(), host_rows_.data(), static_cast<std::size_t>(rows_.bytes()),
                        cudaMemcpyHostToDevice, stream.get()),
        "copying blocks");
  check(cudaMemsetAsync(best_.data(), 0, sizeof *best_.data(), stream.get()), "clearing a cut");
  const std::int64_t of_warp = blocks.n_blocks + blocks.n_cells;
  const std::int64_t n_warps = std::clamp<std::int64_t>(kGlobalCounters / of_warp, 1, kMostGlobalWarps);
  const auto shared = static_cast<std::size_t>(n_warps * of_warp) * sizeof(std::uint16_t);
  const double before = watch_.seconds();
  watch_.start(stream.get());
  global_kernel<<<static_cast<unsigned>((columns.n() + n_warps - 1) / n_warps), static_cast<unsigned>(32 * n_warps),
                  shared, stream.get()>>>(job);
  check_launch("looking for the next cut");
  watch_.stop(stream.get());
  check(cudaMemcpyAsync(host_best_.data(), best_.data(), sizeof *best_.data(), cudaMemcpyDeviceToHost, stream.get()),
        "copying a cut");
  stream.wait();
  *best = global_best_of(*host_best_.data());
  watch_.read();
  return watch_.seconds() - before;
}

}  // namespace stope::discretize::cuda
