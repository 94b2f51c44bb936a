// What kernels need to know of a criterion: which it is, what all rows together have, and a table of information().
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

/// What all rows of one node have. Without gains, only `score` has a meaning.
struct Gains {
  cuda_abi::Score score;
  std::int64_t n_rows;
  std::int64_t squares;       ///< sum of squared class counts
  double entropy;             ///< total_entropy() of the class counts
  const double* information;  ///< information() of 0 ... n_rows in the GPU's memory; null: it is computed
};

class GainMemory {
 public:
  /// Queues the making of the table in the default stream.
  explicit GainMemory(const cuda_abi::Decisions& decisions);
  const Gains& there() const { return gains_; }

 private:
  Gains gains_;
  stope::cuda::DeviceBuffer<double> information_;
};

}  // namespace stope::discretize::cuda
