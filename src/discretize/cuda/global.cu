// The work that GlobalCuts queues (global.hpp).
#include "discretize/cuda/global.hpp"

#include <algorithm>

#include "device/cuda/check.hpp"
#include "discretize/cuda/global.cuh"

namespace stope::discretize::cuda {

using stope::cuda::check;
using stope::cuda::check_launch;

GlobalCuts::GlobalCuts(const cuda_abi::Decisions& decisions)
    : n_rows_(decisions.n_rows), rows_(decisions.n_rows), host_rows_(decisions.n_rows), best_(1), host_best_(1) {
  if (decisions.weights == nullptr) return;
  others_ = stope::cuda::DeviceBuffer<std::int64_t>(n_rows_);
  host_others_ = stope::cuda::PinnedBuffer<std::int64_t>(n_rows_);
  best_of_column_ = stope::cuda::DeviceBuffer<cuda_abi::GlobalBest>(decisions.most_sorted + 1);
  host_best_of_all_ = stope::cuda::PinnedBuffer<cuda_abi::GlobalBest>(1);
}

double GlobalCuts::best(const SortedColumns& columns, const std::int64_t* weights, const cuda_abi::RowBlocks& blocks,
                        cuda_abi::GlobalBest* best, const stope::cuda::Stream& stream) {
  const GlobalJob job = {.orders = columns.orders(),
                         .n_columns = columns.n(),
                         .n_rows = static_cast<int>(n_rows_),
                         .n_blocks = blocks.n_blocks,
                         .n_cells = blocks.n_cells,
                         .rows = rows_.data(),
                         .weights = weights,
                         .others = others_.data(),
                         .best = best_.data(),
                         .best_of_column = best_of_column_.data()};
  const auto upload = [&](auto& to, auto& through, const auto* from) {
    std::copy(from, from + n_rows_, through.data());
    check(cudaMemcpyAsync(to.data(), through.data(), static_cast<std::size_t>(to.bytes()), cudaMemcpyHostToDevice,
                          stream.get()),
          "copying blocks");
  };
  const auto download = [&](auto* to, const auto* from) {
    check(cudaMemcpyAsync(to, from, sizeof *to, cudaMemcpyDeviceToHost, stream.get()), "copying a cut");
    stream.wait();
  };
  upload(rows_, host_rows_, blocks.rows);
  if (weights != nullptr) upload(others_, host_others_, blocks.others);
  check(cudaMemsetAsync(best_.data(), 0, sizeof *best_.data(), stream.get()), "clearing a cut");
  const std::int64_t of_warp = (blocks.n_blocks + blocks.n_cells) * (weights != nullptr ? 8 : 2);
  const std::int64_t n_warps = std::clamp<std::int64_t>(kGlobalBytes / of_warp, 1, kMostGlobalWarps);
  const auto n_blocks = static_cast<unsigned>((columns.n() + n_warps - 1) / n_warps);
  const auto n_threads = static_cast<unsigned>(32 * n_warps);
  const auto shared = static_cast<std::size_t>(n_warps * of_warp);
  const double before = watch_.seconds();
  watch_.start(stream.get());
  if (weights != nullptr) {
    weighted_global_kernel<<<n_blocks, n_threads, shared, stream.get()>>>(job);
    check_launch("looking for the next cut");
    best_column_kernel<<<1, 32 * kMostGlobalWarps, 0, stream.get()>>>(job);
  } else {
    global_kernel<<<n_blocks, n_threads, shared, stream.get()>>>(job);
  }
  check_launch("looking for the next cut");
  watch_.stop(stream.get());
  if (weights != nullptr) {
    download(host_best_of_all_.data(), best_of_column_.data() + columns.n());
    *best = *host_best_of_all_.data();
  } else {
    download(host_best_.data(), best_.data());
    *best = global_best_of(*host_best_.data());
  }
  watch_.read();
  return watch_.seconds() - before;
}

}  // namespace stope::discretize::cuda
