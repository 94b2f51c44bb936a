#include "tree/cuda/session.hpp"

#include "device/cuda/check.hpp"

namespace stope::tree::cuda {

using stope::cuda::check;

TreeSession::TreeSession(int gpu, const cuda_abi::Problem& problem, std::int64_t piece_bytes)
    : gpu_(gpu),
      n_rows_(problem.n_rows),
      grower_(problem.n_rows <= cuda_abi::kShortRows ? make_short_grower(problem) : make_long_grower(problem)) {
  for (Slot& slot : slots_) {
    slot.host_values = stope::cuda::PinnedBuffer<char>(piece_bytes);
    slot.values = stope::cuda::DeviceBuffer<char>(piece_bytes);
  }
}

// A piece that failed leaves work under way: it ends before its memory goes.
TreeSession::~TreeSession() {
  for (const Slot& slot : slots_) cudaStreamSynchronize(slot.stream.get());
}

void* TreeSession::columns(int number) {
  Slot& slot = slots_[number];
  slot.stream.wait();
  slot.sort.read();
  return slot.host_values.data();
}

void TreeSession::submit(int number, cuda_abi::Type type, const std::int64_t* attributes, std::int64_t n_columns) {
  Slot& slot = slots_[number];
  const std::int64_t bytes = n_rows_ * n_columns * (type == cuda_abi::Type::float64 ? 8 : 4);
  check(cudaMemcpyAsync(slot.values.data(), slot.host_values.data(), static_cast<std::size_t>(bytes),
                        cudaMemcpyHostToDevice, slot.stream.get()),
        "copying columns");
  slot.sort.start(slot.stream.get());
  grower_->sort(type, slot.values.data(), n_columns, static_cast<std::int64_t>(columns_.size()), slot.stream.get());
  slot.sort.stop(slot.stream.get());
  for (std::int64_t c = 0; c < n_columns; ++c)
    columns_.push_back({static_cast<std::int32_t>(attributes[c]), type == cuda_abi::Type::code});
}

Grower& TreeSession::begun() {
  if (!has_begun_) {
    for (int slot = 0; slot < cuda_abi::kSlots; ++slot) columns(slot);
    grower_->begin(columns_);
    has_begun_ = true;
  }
  return *grower_;
}

cuda_abi::Splits TreeSession::splits() {
  cuda_abi::Splits splits = grower_->splits();
  for (const Slot& slot : slots_) splits.sort_seconds += slot.sort.seconds();
  return splits;
}

}  // namespace stope::tree::cuda
