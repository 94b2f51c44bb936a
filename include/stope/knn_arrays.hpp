// Neighbours of rows in arrays, and lists in arrays: memory of the caller's, on the host or in a GPU. Streams
// (cudaStream_t or CUstream) are passed as `void*`, so that no CUDA header is needed; null is the default stream.
//
//   KnnIndex::fit(const ArrayView&)                         an index of an array's rows
//   KnnIndex::kneighbors(array, ..., const NeighborArrays&)  their lists, written to the caller's memory
//   KnnClassifier::predict(array), KnnRegressor::predict(array)
//   KnnClassifier::predict(array, ..., const PredictionArrays&)  the predictions, written to the caller's memory
//
// What may be lent when (docs/adr/0021-lent-memory.md):
//   Query rows   Any search reads them only until it returns. Afterwards the memory may change or go.
//   fit(array)   Without an owner, the rows are read before fit() returns. With an owner, a float64 array in C order
//                without gaps becomes the index's rows where it lies: it costs no memory, is kept as long as the index,
//                and nobody may write to it. Everything else is converted: 8 bytes a value.
//   fit(table)   Features are encoded: 8 bytes a value, and the table's columns are not kept. Columns that are no
//                features, and all columns of a table larger than the memory limit, are shared if their buffers have
//                an owner (Buffer::borrow with keep_alive), else copied.
//   What is shared must not change. An index sums the rows that it shares up when it is fitted, and again when a
//   search makes images of them; every search compares a few rows. A change that this shows is an error
//   (invalid_argument).
//
// GPUs: an index serves every device, and the CPU answers from its rows where a GPU's filter cannot. fit() has read a
// GPU's rows when it returns. An index of float32 or float64 rows in a GPU, all of them compared, keeps them there in
// doubles, where the measure takes any number and the GPU has room. The tensor filter on that GPU makes its images of
// them, and the reference there compares them. They are copied to the host once, when something first needs them there:
// a search on the CPU or another GPU, by the difference filter or through boxes, rows(), train(), release_devices().
// Any other index has its rows on the host.
//
// kneighbors() reads queries and writes lists in place if both lie in one GPU, the queries are float32 or float64 rows,
// the index's table fits that GPU and the measure has a tensor filter (euclidean, sqeuclidean, mixed-euclidean, heom,
// cosine). Only a few numbers per batch, and the few queries that the filter cannot certify, then cross the bus.
// Otherwise rows are copied to the host and lists back. The answer is the same bit for bit. SearchReport::method ends
// with ", on the GPU" where rows and lists stayed there. predict() with PredictionArrays in that GPU does the same: the
// GPU votes, and neither rows nor lists nor predictions cross the bus. Labels of more than 127 classes are voted on the
// host.
//
// Order: a call waits, on the GPU, for what the caller's stream has queued before the call. So a kernel may still be
// writing the rows, or reading the memory of the lists. It returns when it needs rows and lists no longer: work that is
// queued afterwards, in any stream, sees the lists, and the memory may be freed. It does not wait for other streams.
//
// Threads: several threads may search one index at once, each with a stream and memory of its own.
//
// Errors, in addition to those of every job that takes an array: invalid_argument for memory or a stream that is not
// the GPU's; unsupported for an int64 beyond 2^53, which has no exact float64, and for an array in a GPU whose rows are
// not contiguous; device_unavailable, with the reason, where CUDA is off; device_lost if the GPU was lost during the
// call: then the lists are in no known state. RunOptions::device: auto takes the queries' GPU, cuda:N must name it, cpu
// copies the rows and searches on the CPU.
#pragma once

#include <cstdint>

#include "stope/array.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// Memory for the lists of all query rows: two arrays of n_queries x n_neighbors entries, row-major, nearest first. The
/// rest of a list that is shorter is index -1 and distance NaN.
struct NeighborArrays {
  std::int64_t* indices = nullptr;  ///< training rows
  double* distances = nullptr;
  int gpu = -1;            ///< -1: both in the host's memory, else in that of this GPU
  void* stream = nullptr;  ///< a stream of that GPU
};

/// Memory for the predictions of all query rows, row-major.
struct PredictionArrays {
  std::int32_t* codes = nullptr;  ///< a class per query, or kMissingCode (stope/vote.hpp); a regressor writes none
  /// A regressor's means; a classifier's confidences, one per query and class, under Confidences::all alone.
  double* values = nullptr;
  int gpu = -1;            ///< -1: all in the host's memory, else in that of this GPU
  void* stream = nullptr;  ///< a stream of that GPU
};

/// The rows to search for: those of a table, those of an array, or the training rows themselves. It refers to the table
/// or array, which a search reads where it lies.
class QueryRows {
 public:
  /// The columns are matched by name with the training table's, nominal values by the names of values.
  QueryRows(const Table& table) : table_(&table) {}
  /// The columns are the training table's features, in their order; all are numeric.
  QueryRows(const ArrayView& array) : array_(&array) {}
  /// Row i is training row i.
  static QueryRows of_training() { return {}; }

  const Table* table() const { return table_; }      ///< or null
  const ArrayView* array() const { return array_; }  ///< or null

 private:
  QueryRows() = default;
  const Table* table_ = nullptr;
  const ArrayView* array_ = nullptr;
};

}  // namespace stope
#pragma GCC visibility pop
