// Votes on the GPU (knn/vote/rule.hpp). The lists of a batch become predictions where they lie, and only predictions
// are copied back, if the caller does not want them on the GPU.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/handle.hpp"
#include "device/cuda/stream.hpp"
#include "knn/gpu/device_rows_abi.hpp"
#include "knn/vote/vote_abi.hpp"

namespace stope::knn::cuda {

/// What the training rows vote with, in the GPU's memory.
class DeviceVoters {
 public:
  /// Its GPU is current. Waits until everything is copied.
  DeviceVoters(int gpu, const VoterView& voters);

  int gpu() const { return gpu_; }
  /// Points into the GPU's memory.
  const VoterView& get() const { return voters_; }

 private:
  DeviceVoters(int gpu, const VoterView& voters, const stope::cuda::Stream& stream);

  int gpu_;
  VoterView voters_;
  stope::cuda::DeviceBuffer<std::int32_t> codes_;
  stope::cuda::DeviceBuffer<double> targets_, sample_weights_;
};

/// Returns the voters of a vote. Throws internal if they are another GPU's, or of another number of rows.
const VoterView& voters_of(const cuda_abi::Vote& vote, int gpu, std::int64_t n_rows);

/// The lists of a batch: `stride` neighbours a query.
struct ListsToVote {
  const double* distances;
  const std::int32_t* rows;
  std::int64_t stride;
  std::int64_t n_queries;
  std::int32_t* uncertified;  ///< such a query has no vote; set to 1 if a neighbour has no weight
};

/// Room for the predictions of a batch and, in host memory, for those of all batches of a search. Nothing that uses
/// this room may be under way when reserve() is called.
class VoteSpace {
 public:
  /// Makes room for batches of n_batch queries, and for n_all queries in host memory. Throws out_of_memory; the old
  /// room then remains.
  void reserve(const cuda_abi::Vote& vote, const VoterView& voters, std::int64_t n_batch, std::int64_t n_all);
  /// The same for predictions that stay on the GPU: only numbers that nobody wants need room.
  void reserve(const cuda_abi::DevicePredictions& there, const VoterView& voters, std::int64_t n_batch);
  /// Votes with the lists of a batch.
  void cast(const cuda_abi::Vote& vote, const VoterView& voters, const ListsToVote& lists,
            const stope::cuda::Stream& stream);
  /// The same for predictions that stay on the GPU.
  void cast(const cuda_abi::Vote& vote, const VoterView& voters, const ListsToVote& lists,
            const cuda_abi::DevicePredictions& there, const stope::cuda::Stream& stream);
  /// Queues the copies of a batch's predictions. They are those of the search's queries from `begin` on.
  void copy_back(const cuda_abi::Vote& vote, const VoterView& voters, std::int64_t begin, std::int64_t n,
                 const stope::cuda::Stream& copies);

  /// winners()[j * n_all + i] exists for classes only; values()[(j * n_all + i) * n_values + v] always.
  const std::int32_t* winners() const { return host_winners_.data(); }
  const double* values() const { return host_values_.data(); }

 private:
  std::int64_t n_all_ = 0;
  stope::cuda::DeviceBuffer<std::int32_t> winners_;
  stope::cuda::DeviceBuffer<double> values_;
  stope::cuda::PinnedBuffer<std::int32_t> host_winners_;
  stope::cuda::PinnedBuffer<double> host_values_;
};

/// Makes one prediction per query from its k nearest. An uncertified query gets the missing class and no confidences.
struct VoteJob {
  VoteRule rule;
  VoterView voters;
  ListsToVote lists;
  std::int64_t k;
  std::int32_t* winners;  ///< for classes only
  double* values;
};
void launch_vote(const VoteJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda

namespace stope::knn::cuda_abi {

struct VotersOnGpu : stope::cuda::Handle<cuda::DeviceVoters> {
  using Handle::Handle;
};

}  // namespace stope::knn::cuda_abi
