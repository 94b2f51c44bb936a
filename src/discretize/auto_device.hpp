// Estimates how long best cuts and sets of cuts take on the CPU and on a GPU, from measured costs. The choice changes
// no result.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/auto_gpu.hpp"
#include "discretize/column_network.hpp"
#include "discretize/problem.hpp"
#include "discretize/stage_columns.hpp"
#include "stope/discretize.hpp"

namespace stope::discretize {

// Measured: bench/discretize_gpu.py ("processor" and "call"; 16 threads with AVX-512, an H200), rounded.

/// What GPUs would cut: the numeric columns.
struct NumericColumns {
  std::int64_t n_rows = 0, n = 0, bytes = 0;

  explicit NumericColumns(const DecisionProblem& problem) : n_rows(problem.n_rows) {
    for (const AttributeForm form : problem.forms) {
      if (form == AttributeForm::codes) continue;
      ++n;
      bytes += bytes_of(form, n_rows);
    }
  }
  double values() const { return static_cast<double>(n_rows) * static_cast<double>(n); }
};

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

/// What GPUs take that sort columns as they come and then search all of them, a block of threads a column
/// (discretize/cuda_sets.hpp): `a_row` seconds a row, with as many columns at a time as an H200 has multiprocessors.
inline double gpu_search_seconds(const NumericColumns& columns, double a_row) {
  const double rounds = std::ceil(static_cast<double>(columns.n) / 132.0);
  return gpu_call_seconds(columns.bytes, columns.n_rows) + 1.5e-10 * columns.values() +
         5e-8 * static_cast<double>(columns.n) + rounds * static_cast<double>(columns.n_rows) * a_row;
}

/// Best cuts of rows with weights, on one CPU thread and on a GPU.
inline device::Offer weighted_cuts_offer(const NumericColumns& columns, Criterion criterion, std::int64_t n_classes) {
  const double of_cpu = cut_seconds(columns.n_rows, columns.n) + gain_seconds(columns.values(), criterion, n_classes);
  return {of_cpu, gpu_search_seconds(columns, criterion == Criterion::entropy ? 10e-9 : 6e-9)};
}

/// Sets of cuts by MDLP. The search of intervals costs at least two searches for gains by entropy; the host makes the
/// cuts of every column.
inline device::Offer mdlp_offer(const NumericColumns& columns, std::int64_t n_classes, bool weighted) {
  const double of_cpu =
      cut_seconds(columns.n_rows, columns.n) + 2 * gain_seconds(columns.values(), Criterion::entropy, n_classes);
  const double a_row = (weighted ? 4 : 1) * (3.5e-9 + 1.4e-9 * static_cast<double>(n_classes));
  return {of_cpu, gpu_search_seconds(columns, a_row) + 2e-7 * static_cast<double>(columns.n)};
}

/// Sets of cuts by md-global, of which nobody knows how many cuts there will be: the sort, and a first search.
inline device::Offer global_offer(const NumericColumns& columns) {
  return {100e-9 * columns.values(),
          gpu_call_seconds(columns.bytes, columns.n_rows) + 0.005 + 1.5e-9 * columns.values()};
}

}  // namespace stope::discretize
