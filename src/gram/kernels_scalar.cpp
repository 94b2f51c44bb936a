// kernels.inl compiled for the instructions that every machine has.
#include "gram/kernels.hpp"
#include "gram/shape.hpp"

#define STOPE_LANES 2
namespace stope::gram::scalar {
#include "gram/kernels.inl"
}  // namespace stope::gram::scalar
