// scan_kernels.inl compiled for the instructions every machine has.
#include "knn/filter/scan.hpp"

#define STOPE_LANES 4
namespace stope::knn::scalar {
namespace {
#include "knn/filter/scan_kernels.inl"
}  // namespace
}  // namespace stope::knn::scalar

namespace stope::knn {
ScanFunction scan_scalar(const FilterForm& form, ScanKind kind) {
  return scalar::find(form, kind);
}
}  // namespace stope::knn
