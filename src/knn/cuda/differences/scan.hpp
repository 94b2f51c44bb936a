// The scans of the difference filter: sums over images, for all pairs of a batch of queries and training rows. On a
// sample of the rows a scan finds the best of every group. On all rows it lists what a cut does not rule out.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/host_device.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/measure/form.hpp"

namespace stope::knn::cuda {

inline constexpr int kPairTile = 128;  ///< queries, and also training rows, of a tile

/// Lines of an image come in pairs (scan_loop.cuh). A spare line is filled with zeros.
STOPE_HD constexpr int even_lines(int n) {
  return (n + 1) / 2 * 2;
}

/// Training rows that are not neighbours of a query of the batch.
struct Exclusions {
  std::int64_t self;                 ///< query i is training row self + i; negative: no query is
  const std::int64_t* train_groups;  ///< per training row, or null
  const std::int64_t* query_groups;  ///< per query

#if defined(__CUDACC__)
  __device__ bool exclude(std::int64_t query, std::int64_t row) const {
    if (self >= 0 && row == self + query) return true;
    if (train_groups == nullptr || query_groups[query] == cuda_abi::kExcludesNothing) return false;
    return query_groups[query] == train_groups[row];
  }
#endif
};

/// Decides what is listed for a query: rows whose sum is at most alpha * divisor + beta. Without a divisor alpha is 0.
struct SumCut {
  float alpha, beta;
};

struct Entry {
  float sum, divisor;
  std::int32_t row;
};

/// Query i has entries[i * capacity + j], in no order. If its count exceeds the capacity, entries were lost.
struct EntryLists {
  const SumCut* cuts;
  Entry* entries;
  std::int32_t* counts;  ///< must be 0 before
  std::int32_t capacity;
};

/// The best row of each group of sample rows: scores[query * n_groups + group] is its sum or quotient. Infinity means
/// that the group has no row.
struct GroupBests {
  float* scores;
  std::int32_t* rows;
  std::int64_t n_groups;  ///< 16 a segment
};

/// Tiles first_tile + 0, stride, 2 * stride ... of the training rows (n_tiles of them), cut into segments for the
/// blocks of threads of the grid.
struct ScanTiles {
  std::int64_t n_queries;
  std::int64_t n_tiles, stride, tiles_per_segment;
  std::int64_t first_tile = 0;
};

/// Images in floats (pair_place), NaN where a value is missing. A sum starts at its row's start: 0, or infinity if the
/// scan must not see the row.
struct DifferenceScan {
  FilterForm form;
  bool gaps;  ///< whether any value is missing
  const float* queries;
  const float* train;
  const float* starts;
  int n_numeric, n_columns;
  const float* mismatch;  ///< per column
  const float* weight;
  ScanTiles tiles;
  Exclusions exclusions;
};
void launch_difference_sample(const DifferenceScan& scan, const GroupBests& bests, cudaStream_t stream);
void launch_difference_list(const DifferenceScan& scan, const EntryLists& lists, cudaStream_t stream);

/// Images in bytes (byte_layout.hpp), four to a word.
struct ByteScan {
  bool divides;  ///< by the weight compared, which some of the products add up
  const std::uint32_t* queries;
  const std::uint32_t* train;
  const std::int32_t* starts;
  int difference_words, product_words, divisor_words;
  ScanTiles tiles;
  Exclusions exclusions;

  STOPE_HD int n_lines() const { return even_lines(product_words + divisor_words + difference_words); }
};
/// A sum with this start belongs to a row that the scan must not see.
inline constexpr std::int32_t kByteNever = 1 << 29;

void launch_byte_sample(const ByteScan& scan, const GroupBests& bests, cudaStream_t stream);
void launch_byte_list(const ByteScan& scan, const EntryLists& lists, cudaStream_t stream);

}  // namespace stope::knn::cuda
