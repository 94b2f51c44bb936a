// A tree on a GPU (tree/cuda_abi.hpp). Attributes come in pieces, two at a time. They are sorted in batches of several,
// because launches over few columns leave much of the GPU idle.
#pragma once

#include <vector>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "tree/cuda/grower.hpp"
#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

class TreeSession {
 public:
  /// Works on the current GPU.
  TreeSession(int gpu, const cuda_abi::Problem& problem, std::int64_t piece_bytes, std::int64_t batch_bytes);
  ~TreeSession();
  TreeSession(const TreeSession&) = delete;
  TreeSession& operator=(const TreeSession&) = delete;

  int gpu() const { return gpu_; }
  void* columns(int slot);
  void submit(int slot, cuda_abi::Type type, const std::int64_t* attributes, std::int64_t n_columns);
  Grower& begun();  ///< call it once all columns are submitted
  cuda_abi::Splits splits();

 private:
  struct Slot {
    stope::cuda::PinnedBuffer<char> values;
    stope::cuda::Event copied;
  };
  struct Batch {
    stope::cuda::DeviceBuffer<char> values;
    stope::cuda::Event sorted;
    stope::cuda::Stopwatch sort;
  };

  /// Returns room for a piece in the batch that is being filled.
  char* room(cuda_abi::Type type, std::int64_t bytes);
  /// Queues the sort of the batch that is being filled, unless it is empty.
  void sort_batch();

  int gpu_;
  std::int64_t n_rows_;
  std::unique_ptr<Grower> grower_;
  std::int64_t batch_bytes_;
  stope::cuda::Stream copies_, sorts_;
  stope::cuda::Event copied_;
  Slot slots_[cuda_abi::kSlots];
  Batch batches_[2];
  int filled_ = 0;  ///< the batch that is being filled
  std::int64_t bytes_in_batch_ = 0;
  cuda_abi::Type type_in_batch_{};
  std::int64_t first_in_batch_ = 0;  ///< columns in front of the batch
  std::vector<ColumnKind> columns_;
  bool has_begun_ = false;
};

}  // namespace stope::tree::cuda
