// What kernels need to know of a criterion: which it is, a table of information(), and what all rows of a node have.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

struct Gains {
  cuda_abi::Score score;
  const double* information;  ///< information() of 0 ... all rows, in the GPU's memory; null: it is computed
};

/// What all rows of a node have.
struct NodeGains {
  std::int64_t n_rows;
  std::int64_t squares;  ///< sum of squared class counts
  double entropy;        ///< total_entropy() of the class counts
};

class GainMemory {
 public:
  /// Queues the making of the table in the default stream.
  GainMemory(cuda_abi::Score score, std::int64_t n_rows);
  Gains there() const { return {score_, information_.size() == 0 ? nullptr : information_.data()}; }

 private:
  cuda_abi::Score score_;
  stope::cuda::DeviceBuffer<double> information_;
};

/// Computed on the host.
NodeGains gains_of_all(const cuda_abi::Decisions& decisions);

}  // namespace stope::discretize::cuda
