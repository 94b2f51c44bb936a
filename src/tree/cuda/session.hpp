// A tree on a GPU (tree/cuda_abi.hpp): attributes come in pieces, two at a time.
#pragma once

#include <vector>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "tree/cuda/grower.hpp"
#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

class TreeSession {
 public:
  /// On the GPU that is current.
  TreeSession(int gpu, const cuda_abi::Problem& problem, std::int64_t piece_bytes);
  ~TreeSession();
  TreeSession(const TreeSession&) = delete;
  TreeSession& operator=(const TreeSession&) = delete;

  int gpu() const { return gpu_; }
  void* columns(int slot);
  void submit(int slot, cuda_abi::Type type, const std::int64_t* attributes, std::int64_t n_columns);
  Grower& begun();  ///< once all columns are submitted
  cuda_abi::Splits splits();

 private:
  struct Slot {
    stope::cuda::Stream stream;
    stope::cuda::PinnedBuffer<char> host_values;
    stope::cuda::DeviceBuffer<char> values;
    stope::cuda::Stopwatch sort;
  };

  int gpu_;
  std::int64_t n_rows_;
  std::unique_ptr<Grower> grower_;
  Slot slots_[cuda_abi::kSlots];
  std::vector<ColumnKind> columns_;
  bool has_begun_ = false;
};

}  // namespace stope::tree::cuda
