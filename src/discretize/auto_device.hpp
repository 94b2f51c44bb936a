// Estimates how long best cuts take on the CPU and on a GPU, from measured costs. The choice changes no result.
#pragma once

#include <cmath>
#include <cstdint>

#include "discretize/column_network.hpp"
#include "stope/discretize.hpp"

namespace stope::discretize {

// Measured: bench/discretize_gpu.py ("processor" and "call"; 16 threads with AVX-512, an H200), rounded.

/// Seconds that one CPU thread takes to sort and score the values of columns. Short columns are sorted in registers,
/// several at a time.
inline double cut_seconds(std::int64_t n_rows, std::int64_t n_columns) {
  const auto rows = static_cast<double>(n_rows);
  return (n_rows <= kNetworkRows ? 1.05e-9 : 2e-9) * std::log2(rows) * rows * static_cast<double>(n_columns);
}

/// Seconds that one CPU thread takes to try permutations: a trial is one row of one column under one permutation. Up
/// to kMostPermutedClasses are tried in vectors, a class at a time.
inline double trial_seconds(double trials, std::int64_t n_classes) {
  return trials * (n_classes <= kMostPermutedClasses ? 0.19e-9 * static_cast<double>(n_classes) : 4e-9);
}
/// The same on a GPU, without the call.
inline double gpu_trial_seconds(double trials, std::int64_t n_classes) {
  return trials * (n_classes == 2 ? 0.52e-12 : 0.95e-12);
}

/// What gains take besides, for `values` values, on one CPU thread and on a GPU.
inline double gain_seconds(double values, Criterion criterion, std::int64_t n_classes) {
  if (criterion == Criterion::discernibility) return 0.0;
  return values * (criterion == Criterion::gini ? 17e-9 : 14e-9 + 3.5e-9 * static_cast<double>(n_classes));
}
inline double gpu_gain_seconds(double values, Criterion criterion, std::int64_t n_classes) {
  if (criterion == Criterion::discernibility) return 0.0;
  return values * (criterion == Criterion::gini ? 3.5e-11 : 3e-11 + 3e-12 * static_cast<double>(n_classes));
}

/// GPU costs of a call whose memory is kept (device/kept_memory.hpp). kGpuCallSeconds: seconds besides the copy.
/// kGpuCopyRate: bytes a second through pinned memory. More of that than kKeptPinned is pinned anew by every call, at
/// kPinnedRate bytes a second, for two columns.
inline constexpr double kGpuCallSeconds = 0.001, kGpuCopyRate = 17e9, kPinnedRate = 1.5e9;
inline constexpr std::int64_t kKeptPinned = std::int64_t{64} << 20;

inline double gpu_call_seconds(std::int64_t bytes, std::int64_t n_rows) {
  const std::int64_t pinned = 16 * n_rows;
  return kGpuCallSeconds + static_cast<double>(bytes) / kGpuCopyRate +
         (pinned > kKeptPinned ? static_cast<double>(pinned) / kPinnedRate : 0.0);
}

}  // namespace stope::discretize
