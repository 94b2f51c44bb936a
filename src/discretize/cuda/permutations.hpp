// Tries permutations of the labels on columns: under how many of them a column has a cut worth as much as its own best
// one, and the highest W that each permutation gives any column.
//
// A column is walked in the order of its values. That order becomes steps, one per row: the row, and whether a cut can
// follow it. All permutations share them. Only the labels of the rows differ.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/job.hpp"
#include "discretize/cuda/long_level.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

class Permutations {
 public:
  /// Works in the default stream.
  Permutations(const cuda_abi::Decisions& decisions, std::int64_t most_columns);

  /// Makes the stream wait until the last piece is done, because the next one takes its memory.
  void hold(const stope::cuda::Stream& stream) const { done_.hold(stream); }
  /// Queues the making of steps: from the values of columns of at most kShortRows rows, or from sorted columns.
  /// T: float, double.
  template <class T>
  void order(const Columns<T>& columns, const stope::cuda::Stream& stream);
  void order(const LongOrders& orders, std::int64_t n_columns, const stope::cuda::Stream& stream);
  /// Queues the trial of all permutations. `w`: what each column's best cut is worth. as_good[column] is filled in.
  void test(std::int64_t n_columns, const std::int64_t* w, const std::int64_t* totals, std::int32_t* as_good,
            const stope::cuda::Stream& stream);
  /// Copies the highest W of each permutation. All streams must have been waited for.
  void highest(std::int32_t* to) const;

 private:
  std::int64_t n_rows_, n_permutations_, stride_;
  int n_classes_;
  stope::cuda::DeviceBuffer<std::uint8_t> labels_;
  stope::cuda::DeviceBuffer<std::uint32_t> steps_;
  stope::cuda::DeviceBuffer<std::int32_t> highest_;
  stope::cuda::Event done_;
};

}  // namespace stope::discretize::cuda
