#include "tree/cuda/session.hpp"

#include <iterator>

#include "device/cuda/check.hpp"

namespace stope::tree::cuda {

using stope::cuda::check;

TreeSession::TreeSession(int gpu, const cuda_abi::Problem& problem, std::int64_t piece_bytes, std::int64_t batch_bytes)
    : gpu_(gpu),
      n_rows_(problem.n_rows),
      grower_(cuda_abi::is_short(problem.n_rows, problem.score) ? make_short_grower(problem)
                                                                : make_long_grower(problem)),
      batch_bytes_(batch_bytes) {
  for (Slot& slot : slots_) slot.values = stope::cuda::PinnedBuffer<char>(piece_bytes);
}

// A piece that failed leaves work under way, which must end before its memory is freed.
TreeSession::~TreeSession() {
  cudaStreamSynchronize(copies_.get());
  cudaStreamSynchronize(sorts_.get());
}

void* TreeSession::columns(int number) {
  slots_[number].copied.wait();
  return slots_[number].values.data();
}

char* TreeSession::room(cuda_abi::Type type, std::int64_t bytes) {
  if (type != type_in_batch_ || bytes_in_batch_ + bytes > batch_bytes_) sort_batch();
  Batch& batch = batches_[filled_];
  if (bytes_in_batch_ == 0) {
    if (batch.values.size() == 0) batch.values = stope::cuda::DeviceBuffer<char>(batch_bytes_);
    batch.sorted.wait();
    batch.sort.read();
    type_in_batch_ = type;
  }
  char* const room = batch.values.data() + bytes_in_batch_;
  bytes_in_batch_ += bytes;
  return room;
}

void TreeSession::submit(int number, cuda_abi::Type type, const std::int64_t* attributes, std::int64_t n_columns) {
  Slot& slot = slots_[number];
  const std::int64_t bytes = n_rows_ * n_columns * (type == cuda_abi::Type::float64 ? 8 : 4);
  char* const to = room(type, bytes);
  check(cudaMemcpyAsync(to, slot.values.data(), static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, copies_.get()),
        "copying columns");
  slot.copied.record(copies_);
  for (std::int64_t c = 0; c < n_columns; ++c)
    columns_.push_back({static_cast<std::int32_t>(attributes[c]), type == cuda_abi::Type::code});
}

void TreeSession::sort_batch() {
  if (bytes_in_batch_ == 0) return;
  Batch& batch = batches_[filled_];
  copied_.record(copies_);
  copied_.hold(sorts_);
  const std::int64_t n_columns = std::ssize(columns_) - first_in_batch_;
  grower_->reserve(type_in_batch_, n_columns);
  batch.sort.start(sorts_.get());
  grower_->sort(type_in_batch_, batch.values.data(), n_columns, first_in_batch_, sorts_.get());
  batch.sort.stop(sorts_.get());
  batch.sorted.record(sorts_);
  first_in_batch_ = std::ssize(columns_);
  bytes_in_batch_ = 0;
  filled_ = 1 - filled_;
}

Grower& TreeSession::begun() {
  if (!has_begun_) {
    sort_batch();
    sorts_.wait();
    for (Batch& batch : batches_) batch.sort.read();
    grower_->begin(columns_);
    has_begun_ = true;
  }
  return *grower_;
}

cuda_abi::Splits TreeSession::splits() {
  cuda_abi::Splits splits = grower_->splits();
  for (const Batch& batch : batches_) splits.sort_seconds += batch.sort.seconds();
  return splits;
}

}  // namespace stope::tree::cuda
