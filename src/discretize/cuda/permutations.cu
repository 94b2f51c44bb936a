// The work that Permutations queues (permutations.hpp).
#include "discretize/cuda/permutations.hpp"

#include <algorithm>

#include "device/cuda/check.hpp"
#include "discretize/cuda/column_steps.cuh"
#include "discretize/cuda/permuted_columns.cuh"
#include "discretize/permuted_memory.hpp"

namespace stope::discretize::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;

// A warp's columns one after the other, in each piece: enough that a permutation's highest W is seldom written, few
// enough that no GPU waits for its last blocks.
constexpr std::int64_t kColumnsOfWarp = 4;
constexpr std::int64_t kSharedWords = (std::int64_t{48} << 10) / 4;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

unsigned blocks_for(std::int64_t n_threads, int of_block) {
  return static_cast<unsigned>(ceil_div(n_threads, of_block));
}

// What a row of bytes takes.
std::int64_t label_stride(std::int64_t n_permutations) {
  return ceil_div(n_permutations, 32) * 32;
}

}  // namespace

Permutations::Permutations(const cuda_abi::Decisions& decisions, std::int64_t most_columns)
    : n_rows_(decisions.n_rows),
      n_permutations_(decisions.n_permutations),
      stride_(step_stride(decisions.n_rows)),
      n_classes_(decisions.n_classes),
      labels_(packed_label_bytes(n_rows_, n_classes_, n_permutations_)),
      steps_(checked::mul(stride_, most_columns)),
      highest_(n_permutations_) {
  constexpr int kThreads = 32 * kPermutedWarps;
  const stope::cuda::DeviceBuffer<std::uint8_t> classes(checked::mul(n_rows_, n_permutations_));
  check(
      cudaMemcpy(classes.data(), decisions.permuted, static_cast<std::size_t>(classes.bytes()), cudaMemcpyHostToDevice),
      "copying permutations");
  check(cudaMemset(highest_.data(), 0, static_cast<std::size_t>(highest_.bytes())), "clearing permutations");
  if (n_classes_ == 2) {
    const std::int64_t n_words = labels_.size() / 4;
    pack_two_kernel<<<blocks_for(n_words, kThreads), kThreads>>>(
        classes.data(), n_rows_, n_permutations_, reinterpret_cast<std::uint32_t*>(labels_.data()), n_words);
  } else {
    const std::int64_t stride = label_stride(n_permutations_);
    pack_many_kernel<<<blocks_for(n_rows_ * stride, kThreads), kThreads>>>(classes.data(), n_rows_, n_permutations_,
                                                                           labels_.data(), stride);
  }
  check_launch("packing permutations");
  check(cudaStreamSynchronize(nullptr), "packing permutations");  // `classes` goes
}

template <class T>
void Permutations::order(const Columns<T>& columns, const stope::cuda::Stream& stream) {
  short_steps_kernel<T>
      <<<static_cast<unsigned>(columns.n_columns), kStepThreads, 0, stream.get()>>>(columns, {steps_.data(), stride_});
  check_launch("ordering columns");
}
template void Permutations::order<float>(const Columns<float>&, const stope::cuda::Stream&);
template void Permutations::order<double>(const Columns<double>&, const stope::cuda::Stream&);

void Permutations::order(const LongOrders& orders, std::int64_t n_columns, const stope::cuda::Stream& stream) {
  long_steps_kernel<<<blocks_for(n_columns * stride_, kStepThreads), kStepThreads, 0, stream.get()>>>(
      orders, n_rows_, n_columns, {steps_.data(), stride_});
  check_launch("ordering columns");
}

void Permutations::test(std::int64_t n_columns, const std::int64_t* w, const std::int64_t* totals,
                        std::int32_t* as_good, const stope::cuda::Stream& stream) {
  check(cudaMemsetAsync(as_good, 0, static_cast<std::size_t>(n_columns) * sizeof *as_good, stream.get()),
        "clearing counts");
  const PermutedJob job = {.steps = reinterpret_cast<const uint4*>(steps_.data()),
                           .n_fours = stride_ / 4,
                           .n_columns = n_columns,
                           .w = w,
                           .as_good = as_good,
                           .highest = highest_.data(),
                           .n_permutations = n_permutations_,
                           .n_rows = n_rows_,
                           .totals = totals,
                           .n_classes = n_classes_,
                           .labels = labels_.data(),
                           .label_stride = label_stride(n_permutations_)};
  const auto of_permutations = [&](std::int64_t of_block) {
    return static_cast<unsigned>(ceil_div(n_permutations_, of_block));
  };
  if (n_classes_ == 2) {
    const dim3 blocks(static_cast<unsigned>(ceil_div(n_columns, kPermutedWarps * kColumnsOfWarp)),
                      of_permutations(kPermutationsOfWarp));
    permuted_two_kernel<<<blocks, 32 * kPermutedWarps, 0, stream.get()>>>(job);
  } else {
    const std::int64_t words = std::int64_t{32} * n_classes_;
    const std::int64_t warps = std::clamp<std::int64_t>(kSharedWords / words, 1, kPermutedWarps);
    const dim3 blocks(static_cast<unsigned>(ceil_div(n_columns, warps * kColumnsOfWarp)), of_permutations(32));
    permuted_many_kernel<<<blocks, static_cast<unsigned>(32 * warps), static_cast<std::size_t>(4 * words * warps),
                           stream.get()>>>(job);
  }
  check_launch("permutations");
  check(cudaEventRecord(done_.get(), stream.get()), "marking a stream");
}

void Permutations::highest(std::int32_t* to) const {
  check(cudaMemcpy(to, highest_.data(), static_cast<std::size_t>(highest_.bytes()), cudaMemcpyDeviceToHost),
        "copying permutations");
}

}  // namespace stope::discretize::cuda
