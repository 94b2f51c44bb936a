// What the CUDA plug-in does for statistics: it turns values, in the host's memory or a GPU's, into one part a column.
// device/cuda_abi.hpp says what may cross this border.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"
#include "stats/part.hpp"

namespace stope::stats::cuda_abi {

using stope::cuda_abi::Failure;

enum class Type : std::int32_t { float32, float64, int32, int64 };

/// Rows of a matrix, the first of which begins a leaf. One of the strides is 1, or there is one column.
struct Values {
  const void* data;
  Type type;
  std::int32_t moments;  ///< 0: only extremes and counts
  std::int64_t n_rows, n_columns, row_stride, column_stride;
  double scale;  ///< values of type float64 are multiplied by it first
};

inline constexpr int kSlots = 2;

/// Pieces of a job that come from the host's memory: while one is computed, the next is copied.
struct Session;

struct Functions {
  /// Makes a session for pieces of at most that many bytes and columns. `memory` is set to the bytes it takes on the
  /// GPU.
  int (*create)(std::int32_t gpu, std::int64_t piece_bytes, std::int64_t n_columns, Session** session,
                Failure* failure);
  void (*destroy)(Session* session);
  /// Queues a piece in a free slot. On return the values may change.
  int (*submit)(Session* session, int slot, const Values* values, Failure* failure);
  /// Waits for a slot's piece. `parts` gets a Part<double> (integers: Part<int64>) for every column. Its rows are
  /// counted from the first of the piece.
  int (*collect)(Session* session, int slot, void* parts, Failure* failure);
  /// Computes values in that GPU's memory, after what the stream (a cudaStream_t) has queued, and waits for the result.
  /// `milliseconds`: how long the GPU worked.
  int (*describe)(std::int32_t gpu, void* stream, const Values* values, void* parts, float* milliseconds,
                  Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.stats,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::stats::cuda_abi
