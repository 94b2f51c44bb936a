// The back-end table: which ways there are to run a job, which are here, and which one a run gets.
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
  bool forced = false;             ///< by STOPE_BACKEND: a plan then takes its fast path whatever that costs
  bool automatic = false;          ///< a GPU that nobody asked for: where it fails, the CPU goes on
  std::vector<int> gpus = {};      ///< of cuda: the numbers of the GPUs to use, as often as they were named
  std::string device_reason = {};  ///< why auto took it: BackendReport::device_reason
};

/// Whether the device is for the job to choose: RunOptions::device is auto, and STOPE_BACKEND is not set.
bool is_automatic(const RunOptions& run);

/// The back end for a run: STOPE_BACKEND if set, else RunOptions::device; for auto the CPU's best. Throws
/// device_unavailable (with the reason) for one that is not here and invalid_argument for a name that is none.
BackendChoice choose_backend(const RunOptions& run);

/// The best of the CPU's own back ends. `reason`, unless it is empty, says why the one chosen cannot do the job.
BackendChoice choose_cpu_backend(const std::string& reason);

}  // namespace stope::device
