// The scans there are; launch_sample and launch_list (filter_scan.hpp) choose.
#pragma once

#include "knn/cuda/tensor/scan/scan.hpp"

namespace stope::knn::cuda {

enum class Scan {
  sm90,  ///< Hopper: filter_scan_sm90.cu
  sm80,  ///< Ampere and later: filter_scan_sm80.cu
  sm75,  ///< Turing: filter_scan_sm75.cu
  few,   ///< any of them, for few queries: filter_scan_few.cu
};

void launch_sample_sm90(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_sm90(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
void launch_sample_sm80(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_sm80(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
void launch_sample_sm75(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_sm75(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
/// Of images in bytes, on Hopper: filter_scan_sm90_bytes.cu.
void launch_sample_bytes(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_bytes(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);
void launch_sample_few(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_few(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);

}  // namespace stope::knn::cuda
