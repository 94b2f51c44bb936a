// The back-end table: which ways there are to run a job, which are here, and which one a run gets.
#pragma once

#include <string>

#include "stope/device.hpp"
#include "stope/run.hpp"

namespace stope::device {

enum class Backend { reference, scalar, avx2, avx512, avx512vnni, cuda };

struct BackendChoice {
  Backend backend = Backend::reference;
  std::string name;
  std::string reason;   ///< why this one, for --explain
  bool forced = false;  ///< by STOPE_BACKEND: a plan then takes its fast path whatever that costs
};

/// The back end for a run: STOPE_BACKEND if set, else RunOptions::device. Throws device_unavailable (with the reason)
/// for one that is not here and invalid_argument for a name that is none.
BackendChoice choose_backend(const RunOptions& run);

}  // namespace stope::device
