#include "stats/cuda/session.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "stats/cuda/pass.hpp"

namespace stope::stats::cuda {
namespace {

using stope::cuda::check;

std::int64_t part_bytes(cuda_abi::Type type) {
  const bool integer = type == cuda_abi::Type::int32 || type == cuda_abi::Type::int64;
  return static_cast<std::int64_t>(integer ? sizeof(Part<std::int64_t>) : sizeof(Part<double>));
}

std::int64_t value_bytes(cuda_abi::Type type) {
  return type == cuda_abi::Type::float32 || type == cuda_abi::Type::int32 ? 4 : 8;
}

// Elements from the first value to the one behind the last.
std::int64_t span_of(const cuda_abi::Values& values) {
  return checked::mul((values.n_rows - 1) * values.row_stride + (values.n_columns - 1) * values.column_stride + 1,
                      value_bytes(values.type));
}

template <class Buffer>
void grow(Buffer& buffer, std::int64_t bytes) {
  if (buffer.size() < bytes) buffer = Buffer(bytes);
}

}  // namespace

PassSession::PassSession(int gpu, std::int64_t piece_bytes, std::int64_t n_columns)
    : gpu_(gpu), n_columns_(n_columns), uploader_(std::clamp<std::int64_t>(piece_bytes, 1, std::int64_t{8} << 20)) {
  for (Slot& slot : slots_) {
    slot.values = stope::cuda::DeviceBuffer<char>(piece_bytes);
    slot.parts = stope::cuda::PinnedBuffer<char>(checked::mul(n_columns, kPartBytes));
  }
}

void PassSession::submit(int slot, const cuda_abi::Values& values) {
  Slot& mine = slots_[slot];
  const std::int64_t bytes = span_of(values);
  if (bytes > mine.values.size() || values.n_columns > n_columns_) {
    throw Error(ErrorCode::internal, "a piece of " + std::to_string(bytes) + " bytes is larger than was said");
  }
  const PassShape shape = shape_of(values);
  const std::int64_t parts = checked::mul(most_parts(shape, values.n_columns), kPartBytes);
  grow(mine.first, parts);
  grow(mine.second, parts);
  uploader_.copy(mine.values.data(), values.data, bytes, mine.stream);
  cuda_abi::Values there = values;
  there.data = mine.values.data();
  const void* joined = launch_pass(there, shape, mine.first.data(), mine.second.data(), mine.stream.get());
  mine.bytes = values.n_columns * part_bytes(values.type);
  check(cudaMemcpyAsync(mine.parts.data(), joined, static_cast<std::size_t>(mine.bytes), cudaMemcpyDeviceToHost,
                        mine.stream.get()),
        "copying statistics from the GPU");
}

void PassSession::collect(int slot, void* parts) {
  Slot& mine = slots_[slot];
  mine.stream.wait();
  std::memcpy(parts, mine.parts.data(), static_cast<std::size_t>(mine.bytes));
  mine.bytes = 0;
}

float describe_on_gpu(const cuda_abi::Values& values, cudaStream_t stream, void* parts) {
  const PassShape shape = shape_of(values);
  const std::int64_t bytes = checked::mul(most_parts(shape, values.n_columns), kPartBytes);
  const stope::cuda::DeviceBuffer<char> first(bytes), second(bytes);
  stope::cuda::Clock begin, end;
  begin.record(stream);
  const void* joined = launch_pass(values, shape, first.data(), second.data(), stream);
  end.record(stream);
  check(cudaMemcpyAsync(parts, joined, static_cast<std::size_t>(values.n_columns * part_bytes(values.type)),
                        cudaMemcpyDeviceToHost, stream),
        "copying statistics from the GPU");
  check(cudaStreamSynchronize(stream), "waiting for the GPU");
  return end.since(begin);
}

}  // namespace stope::stats::cuda
