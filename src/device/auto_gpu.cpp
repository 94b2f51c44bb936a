#include "device/auto_gpu.hpp"

#include <algorithm>

#include "device/backend.hpp"
#include "device/cuda_plugin.hpp"

namespace stope::device {

std::vector<int> gpus_that_pay(const RunOptions& run, double on_processor, double on_gpu) {
  if (!is_automatic(run)) return {};
  const double there = on_gpu + (cuda_was_used() ? 0.0 : kDriverSeconds);
  if (kGpuMargin * there >= on_processor) return {};  // first: a look at what GPUs there are takes the driver longer
  if (cuda().functions == nullptr) return {};
  for (const GpuInfo& gpu : cuda().gpus) {
    if (gpu.available) return {gpu.index};
  }
  return {};
}

std::int64_t usable_gpu_memory(int gpu, const RunOptions& run) {
  std::int64_t free = 0;
  checked_call([&](cuda_abi::Failure* failure) { return cuda().functions->free_memory(gpu, &free, failure); });
  return run.memory_limit > 0 ? std::min(run.memory_limit, free) : free;
}

std::string give_up_gpu(const Error& error, bool named) {
  const bool is_of_gpu = error.code() == ErrorCode::device_lost || error.code() == ErrorCode::device_unavailable ||
                         error.code() == ErrorCode::out_of_memory;
  if (named || !is_of_gpu) throw;
  return std::string("the GPU was given up: ") + error.what();
}

}  // namespace stope::device
