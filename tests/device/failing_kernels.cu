// Kernels after which CUDA refuses this process every call: watched_plugin.cpp launches one instead of a kernel of the
// plug-in.
#include "failing_kernels.hpp"

namespace stope::failing {
namespace {

__global__ void trap() {
  __trap();
}

__global__ void write_to(int* where) {
  *where = 1;
}

}  // namespace

void launch(Kind kind, cudaStream_t stream) {
  if (kind == Kind::trap) {
    trap<<<1, 1, 0, stream>>>();
  } else {
    write_to<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(0x1000));  // aligned, and in no allocation
  }
}

}  // namespace stope::failing
