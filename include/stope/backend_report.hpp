// The beginning of every job's report: what ran the job, and why.
#pragma once

#include <string>

namespace stope {

/// How a job ran, for --explain and --json. Each job's report adds its own members.
struct BackendReport {
  std::string backend;  ///< "reference", "scalar", "avx2", "avx512", "avx512vnni", "cuda" (stope/device.hpp)
  std::string reason;   ///< what this back end is, or who asked for it; may be empty
  /// Why RunOptions::device "auto" took the CPU or a GPU: "auto: about 3 ms on the CPU, 40 ms on the GPU". Empty where
  /// the device was named.
  std::string device_reason;
  int threads = 0;       ///< threads of the CPU
  double seconds = 0.0;  ///< wall time of the job
};

}  // namespace stope
