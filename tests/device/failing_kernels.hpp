// Kernels that fail on a GPU while they run, for watched_plugin.cpp.
#pragma once

#include <cuda_runtime_api.h>

namespace stope::failing {

enum class Kind {
  trap,     ///< stops by __trap()
  address,  ///< writes where no memory is
};

/// Queues such a kernel. Its failure shows at a later call.
void launch(Kind kind, cudaStream_t stream);

}  // namespace stope::failing
