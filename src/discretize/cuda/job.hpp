// The parameters of the kernels that look for best cuts, and their launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "discretize/cuda/gains.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

/// Columns of one type, one behind the other, in the GPU's memory.
template <class T>
struct Columns {
  const T* values;  ///< [column][row]
  std::int64_t n_rows, n_columns;
  const std::uint8_t* classes;  ///< class of each row
  const std::int64_t* totals;   ///< rows of each class
  int n_classes, class_bits;    ///< class_bits: bits that a class needs
  Gains gains;
  NodeGains all;
};

using cuda_abi::kUndecided;

/// The results of each column.
struct CutsThere {
  std::int64_t* w;  ///< the highest W, or the bits of the highest gain, or kUndecided (cuda_abi::Cut)
  double* low;      ///< the values that the lowest best cut lies between
  double* high;
};

using cuda_abi::kShortRows;

/// For up to kShortRows rows. `list` has room for n_columns + 1 numbers.
template <class T>
void find_cuts_of_short(const Columns<T>& columns, const CutsThere& cuts, int* list, cudaStream_t stream);

}  // namespace stope::discretize::cuda
