// Rows that a GPU has already, and neighbour lists that stay there: for programs that use CUDA themselves. Streams are
// passed as `void*`, so that no CUDA header is needed: a cudaStream_t or CUstream, null for the default stream.
//
//   KnnIndex::fit(const DeviceMatrix&)          an index of rows in a GPU's memory
//   KnnIndex::kneighbors(const DeviceMatrix&)   their lists, written to a GPU's memory
//
// What is where: fit() copies the rows to the host, where an index has them (it serves every device, and is searched
// from there where a GPU's filter cannot answer), and reads them before it returns. kneighbors() reads query rows where
// they are and writes lists where they shall be, when the index's table fits that GPU and the measure has a tensor
// filter (euclidean, sqeuclidean, mixed-euclidean, heom, cosine); nothing then crosses the bus but some numbers a batch
// and the few queries that the filter cannot certify. Else rows are copied to the host and lists back. The answer is
// the same bit for bit, and SearchReport::method says which it was: ", on the GPU" is added where rows and lists stayed
// there.
//
// Order: both calls wait, on the GPU, for what the caller's stream has queued before the call, so that rows may come
// from a kernel and a list's memory may still be read by one. They return when they are through with rows and lists:
// work that is queued afterwards, in any stream, sees the lists, and the memory may be freed. They do not wait for
// other streams.
//
// Threads: several threads may search one index at once, each with a stream and memory of its own.
//
// Errors: invalid_argument for shapes that do not fit and for memory or a stream that is not the GPU's;
// device_unavailable, with the reason, where CUDA is off; device_lost where the GPU was lost meanwhile: then the lists
// are in no known state. RunOptions::device: auto takes the matrix's GPU, cuda:N must name it, cpu searches on the
// processor after a copy.
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
  int gpu = 0;                  ///< as GpuInfo::index
  void* stream = nullptr;       ///< of that GPU
};

/// Memory of the same GPU for n_rows x n_neighbors entries each, row-major, nearest first.
struct DeviceNeighbors {
  std::int64_t* indices = nullptr;  ///< training rows
  double* distances = nullptr;
};

}  // namespace stope
