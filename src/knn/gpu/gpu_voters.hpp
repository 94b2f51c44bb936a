// What training rows vote with, in the memory of GPUs. Every search votes with its own predictor's labels, however many
// predictors share the fitted table and search at once.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "knn/gpu/call.hpp"
#include "knn/vote/held_voters.hpp"

namespace stope::knn {

/// A copy of one predictor's voters on one GPU.
class GpuVoters {
 public:
  GpuVoters(int gpu, const VoterView& voters);
  const cuda_abi::VotersOnGpu* on_gpu() const { return copy_.get(); }

 private:
  struct Destroy {
    void operator()(cuda_abi::VotersOnGpu* copy) const { cuda_functions().voters_destroy(copy); }
  };
  std::unique_ptr<cuda_abi::VotersOnGpu, Destroy> copy_;
};

/// The copies that searches in one fitted table left, for the next search of the same predictor. Safe from several
/// threads at once.
class GpuVotersCache {
 public:
  /// Returns the copy of `voters` on a GPU, which is made if need be; null where there is no room for it. The copy
  /// stays whole for as long as the caller holds it.
  std::shared_ptr<const GpuVoters> copy_on(int gpu, const std::shared_ptr<const HeldVoters>& voters);

  /// Forgets all copies. Those that searches under way hold go when they end.
  void release();

 private:
  struct Entry {
    int gpu;
    std::weak_ptr<const HeldVoters> of;  // an address is not used again while this lives
    std::shared_ptr<const GpuVoters> copy;
  };
  void drop_what_nobody_needs(int gpu, std::size_t most);

  std::mutex mutex_;
  std::vector<Entry> entries_;  // the one used last at the end
};

}  // namespace stope::knn
