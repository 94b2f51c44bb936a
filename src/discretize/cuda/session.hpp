// Computes pieces of columns from the host's memory, two at a time (discretize/cuda_abi.hpp).
#pragma once

#include <memory>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "discretize/cuda/gains.hpp"
#include "discretize/cuda/global.hpp"
#include "discretize/cuda/job.hpp"
#include "discretize/cuda/long_cuts.hpp"
#include "discretize/cuda/mdlp.hpp"
#include "discretize/cuda/permutations.hpp"
#include "discretize/cuda/sorted_columns.hpp"
#include "discretize/cuda/weighted.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::discretize::cuda {

class CutSession {
 public:
  /// Works on the current GPU.
  CutSession(int gpu, const cuda_abi::Decisions& decisions, std::int64_t most_columns);
  ~CutSession();
  CutSession(const CutSession&) = delete;
  CutSession& operator=(const CutSession&) = delete;

  int gpu() const { return gpu_; }
  void* columns(int slot) { return slots_[slot].host_values.data(); }
  void submit(int slot, std::int64_t n_columns);
  /// `cuts` is written for Wanted::best_cut only.
  double collect(int slot, cuda_abi::Cut* cuts);
  double cut_sorted(std::int32_t* n_cuts, const cuda_abi::SetCut** cuts, std::int64_t* n);
  double weighted_cuts(cuda_abi::WeightedCut* cuts);
  double next_cut(const cuda_abi::RowBlocks& blocks, cuda_abi::GlobalBest* best) {
    return global_->best(*sorted_, searched().weights, blocks, best, slots_[0].stream);
  }
  void highest(std::int32_t* to) const { permutations_->highest(to); }

 private:
  struct Slot {
    stope::cuda::Stream stream;
    stope::cuda::PinnedBuffer<char> host_values;
    stope::cuda::DeviceBuffer<char> values;
    stope::cuda::DeviceBuffer<std::int64_t> w;
    stope::cuda::DeviceBuffer<double> ends;  ///< low, then high
    stope::cuda::PinnedBuffer<std::int64_t> host_w;
    stope::cuda::PinnedBuffer<double> host_ends;
    stope::cuda::DeviceBuffer<int> list;
    stope::cuda::DeviceBuffer<std::int32_t> as_good;  ///< with permutations only
    stope::cuda::PinnedBuffer<std::int32_t> host_as_good;
    std::int64_t n_columns = 0;
    stope::cuda::Stopwatch watch;  ///< times the work between the copies
  };

  SearchedColumns searched() const {
    return {sorted_->orders(), weights_.size() == 0 ? nullptr : weights_.data(), n_classes_, gains_.there()};
  }
  template <class T>
  void find_cuts(Slot& slot);
  template <class T>
  void find_best_cuts(const Columns<T>& columns, Slot& slot);

  int gpu_;
  std::int64_t n_rows_;
  int n_classes_;
  cuda_abi::Type type_;
  stope::cuda::DeviceBuffer<std::uint8_t> classes_;
  stope::cuda::DeviceBuffer<std::int64_t> totals_, weights_;
  GainMemory gains_;
  NodeGains all_;
  Slot slots_[cuda_abi::kSlots];
  std::unique_ptr<LongCuts> long_;         ///< for best cuts of more than kShortRows rows
  std::unique_ptr<SortedColumns> sorted_;  ///< for the others
  std::unique_ptr<WeightedCuts> weighted_;
  std::unique_ptr<Mdlp> mdlp_;
  std::unique_ptr<GlobalCuts> global_;
  std::unique_ptr<Permutations> permutations_;
};

}  // namespace stope::discretize::cuda
