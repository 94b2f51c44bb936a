#include "knn/cuda/votes.hpp"

#include "base/checked.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;
using stope::cuda::PinnedBuffer;
using stope::cuda::Stream;

template <class T>
DeviceBuffer<T> on_gpu(const T* values, std::int64_t n, const Stream& stream) {
  if (values == nullptr) return {};
  DeviceBuffer<T> buffer(n);
  check(cudaMemcpyAsync(buffer.data(), values, static_cast<std::size_t>(buffer.bytes()), cudaMemcpyHostToDevice,
                        stream.get()),
        "copying to the GPU");
  return buffer;
}

template <class Buffer>
void grow(Buffer& buffer, std::int64_t size) {
  if (buffer.size() < size) buffer = Buffer(size);
}

template <class T>
void copy_out(const PinnedBuffer<T>& to, std::int64_t at, const DeviceBuffer<T>& from, std::int64_t from_at,
              std::int64_t n, const Stream& stream) {
  check(cudaMemcpyAsync(to.data() + at, from.data() + from_at, static_cast<std::size_t>(n) * sizeof(T),
                        cudaMemcpyDeviceToHost, stream.get()),
        "copying from the GPU");
}

}  // namespace

DeviceVoters::DeviceVoters(int gpu, const VoterView& voters) : DeviceVoters(gpu, voters, Stream()) {}

DeviceVoters::DeviceVoters(int gpu, const VoterView& voters, const Stream& stream)
    : gpu_(gpu),
      voters_(voters),
      codes_(on_gpu(voters.codes, voters.n_rows, stream)),
      targets_(on_gpu(voters.targets, voters.n_rows, stream)),
      sample_weights_(on_gpu(voters.sample_weights, voters.n_rows, stream)) {
  voters_.codes = codes_.data();
  voters_.targets = targets_.data();
  voters_.sample_weights = sample_weights_.data();
  stream.wait();
}

const VoterView& voters_of(const cuda_abi::Vote& vote, int gpu, std::int64_t n_rows) {
  const DeviceVoters& voters = vote.voters->session;
  if (voters.gpu() != gpu || voters.get().n_rows != n_rows) {
    throw Error(ErrorCode::internal, "a vote of rows that are not there");
  }
  return voters.get();
}

void VoteSpace::reserve(const cuda_abi::Vote& vote, const VoterView& voters, std::int64_t n_batch, std::int64_t n_all) {
  const std::int64_t values = checked::mul(vote.n_ks, voters.n_values());
  grow(values_, checked::mul(n_batch, values));
  grow(host_values_, checked::mul(n_all, values));
  n_all_ = n_all;
  if (voters.codes == nullptr) return;
  grow(winners_, checked::mul(n_batch, vote.n_ks));
  grow(host_winners_, checked::mul(n_all, vote.n_ks));
}

void VoteSpace::reserve(const cuda_abi::DevicePredictions& there, const VoterView& voters, std::int64_t n_batch) {
  if (there.values == nullptr) grow(values_, checked::mul(n_batch, voters.n_values()));
}

void VoteSpace::cast(const cuda_abi::Vote& vote, const VoterView& voters, const ListsToVote& lists,
                     const Stream& stream) {
  for (std::int64_t j = 0; j < vote.n_ks; ++j) {
    const std::int64_t first = j * lists.n_queries;
    const VoteJob job{.rule = vote.rule,
                      .voters = voters,
                      .lists = lists,
                      .k = vote.ks[j],
                      .winners = winners_.size() > 0 ? winners_.data() + first : nullptr,
                      .values = values_.data() + first * voters.n_values()};
    launch_vote(job, stream.get());
  }
}

void VoteSpace::cast(const cuda_abi::Vote& vote, const VoterView& voters, const ListsToVote& lists,
                     const cuda_abi::DevicePredictions& there, const Stream& stream) {
  const VoteJob job{.rule = vote.rule,
                    .voters = voters,
                    .lists = lists,
                    .k = vote.ks[0],
                    .winners = there.winners,
                    .values = there.values != nullptr ? there.values : values_.data()};
  launch_vote(job, stream.get());
}

void VoteSpace::copy_back(const cuda_abi::Vote& vote, const VoterView& voters, std::int64_t begin, std::int64_t n,
                          const Stream& copies) {
  const std::int64_t n_values = voters.n_values();
  for (std::int64_t j = 0; j < vote.n_ks; ++j) {
    const std::int64_t to = j * n_all_ + begin;
    copy_out(host_values_, to * n_values, values_, j * n * n_values, n * n_values, copies);
    if (voters.codes != nullptr) copy_out(host_winners_, to, winners_, j * n, n, copies);
  }
}

}  // namespace stope::knn::cuda
