// What the CUDA plug-in does for statistics: it reduces values, in host memory or on a GPU, to one part a column.
// device/cuda_abi.hpp says what may cross this border.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"
#include "stats/part.hpp"

namespace stope::stats::cuda_abi {

using stope::cuda_abi::Failure;

enum class Type : std::int32_t { float32, float64, int32, int64 };

/// Rows of a matrix. The first row begins a leaf. One of the strides is 1, or there is one column.
struct Values {
  const void* data;
  Type type;
  std::int32_t moments;  ///< 0: only extremes and counts are wanted
  std::int64_t n_rows, n_columns, row_stride, column_stride;
  double scale;  ///< for float64: values are multiplied by it first
};

inline constexpr int kSlots = 2;

/// The pieces of a job that come from host memory. While one is computed, the next is copied.
struct Session;

struct Functions {
  /// Takes pieces of at most `piece_bytes` bytes and `n_columns` columns.
  int (*create)(std::int32_t gpu, std::int64_t piece_bytes, std::int64_t n_columns, Session** session,
                Failure* failure);
  void (*destroy)(Session* session);
  /// Queues a piece in a free slot. The values may change after the return.
  int (*submit)(Session* session, int slot, const Values* values, Failure* failure);
  /// Waits for a slot's piece. `parts` gets a part for every column, rows counted from the piece's first: Part<double>,
  /// or Part<int64> for integers.
  int (*collect)(Session* session, int slot, void* parts, Failure* failure);
  /// Describes values that lie in that GPU's memory, after what the stream (a cudaStream_t) has queued, and waits.
  /// `milliseconds` is the time of the GPU's work.
  int (*describe)(std::int32_t gpu, void* stream, const Values* values, void* parts, float* milliseconds,
                  Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.stats,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::stats::cuda_abi
