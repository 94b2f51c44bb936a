// The beginning of every job's report: what ran the job, and why.
#pragma once

#include <string>

#pragma GCC visibility push(default)
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

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const BackendReport& report);
std::string to_text(const BackendReport& report);

}  // namespace stope
#pragma GCC visibility pop
