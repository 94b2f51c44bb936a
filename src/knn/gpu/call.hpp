// How the host calls the CUDA plug-in's functions for nearest neighbours.
#pragma once

#include "device/cuda_plugin.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn {

/// Call it only where the back end is cuda: the plug-in is loaded then.
inline const cuda_abi::Functions& cuda_functions() {
  return *device::plugin().knn;
}

using device::checked_call;

}  // namespace stope::knn
