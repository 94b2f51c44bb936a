// kernels.inl compiled for the instructions every machine has.
#include "knn/filter/scan/scan.hpp"

#define STOPE_LANES 4
namespace stope::knn::scalar {
#include "knn/filter/scan/kernels.inl"
}  // namespace stope::knn::scalar
