// Launches of the sort of short columns (short_orders.cuh).
#include "tree/cuda/short_orders.cuh"

#include "device/cuda/check.hpp"

namespace stope::tree::cuda {
namespace {

template <class T, int n>
void launch(const T* values, std::int64_t n_columns, const ShortOrders& to, std::int64_t first, cudaStream_t stream) {
  constexpr std::int64_t kWarps = kOrderWarps<T>;
  const auto blocks = static_cast<unsigned>((n_columns + kWarps - 1) / kWarps);
  short_orders_kernel<T, n><<<blocks, 32 * kWarps, 0, stream>>>(values, n_columns, to, first);
  stope::cuda::check_launch("sorting short columns");
}

}  // namespace

template <class T>
void sort_short(const T* values, std::int64_t n_columns, const ShortOrders& orders, std::int64_t first,
                cudaStream_t stream) {
  if (orders.n_rows <= 128) return launch<T, 4>(values, n_columns, orders, first, stream);
  if (orders.n_rows <= 256) return launch<T, 8>(values, n_columns, orders, first, stream);
  if (orders.n_rows <= 512) return launch<T, 16>(values, n_columns, orders, first, stream);
  launch<T, 32>(values, n_columns, orders, first, stream);
}

template void sort_short<float>(const float*, std::int64_t, const ShortOrders&, std::int64_t, cudaStream_t);
template void sort_short<double>(const double*, std::int64_t, const ShortOrders&, std::int64_t, cudaStream_t);
template void sort_short<std::int32_t>(const std::int32_t*, std::int64_t, const ShortOrders&, std::int64_t,
                                       cudaStream_t);

}  // namespace stope::tree::cuda
