// The scans that exist; launch_sample and launch_list (scan.hpp) choose one.
#pragma once

#include "knn/cuda/tensor/scan/scan.hpp"

namespace stope::knn::cuda {

enum class Scan {
  sm90,  ///< Hopper: sm90.cu, and sm90_wide.cu for more than 128 columns
  sm80,  ///< Ampere and later: sm80.cu
  sm75,  ///< Turing: sm75.cu
  few,   ///< any of these GPUs, for few queries: few_queries.cu
};

void launch_sample_sm90(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_sm90(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
void launch_sample_sm80(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_sm80(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
void launch_sample_sm75(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_sm75(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
/// These scan images in bytes, on Hopper: sm90_bytes.cu.
void launch_sample_bytes(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_bytes(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
void launch_sample_few(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_few(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);

}  // namespace stope::knn::cuda
