#include "stats/device_values.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "device/array_abi.hpp"
#include "device/backend.hpp"
#include "device/cuda_plugin.hpp"
#include "stats/source.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"

namespace stope::stats {
namespace {

using device::checked_call;
using stope::cuda_abi::Failure;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

std::int64_t bytes_of(const Array& values) {
  if (values.n_rows == 0 || values.n_columns == 0) return 0;
  const std::int64_t last = (values.n_rows - 1) * values.row_stride + (values.n_columns - 1) * values.column_stride;
  return checked::mul(last + 1, size_of(values.type));
}

void check_owner(const void* memory, int gpu) {
  std::int32_t owner = -1;
  checked_call([&](Failure* failure) { return device::cuda().functions->arrays->owner(memory, &owner, failure); });
  if (owner == gpu) return;
  refuse("the memory of the array is " + (owner < 0 ? "no GPU's" : "that of GPU " + std::to_string(owner)) +
         ", it should be GPU " + std::to_string(gpu) + "'s");
}

}  // namespace

void check_device(const DeviceArray& array, const RunOptions& run) {
  const device::Cuda& cuda = device::cuda();
  if (cuda.functions == nullptr) {
    throw Error(ErrorCode::device_unavailable, "the array is on a GPU, but CUDA is off: " + cuda.reason);
  }
  if (array.gpu < 0 || array.gpu >= static_cast<int>(cuda.gpus.size())) {
    refuse("the array is on GPU " + std::to_string(array.gpu) + "; this machine has " +
           std::to_string(cuda.gpus.size()) + (cuda.gpus.size() == 1 ? " GPU" : " GPUs"));
  }
  const GpuInfo& info = cuda.gpus[static_cast<std::size_t>(array.gpu)];
  if (!info.available) {
    throw Error(ErrorCode::device_unavailable, "GPU " + std::to_string(array.gpu) + ": " + info.reason);
  }
  if (run.device != "auto" && run.device != "cpu") {
    const std::vector<int> named = device::choose_backend(run).gpus;
    if (std::find(named.begin(), named.end(), array.gpu) == named.end()) {
      refuse("the array is on GPU " + std::to_string(array.gpu) + ", the device is '" + run.device + "'");
    }
  }
  const std::int64_t bytes = bytes_of(array.values);
  if (bytes > 0) {  // check the first and the last byte: what lies between is one allocation
    check_owner(array.values.data, array.gpu);
    check_owner(static_cast<const char*>(array.values.data) + bytes - 1, array.gpu);
  }
  checked_call(
      [&](Failure* failure) { return cuda.functions->arrays->check_stream(array.gpu, array.stream, failure); });
}

Buffer<char> download(const DeviceArray& array) {
  device::note_cuda_use();
  const std::int64_t bytes = bytes_of(array.values);
  Buffer<char> copy(bytes);
  constexpr std::int64_t kPiece = std::int64_t{1} << 30;  // the longest row of a copy
  for (std::int64_t at = 0; at < bytes; at += kPiece) {
    const std::int64_t n = std::min(kPiece, bytes - at);
    const stope::cuda_abi::Rows rows = {static_cast<const char*>(array.values.data) + at, 1, n, n};
    checked_call([&](Failure* failure) {
      return device::cuda().functions->arrays->download(array.gpu, array.stream, &rows, copy.data() + at, failure);
    });
  }
  return copy;
}

}  // namespace stope::stats
