#include "device/gpu_array.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "device/array_abi.hpp"
#include "device/backend.hpp"
#include "device/cuda_plugin.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope::device {
namespace {

using cuda_abi::Failure;

// Bytes that are copied between two looks at the cancel token: some 10 ms from unpinned memory.
constexpr std::int64_t kPieceBytes = std::int64_t{128} << 20;
// CUDA copies rows that are less than 2 GiB apart.
constexpr std::int64_t kMostApart = (std::int64_t{1} << 31) - 1;

const cuda_abi::ArrayFunctions& functions() {
  return *plugin().arrays;
}

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

void check_owner(const void* memory, int gpu, const std::string& what) {
  std::int32_t owner = -1;
  checked_call([&](Failure* failure) { return functions().owner(memory, &owner, failure); });
  if (owner == gpu) return;
  refuse("the memory of " + what + " is " + (owner < 0 ? "no GPU's" : "that of GPU " + std::to_string(owner)) +
         ", it should be GPU " + std::to_string(gpu) + "'s");
}

void copy(const ArrayView& array, const cuda_abi::Rows& rows, char* to, const RunOptions& run) {
  run.cancel.check();
  checked_call([&](Failure* failure) { return functions().download(array.gpu, array.stream, &rows, to, failure); });
}

// Copies bytes as they lie.
void copy_bytes(const ArrayView& array, const char* first, std::int64_t bytes, char* to, const RunOptions& run) {
  for (std::int64_t at = 0; at < bytes; at += kPieceBytes) {
    const std::int64_t n = std::min(kPieceBytes, bytes - at);
    copy(array, {first + at, 1, n, n}, to + at, run);
  }
}

// Copies n rows of `bytes` bytes, `stride` apart, one after the other.
void copy_rows(const ArrayView& array, std::int64_t n, std::int64_t bytes, std::int64_t stride, char* to,
               const RunOptions& run) {
  const std::int64_t most = std::max<std::int64_t>(1, kPieceBytes / bytes);
  for (std::int64_t row = 0; row < n; row += most) {
    const char* const first = static_cast<const char*>(array.data) + row * stride;
    copy(array, {first, std::min(most, n - row), bytes, stride}, to + row * bytes, run);
  }
}

}  // namespace

void check_gpu(int gpu, std::string_view what) {
  const Cuda& machine = cuda();
  const std::string place = std::string(what) + ": GPU " + std::to_string(gpu);
  if (machine.functions == nullptr) {
    throw Error(ErrorCode::device_unavailable, place + " has its memory, but CUDA is off: " + machine.reason);
  }
  if (gpu < 0 || gpu >= static_cast<int>(machine.gpus.size())) {
    refuse(place + " is not there: this machine has " + std::to_string(machine.gpus.size()) +
           (machine.gpus.size() == 1 ? " GPU" : " GPUs"));
  }
  const GpuInfo& info = machine.gpus[static_cast<std::size_t>(gpu)];
  if (!info.available) {
    throw Error(ErrorCode::device_unavailable, place + " has its memory, but cannot be used: " + info.reason);
  }
}

void check_gpu_memory(const void* memory, std::int64_t bytes, int gpu, std::string_view what) {
  if (bytes == 0) return;
  const std::string name(what);
  if (memory == nullptr) refuse("the memory of " + name + " is null");
  check_owner(memory, gpu, name);  // what lies between the first and the last byte is one allocation
  check_owner(static_cast<const char*>(memory) + bytes - 1, gpu, name);
}

void check_gpu_array(const ArrayView& array, std::string_view what, const RunOptions& run) {
  check_gpu(array.gpu, what);
  if (run.device != "auto" && run.device != "cpu") {
    const std::vector<int> named = choose_backend(run).gpus;
    if (std::find(named.begin(), named.end(), array.gpu) == named.end()) {
      refuse(std::string(what) + ": GPU " + std::to_string(array.gpu) + " has its memory, but the device is '" +
             run.device + "'");
    }
  }
  const ByteRange range = bytes_of(array);
  check_gpu_memory(static_cast<const char*>(array.data) + range.first, range.size, array.gpu, what);
  checked_call([&](Failure* failure) { return functions().check_stream(array.gpu, array.stream, failure); });
}

ArrayView copy_to_host(const ArrayView& array, std::string_view what, const RunOptions& run) {
  const std::int64_t size = size_of(array.type);
  const bool rows = array.column_stride == 1 && array.row_stride >= array.n_columns;
  const bool columns = array.row_stride == 1 && array.column_stride >= array.n_rows;
  const std::int64_t n = rows ? array.n_rows : array.n_columns, width = rows ? array.n_columns : array.n_rows;
  const std::int64_t stride = rows ? array.row_stride : array.column_stride;
  const ByteRange range = bytes_of(array);
  const bool gaps = range.size > 0 && (rows || columns) && n > 1 && stride > width && stride * size <= kMostApart;
  const std::int64_t bytes = gaps ? n * width * size : range.size;
  require_memory("a copy of " + std::string(what) + " in the host's memory needs", bytes, run);
  note_cuda_use();
  std::shared_ptr<void> memory = allocate_shared_bytes(bytes);
  auto* const to = static_cast<char*>(memory.get());
  ArrayView here = array;
  here.gpu = -1;
  here.stream = nullptr;
  here.data = to - range.first;
  here.owner = std::move(memory);
  if (gaps) {
    copy_rows(array, n, width * size, stride * size, to, run);
    (rows ? here.row_stride : here.column_stride) = width;
  } else {
    copy_bytes(array, static_cast<const char*>(array.data) + range.first, range.size, to, run);
  }
  return here;
}

}  // namespace stope::device
