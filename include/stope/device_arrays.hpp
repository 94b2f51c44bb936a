// Rows that are already in a GPU's memory, and neighbour lists that stay there: for programs that use CUDA themselves.
// Streams (cudaStream_t or CUstream) are passed as `void*`, so that no CUDA header is needed; null is the default
// stream.
//
//   KnnIndex::fit(const DeviceMatrix&)          an index of rows in a GPU's memory
//   KnnIndex::kneighbors(const DeviceMatrix&)   their lists, written to a GPU's memory
//
// What is where: fit() copies the rows to the host and has read them all when it returns. An index keeps its rows on
// the host: it serves every device, and the CPU answers from them where a GPU's filter cannot. kneighbors() reads
// queries and writes lists in place if the index's table fits that GPU and the measure has a tensor filter (euclidean,
// sqeuclidean, mixed-euclidean, heom, cosine). Only a few numbers per batch, and the few queries that the filter cannot
// certify, then cross the bus. Otherwise rows are copied to the host and lists back. The answer is the same bit for
// bit. SearchReport::method ends with ", on the GPU" where rows and lists stayed there.
//
// Order: both calls wait, on the GPU, for what the caller's stream has queued before the call. So a kernel may still be
// writing the rows, or reading the memory of the lists. Both calls return when they need rows and lists no longer: work
// that is queued afterwards, in any stream, sees the lists, and the memory may be freed. They do not wait for other
// streams.
//
// Threads: several threads may search one index at once, each with a stream and memory of its own.
//
// Errors: invalid_argument for shapes that do not fit and for memory or a stream that is not the GPU's;
// device_unavailable, with the reason, where CUDA is off; device_lost if the GPU was lost during the call: then the
// lists are in no known state. RunOptions::device: auto takes the matrix's GPU, cuda:N must name it, cpu copies the
// rows and searches on the CPU.
#pragma once

#include <cstdint>

namespace stope {

enum class FloatType { float32, float64 };

/// A row-major matrix in a GPU's memory (cudaMalloc, or any that the GPU owns). Missing = NaN. float32 values are
/// converted, not rounded.
struct DeviceMatrix {
  const void* data = nullptr;
  FloatType type = FloatType::float64;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::int64_t row_stride = 0;  ///< values from one row to the next, at least n_columns; 0 = n_columns
  int gpu = 0;                  ///< its number, as in GpuInfo::index
  void* stream = nullptr;       ///< a stream of that GPU
};

/// Memory of the same GPU: two arrays of n_rows x n_neighbors entries, row-major, nearest first.
struct DeviceNeighbors {
  std::int64_t* indices = nullptr;  ///< training rows
  double* distances = nullptr;
};

}  // namespace stope
