// column_network.inl compiled for portable.
#include "discretize/column_network.hpp"

#define STOPE_LANES 2
namespace stope::discretize::portable {
namespace {
#include "discretize/column_network.inl"
}  // namespace
}  // namespace stope::discretize::portable

namespace stope::discretize {
const NetworkKernels kPortableNetworkKernels = {"scalar",
                                                STOPE_LANES,
                                                portable::sort_columns<double>,
                                                portable::sort_columns<float>,
                                                portable::two_classes,
                                                portable::permuted};
}  // namespace stope::discretize
