// What hardware there is and which back ends can run on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stope/run.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// A way to run the jobs. `reason` says why it is not available, or what it runs on.
struct BackendInfo {
  std::string name;  ///< reference, scalar, avx2, avx512, avx512vnni, cuda
  bool available = false;
  std::string reason;
};

/// A GPU that the NVIDIA driver shows. CUDA_VISIBLE_DEVICES decides which GPUs those are, and their numbers.
struct GpuInfo {
  int index = 0;  ///< the number that --device cuda:NUMBER takes
  std::string name;
  std::string uuid;    ///< as nvidia-smi prints it: GPU-..., or MIG-... for a part; --device cuda:UUID takes it
  std::string arch;    ///< e.g. sm_90
  std::string driver;  ///< the newest CUDA version that the driver supports
  std::int64_t memory_total = 0;  ///< bytes
  int multiprocessors = 0;
  bool available = false;
  std::string reason;  ///< why it cannot be used
};

struct DeviceInfo {
  std::string cpu;                ///< the CPU's name
  int threads = 0;                ///< cores this process may use
  std::int64_t memory_total = 0;  ///< bytes, cgroup limits respected
  std::int64_t memory_available = 0;
  std::vector<BackendInfo> backends;
  std::vector<GpuInfo> gpus;
};

DeviceInfo device_info();

/// Throws what a job under `run` would throw for its back end (RunOptions::device, STOPE_BACKEND): device_unavailable
/// with the reason, invalid_argument for an unknown name. Front ends call this before they read large inputs.
void require_backend(const RunOptions& run);

}  // namespace stope
#pragma GCC visibility pop
