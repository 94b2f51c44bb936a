// One warp a query and one lane a pair. Attributes come in column order, so that the results have the bits of the host.
#pragma once

#include <cstring>
#include <typeinfo>

#include "device/cuda/check.hpp"
#include "knn/cuda/differences/listed_pairs.hpp"
#include "knn/measure/measures.hpp"
#include "knn/measure/result.hpp"

namespace stope::knn::cuda {

inline constexpr int kListedWarps = 4;

template <class M>
__device__ double distance_of_rows(const M& measure, const ListedPairs& pairs, const double* train,
                                   const double* query) {
  if constexpr (Accumulating<M>) {
    typename M::State state;
#pragma unroll 4
    for (std::int64_t a = 0; a < pairs.width; ++a) measure.add(state, train[a], query[a], pairs.attributes[a]);
    return result_of_state<Quantity::distance>(measure, state);
  } else {
    return result_of_rows<Quantity::distance>(measure, RowPair{train, query, pairs.attributes, pairs.width, nullptr});
  }
}

template <class M>
__global__ void __launch_bounds__(kListedWarps * 32) listed_kernel(const M measure, const ListedPairs pairs) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kListedWarps + threadIdx.x / 32;
  if (query >= pairs.n_queries) return;
  const std::int32_t* rows = pairs.rows + query * pairs.stride;
  double* distances = pairs.distances + query * pairs.stride;
  const std::int32_t n = pairs.counts[query];
  for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x) % 32; i < n; i += 32) {
    distances[i] = distance_of_rows(measure, pairs, pairs.train + static_cast<std::int64_t>(rows[i]) * pairs.width,
                                    pairs.queries + query * pairs.width);
  }
}

template <class M>
void launch_listed(const ListedPairs& pairs, const void* bytes, cudaStream_t stream) {
  alignas(M) unsigned char copy[sizeof(M)];
  std::memcpy(copy, bytes, sizeof(M));
  if (pairs.n_queries == 0) return;
  const auto blocks = static_cast<unsigned>((pairs.n_queries + kListedWarps - 1) / kListedWarps);
  listed_kernel<M><<<blocks, kListedWarps * 32, 0, stream>>>(*reinterpret_cast<const M*>(copy), pairs);
  stope::cuda::check_launch("evaluating distances");
}

template <class... M>
std::span<const ListedKernel> listed_kernels(MeasureList<M...> /*measures*/) {
  static const ListedKernel kernels[] = {{typeid(M).name(), sizeof(M), &launch_listed<M>}...};
  return kernels;
}

}  // namespace stope::knn::cuda
