// What the filters on GPUs did in a search, and how long each step took.
#pragma once

#include <array>
#include <cstdint>

#include "knn/cuda_abi.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// The sum over the answers of all batches on all GPUs.
struct FilterWork {
  std::int64_t scanned = 0, skipped = 0, listed = 0, evaluated = 0;  ///< pairs
  std::int64_t opened = 0;                                           ///< groups of boxes
  std::array<double, cuda_abi::kFilterSteps> seconds = {};           ///< per FilterStep

  void add(const cuda_abi::FilterAnswer& answer);
  void add(const FilterWork& other);
  /// Adds this work to a report. The filter times the steps from `first` to `last`.
  void report(cuda_abi::FilterStep first, cuda_abi::FilterStep last, SearchReport& report) const;
};

}  // namespace stope::knn
