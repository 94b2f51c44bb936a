// The back-end table: the ways to run a job, which of them are available, and which one a run gets.
#pragma once

#include <string>
#include <vector>

#include "stope/device.hpp"
#include "stope/run.hpp"

namespace stope::device {

enum class Backend { reference, scalar, avx2, avx512, avx512vnni, cuda };

struct BackendChoice {
  Backend backend = Backend::reference;
  std::string name;
  std::string reason;              ///< what it is, or who asked for it: BackendReport::reason
  bool forced = false;             ///< STOPE_BACKEND forces it: a plan then takes its fast path at any cost
  bool automatic = false;          ///< a GPU that nobody asked for: if it fails, the CPU goes on
  std::vector<int> gpus = {};      ///< cuda: the numbers of the GPUs to use, as often as they were named
  std::string device_reason = {};  ///< why auto took it: BackendReport::device_reason
};

/// Whether the job may choose the device: RunOptions::device is auto, and STOPE_BACKEND is not set.
bool is_automatic(const RunOptions& run);

/// The back end for a run: STOPE_BACKEND if set, else RunOptions::device; for auto it is the CPU's best. Throws
/// device_unavailable (with the reason) for one that is not available, and invalid_argument for an unknown name.
BackendChoice choose_backend(const RunOptions& run);

/// The CPU's best back end. `reason`, unless it is empty, says why the chosen back end cannot do the job.
BackendChoice choose_cpu_backend(const std::string& reason);

}  // namespace stope::device
