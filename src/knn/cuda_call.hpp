// Calls of the CUDA plug-in's functions for nearest neighbours.
#pragma once

#include "device/cuda_plugin.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn {

/// Only where the back end is cuda: then the plug-in is loaded.
inline const cuda_abi::Functions& cuda_functions() {
  return *device::cuda().functions->knn;
}

/// Calls a function of the plug-in and throws what it reports.
template <class Call>
void checked_call(const Call& call) {
  cuda_abi::Failure failure{};
  if (call(&failure) != 0) device::throw_failure(failure);
}

}  // namespace stope::knn
