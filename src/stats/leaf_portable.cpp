// leaf_kernels.inl compiled for portable.
#include "stats/leaf_kernels.hpp"

#define STOPE_LANES 2
namespace stope::stats::portable {
namespace {
#include "stats/leaf_kernels.inl"
#include "stats/row_kernels.inl"
}  // namespace
}  // namespace stope::stats::portable

namespace stope::stats {
const LeafKernels kPortableLeafKernels = {"scalar",
                                          portable::leaf<float>,
                                          portable::leaf<double>,
                                          portable::leaf<std::int32_t>,
                                          portable::leaf<std::int64_t>,
                                          portable::rows<float>,
                                          portable::rows<double>,
                                          portable::rows<std::int32_t>,
                                          portable::rows<std::int64_t>,
                                          portable::kRowColumns,
                                          portable::kRowScratch};
}  // namespace stope::stats
