// From scores to neighbours: thresholds from the maxima of a sample, and the re-rank of what a scan has listed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/tensor/scan/scan.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn::cuda {

/// How near a k-th largest score has to be found, in units of the last bit. Scores of halves are rounded, and 2^-17 of
/// them costs nothing; those of bytes are whole numbers, of which many may be equal.
inline constexpr int kKeyStep = 64, kByteKeyStep = 1;

/// What bounds the distances of a batch of queries (bounds.cuh).
struct BoundsJob {
  const double* squares;   ///< per query: of the numbers that are not masked
  const float* norms;      ///< per query: of all numbers
  const float* residuals;  ///< per query; NaN: nothing is known
  double train_residual, largest_train_norm;
  const double* shift;  ///< of the scans' scores, one number
  int width;
  bool bytes;           ///< in the images
  double accumulation;  ///< by such a share of the largest partial sum may a score be off
  int key_step;         ///< kKeyStep or kByteKeyStep
  bool masks;           ///< whether values may be missing
  double tiny;          ///< as the next, of cuda_abi::TensorSpec
  double constant, nominal, hashed, product_error, slack;
};

inline constexpr int kMostMaxima = 4096;

/// thresholds[query], from the k-th largest of its maxima. k <= n_maxima <= kMostMaxima.
struct ThresholdJob {
  BoundsJob bounds;
  const float* maxima;
  std::int64_t n_maxima;
  std::int64_t n_queries;
  int k;
  float* thresholds;
};
void launch_thresholds(const ThresholdJob& job, cudaStream_t stream);

/// Raises thresholds[query] to what the part of its list that there is proves: of the rows that were scanned, the k-th
/// best. The lists stay as they are.
struct TightenJob {
  BoundsJob bounds;
  GroupLists lists;
  std::int64_t n_queries;
  int k;
  float* thresholds;
};
void launch_tighten(const TightenJob& job, cudaStream_t stream);

inline constexpr int kMostNeighbors = 1024;

/// Doubles behind the last training row that a re-rank may read.
inline constexpr std::int64_t kReadBeyond = 16;

/// distances[query * k + i], rows[query * k + i]: the nearest by (distance, row). A query is uncertified if its list
/// overflowed or if more rows are left of it than can be sorted: its neighbours are not known then.
struct RerankJob {
  BoundsJob bounds;
  const __half* query_images;
  const __half* train_images;
  const float* starts;  ///< of the scan; null: the images' own columns have them
  const double* queries;
  const double* train;  ///< and kReadBeyond doubles more
  std::int64_t width;   ///< doubles a row
  const Attribute* attributes;
  std::int64_t n_rows, n_queries;
  std::int64_t self;  ///< query i is training row self + i and no neighbour of its own; negative: none is excluded
  int k;
  std::int64_t n_always;  ///< rows that are always listed
  bool may_have_fewer;    ///< than k rows: kNoFilterRow follows them, at an infinite distance
  GroupLists lists;
  double* distances;
  std::int32_t* rows;
  std::int32_t* uncertified;
  unsigned long long* n_listed;     ///< rows, added up
  unsigned long long* n_evaluated;  ///< distances, added up
};

using RerankKernel = void (*)(const RerankJob& job, const void* measure, cudaStream_t stream);

/// The kernel of a measure whose images the scan compares, or null.
RerankKernel find_rerank_kernel(const cuda_abi::Measure& measure);

}  // namespace stope::knn::cuda
