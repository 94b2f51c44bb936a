// The first pass on the CPU: turns columns, or rows of a matrix, into one part a column.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "device/backend.hpp"
#include "stats/leaf_kernels.hpp"
#include "stats/part.hpp"
#include "stats/source.hpp"
#include "stope/buffer.hpp"

namespace stope::stats {

/// Leaves of a column that one task computes: enough to hide its own cost, few enough to keep every core busy.
inline constexpr std::int64_t kUnitLeaves = 16;
inline constexpr std::int64_t kUnitRows = kUnitLeaves * kLeafRows;

/// How a pass runs; nothing in here changes a bit.
struct PassOptions {
  const LeafKernels* kernels = nullptr;
  Wanted wanted = Wanted::moments;
  double scale = 1.0;  ///< a power of two: values are multiplied by it first
  CancelToken cancel = {};
  const RunOptions* told = nullptr;         ///< who is told of the progress; null = nobody
  const char* phase = "statistics";         ///< of the progress
  std::int64_t done_before = 0, total = 0;  ///< values, where a pass is one of several: for progress
};

/// The phase of a pass, which counts values; null where nobody is told. `total` holds where this pass is the only one.
std::unique_ptr<PhaseProgress> progress_of(const PassOptions& options, std::int64_t total);

const LeafKernels& kernels_for(device::Backend backend);

/// Returns one part per source. All sources have types of one Wide. min_row and max_row are final.
template <class Wide>
std::vector<Part<Wide>> pass_over(const std::vector<Source>& sources, const PassOptions& options, ThreadPool& pool);

/// The same for the columns of a row-major matrix: column c begins one value behind column c - 1.
template <class Wide>
std::vector<Part<Wide>> pass_over_rows(const std::vector<Source>& columns, const PassOptions& options,
                                       ThreadPool& pool);

}  // namespace stope::stats
