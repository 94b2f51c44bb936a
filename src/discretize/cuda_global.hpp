// The numeric columns of md-global on GPUs: sorted once, then searched for the next cut again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/thread_pool.hpp"
#include "discretize/cuda_abi.hpp"
#include "discretize/cuda_pieces.hpp"
#include "discretize/problem.hpp"
#include "discretize/score.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

inline Int128 pairs_of(const cuda_abi::GlobalBest& best) {
  return static_cast<Int128>(best.high_pairs) << 64 | static_cast<Int128>(best.pairs);
}

/// Returns why GPUs cannot choose the cuts of md-global, or null if they can.
const char* why_no_global_on_gpu(const DecisionProblem& problem);

/// `problem` and `run` must outlive it. All functions throw device_lost, device_unavailable, out_of_memory, cancelled.
class GlobalColumns {
 public:
  /// Sorts all numeric attributes; each GPU has some of them.
  GlobalColumns(const DecisionProblem& problem, const std::vector<int>& gpus, const RunOptions& run);

  /// The attributes that no GPU has.
  const std::vector<std::int64_t>& symbolic() const { return sorts_.open; }
  /// The next cut, by attribute: most pairs first, then the lowest attribute, then the lowest cut. 0 pairs: there is
  /// none.
  cuda_abi::GlobalBest next_cut(const cuda_abi::RowBlocks& blocks);

 private:
  struct Share {
    std::vector<std::int64_t> attributes;
    CutSession session;
    cuda_abi::GlobalBest best = {};
  };

  void sort(const std::vector<std::int64_t>& attributes, cuda_abi::Decisions decisions, const std::vector<int>& gpus);

  const DecisionProblem& problem_;
  const RunOptions& run_;
  AttributeSorts sorts_;
  std::vector<Share> shares_;         // each GPU has one of each type
  std::unique_ptr<ThreadPool> pool_;  // a thread a share
};

}  // namespace stope::discretize
