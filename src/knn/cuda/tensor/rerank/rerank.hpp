// From scores to neighbours: thresholds from the maxima of a sample, and the re-rank of what a scan has listed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/tensor/scan/scan.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn::cuda {

/// How near a k-th largest score has to be found, in units of the last bit. Scores of halves are rounded, and 2^-17 of
/// them costs nothing. Scores of bytes are whole numbers, and many may be equal.
inline constexpr int kKeyStep = 64, kByteKeyStep = 1;

/// What bounds the distances of a batch of queries (bounds.cuh).
struct BoundsJob {
  const double* squares;   ///< per query, over the numbers that are not masked
  const float* norms;      ///< per query, over all numbers
  const float* residuals;  ///< per query; NaN: no bound is known
  double train_residual, largest_train_norm;
  const double* shift;  ///< shift of the scans' scores, one number
  int width;
  bool bytes;           ///< images are in bytes
  double accumulation;  ///< share of the largest partial sum by which a score may be off
  int key_step;         ///< kKeyStep or kByteKeyStep
  bool masks;           ///< whether values may be missing
  double tiny;          ///< this and the next members are as in cuda_abi::TensorSpec
  double constant, nominal, hashed, product_error, slack;
};

inline constexpr int kMostMaxima = 4096;

/// Computes thresholds[query] from the k-th largest of its maxima. k <= n_maxima <= kMostMaxima.
struct ThresholdJob {
  BoundsJob bounds;
  const float* maxima;
  std::int64_t n_maxima;
  std::int64_t n_queries;
  int k;
  float* thresholds;
};
void launch_thresholds(const ThresholdJob& job, cudaStream_t stream);

/// Raises thresholds[query] to what its list, as far as it exists, proves by the k-th best of the rows scanned so far.
/// The lists stay as they are.
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

/// Writes distances[query * k + i] and rows[query * k + i]: the nearest by (distance, row). A query is uncertified if
/// its list overflowed, or if more rows are left than can be sorted: its neighbours are not known then.
struct RerankJob {
  BoundsJob bounds;
  const __half* query_images;
  const __half* train_images;
  const std::int32_t* order;  ///< the table's row that each image is of; null: they are in the table's order
  const float* starts;        ///< the scan's starts; null: they are in columns of the images
  const double* queries;
  const double* train;  ///< followed by kReadBeyond more doubles
  std::int64_t width;   ///< doubles a row
  const Attribute* attributes;
  std::int64_t n_rows, n_queries;
  std::int64_t self;  ///< query i is training row self + i and not its own neighbour; negative: none is excluded
  int k;
  std::int64_t n_always;  ///< number of rows that are always listed
  bool may_have_fewer;    ///< fewer than k rows may be found: kNoFilterRow follows them, at an infinite distance
  GroupLists lists;
  double* distances;
  std::int32_t* rows;
  std::int32_t* uncertified;
  unsigned long long* n_listed;     ///< the kernel adds the rows listed
  unsigned long long* n_evaluated;  ///< the kernel adds the distances evaluated
};

using RerankKernel = void (*)(const RerankJob& job, const void* measure, cudaStream_t stream);

/// Finds the kernel of a measure whose images the scan compares, or null.
RerankKernel find_rerank_kernel(const cuda_abi::Measure& measure);

}  // namespace stope::knn::cuda
