// A session of the reference search on one GPU (knn/cuda_abi.hpp): its rows, its tiles under way, its streams.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/cuda/upload.hpp"
#include "knn/cuda/reference/pair_kernels.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

struct RowsThere;  // knn/cuda/table_rows.hpp

class ReferenceSession {
 public:
  /// Its GPU is current whenever a member is called, the constructor included.
  ReferenceSession(int gpu, const cuda_abi::Measure& measure, const cuda_abi::Sizes& sizes);
  ~ReferenceSession();
  ReferenceSession(const ReferenceSession&) = delete;
  ReferenceSession& operator=(const ReferenceSession&) = delete;

  int gpu() const { return gpu_; }
  void load_queries(const double* rows, std::int64_t n);
  void load_rows(std::int64_t buffer, const double* rows, std::int64_t n);
  void lend_rows(std::int64_t buffer, const RowsThere& rows, std::int64_t first, std::int64_t n);
  void submit(int slot, const cuda_abi::Tile& tile, const double* thresholds);
  cuda_abi::Survivors collect(int slot);
  void matrix(const cuda_abi::Tile& tile, Quantity quantity, bool query_first, double* values, std::int64_t ld);

 private:
  // Training rows, filled in the copy stream and read in the compute stream; or rows that are lent.
  struct Rows {
    stope::cuda::DeviceBuffer<double> values;
    const double* there = nullptr;
    stope::cuda::Event filled, used;
  };
  // A tile under way. Its pinned buffers grow to the most survivors seen.
  struct Slot {
    stope::cuda::DeviceBuffer<double> thresholds, kept_distances;
    stope::cuda::DeviceBuffer<std::int32_t> kept_rows, counts;
    stope::cuda::DeviceBuffer<std::int64_t> offsets;
    stope::cuda::DeviceBuffer<unsigned long long> total;
    stope::cuda::PinnedBuffer<double> host_thresholds, host_distances;
    stope::cuda::PinnedBuffer<std::int32_t> host_rows, host_counts;
    stope::cuda::PinnedBuffer<std::int64_t> host_offsets;
    stope::cuda::PinnedBuffer<unsigned long long> host_total;
    stope::cuda::Event done;
    std::int64_t n_queries = 0;
  };

  void compute(const cuda_abi::Tile& tile, Quantity quantity, bool query_first);

  int gpu_;
  const PairKernel* kernel_;
  std::vector<unsigned char> measure_;
  cuda_abi::Sizes sizes_;
  stope::cuda::DeviceBuffer<double> storage_, queries_, distances_, scratch_;
  stope::cuda::DeviceBuffer<Attribute> attributes_;
  std::vector<Rows> rows_;
  Slot slots_[cuda_abi::kSlots];
  stope::cuda::Uploader query_upload_, row_upload_;
  stope::cuda::Stream compute_, copy_in_, copy_out_;
};

}  // namespace stope::knn::cuda
