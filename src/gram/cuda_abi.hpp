// The border between the gram operator and the CUDA plug-in. A session holds some groups of a matrix's rows on one GPU.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"
#include "gram/shape.hpp"

namespace stope::gram::cuda_abi {

using stope::cuda_abi::Failure;

struct Session;

/// Columns of a group's sums that are added at a time.
inline constexpr std::int64_t kStripColumns = 16;

/// Narrow rows: several are multiplied at once.
inline constexpr std::int64_t kMostNarrowColumns = 256;

/// Room that a session takes for the sums of a group: whole leaves, or whole strips where rows are narrow, so that
/// their sums are few.
STOPE_HD constexpr std::int64_t sum_columns(std::int64_t n_columns) {
  if (n_columns > kMostNarrowColumns) return padded_columns(n_columns);
  return (n_columns + kStripColumns - 1) / kStripColumns * kStripColumns;
}

/// Room that a session takes for the messages between blocks of threads.
inline constexpr std::int64_t kMessageBytes = std::int64_t{1} << 20;

/// The part of a matrix that a session works on. Rows are numbered as in the whole matrix.
struct Spec {
  std::int64_t n_rows, n_columns;       ///< the whole matrix: decides the shape of the sums (gram/shape.hpp)
  std::int64_t first_group, end_group;  ///< the session's groups of rows
  std::int64_t element_bytes;           ///< 4: float32, 8: float64
  std::int64_t row_stride;  ///< elements, in what load() gets; a multiple of 16 bytes, zeros behind the last column
  std::int64_t held_rows;   ///< rows that one buffer holds
  std::int64_t n_buffers;
  std::int64_t block_groups;  ///< groups whose sums finish() adds up; a power of two
  std::int64_t most_vectors;
  const double* shift;  ///< n_columns numbers, or null
};

inline constexpr int kSlots = 2;  ///< places in pinned memory that rows are loaded from

/// What a pass computes: y = A x, z = A^T y, or z = A^T (A x).
enum class Mode : std::int32_t { multiply, transposed, gram };

struct Job {
  Mode mode;
  std::int64_t n_vectors;  ///< 1 unless mode is gram
  const double* x;         ///< n_vectors times n_columns; null for transposed
  const double* y;         ///< transposed only: one number per row of the session
};

struct Functions {
  int (*create)(std::int32_t gpu, const Spec* spec, Session** session, Failure* failure);
  void (*destroy)(Session* session);
  /// Queues a copy of n rows from pinned memory to the rows [at, at + n) of a buffer. What run() still does with the
  /// buffer comes first. The pinned memory belongs to `slot` and must stay until wait() returns.
  int (*load)(Session* session, std::int32_t buffer, std::int32_t slot, const void* rows, std::int64_t at,
              std::int64_t n, Failure* failure);
  int (*wait)(Session* session, std::int32_t slot, Failure* failure);
  int (*begin)(Session* session, const Job* job, Failure* failure);
  /// Queues the work on the rows [first, first + n), which lie at the beginning of a buffer. Rows come in order.
  int (*run)(Session* session, std::int32_t buffer, std::int64_t first, std::int64_t n, Failure* failure);
  /// Waits for all of it. multiply writes y of the session's rows. The other modes write sums: [vector][block][padded
  /// column], where padded_columns() of shape.hpp counts the columns.
  int (*finish)(Session* session, double* y, double* sums, Failure* failure);
  /// Does begin, run and finish for all of the session's rows, which are in buffer 0. The first call records them as a
  /// graph. Only for gram with one vector.
  int (*replay)(Session* session, const double* x, double* sums, Failure* failure);
  /// For benchmarks: milliseconds that one gram pass takes on average when `repeats` passes run back to back. The rows
  /// and the last x are on the GPU, and the sums stay there.
  int (*measure)(Session* session, std::int32_t repeats, float* milliseconds, Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.gram,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::gram::cuda_abi
