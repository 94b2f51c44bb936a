// The classes that have rows, numbered anew for GPUs, because absent classes would only take bits.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/problem.hpp"

namespace stope::discretize {

inline constexpr std::int64_t kMostGpuClasses = 256;
inline constexpr std::int64_t kMostGpuRows = (std::int64_t{1} << 30) - 1;

/// The number of classes that have rows.
std::int64_t n_present_classes(const DecisionProblem& problem);

/// For a problem of at most kMostGpuClasses classes with rows.
struct PresentClasses {
  std::vector<std::uint8_t> of_row;
  std::vector<std::int64_t> totals;   ///< rows, or weights, of each class
  std::vector<std::size_t> original;  ///< number of each class in the problem

  explicit PresentClasses(const DecisionProblem& problem);
  std::int64_t n_rows() const { return static_cast<std::int64_t>(of_row.size()); }
  std::int32_t n() const { return static_cast<std::int32_t>(totals.size()); }
};

}  // namespace stope::discretize
