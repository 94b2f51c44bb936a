// The kernel of MDLP (mdlp.hpp): a block cuts one interval of its column after another, from a stack.
#pragma once

#include <cstdint>

#include "discretize/cuda/column_search.cuh"
#include "discretize/cuda/mdlp.hpp"
#include "discretize/mdlp_price.hpp"

namespace stope::discretize::cuda {

/// A block's shared memory, but for what the search has.
struct MdlpMemory {
  std::uint32_t begins[cuda_abi::kMostSetCuts + 1], ends[cuda_abi::kMostSetCuts + 1];  ///< open intervals, a stack
  std::uint32_t found[cuda_abi::kMostSetCuts];                                         ///< last places before cuts
  int n_open, n_found;
  std::uint32_t place;
};

/// For one thread: what MDLP needs to know of a part, whose classes have count_of(k).
template <class Search, class CountOf>
__device__ __forceinline__ PricedPart priced(const Search& search, const CountOf& count_of) {
  double sum = 0.0;
  std::int64_t total = 0;
  int n_present = 0;
  for (int k = 0; k < search.n_classes(); ++k) {
    const std::int64_t count = count_of(k);
    sum = __dadd_rn(sum, information_of(search.gains(), count));
    total += count;
    n_present += count > 0 ? 1 : 0;
  }
  const double entropy = __dadd_rn(information_of(search.gains(), total), -sum);
  return {static_cast<double>(n_present), entropy / static_cast<double>(total)};
}

/// For one thread, after count_left: whether the best cut of an interval pays.
template <class Search>
__device__ __forceinline__ bool is_paid(const Search& search, const Places& interval, unsigned long long gain,
                                        double unit) {
  const auto total = static_cast<double>(search.whole().total);
  const PricedPart both{static_cast<double>(search.n_present()), search.whole().entropy / total};
  const PricedPart left = priced(search, [&](int k) { return search.left_of(k); });
  const PricedPart right = priced(search, [&](int k) { return search.both_of(k) - search.left_of(k); });
  return cut_pays(__longlong_as_double(static_cast<long long>(gain)), both, left, right, interval.size(), total * unit);
}

/// A block takes a column, in the shape of SearchShape.
template <bool kWeighted>
__global__ void __launch_bounds__(kMostSearchThreads) mdlp_kernel(const __grid_constant__ MdlpJob job) {
  using Search = ColumnSearch<EntropyWorth, kWeighted>;
  extern __shared__ unsigned long long counters[];
  __shared__ SearchMemory<EntropyWorth::Key> of_search;
  __shared__ MdlpMemory memory;
  const std::int64_t number = blockIdx.x;
  if (threadIdx.x == 0) {
    memory.begins[0] = job.n_missing[number];
    memory.ends[0] = static_cast<std::uint32_t>(job.n_rows);
    memory.n_open = 1;
    memory.n_found = 0;
  }
  __syncthreads();
  Search search(job.columns, number, reinterpret_cast<typename Search::Count*>(counters), of_search);
  while (memory.n_open > 0) {
    const int top = memory.n_open - 1;
    const Places interval{memory.begins[top], memory.ends[top]};
    const typename Search::Best best = search.best_cut(interval);
    if (best.key != 0) search.count_left(interval, best);
    __syncthreads();  // all threads have read the stack
    if (threadIdx.x == 0) {
      memory.n_open = top;
      const bool pays = best.key != 0 && is_paid(search, interval, best.key, kWeighted ? kWeightUnit : 1.0);
      if (pays && memory.n_found == cuda_abi::kMostSetCuts) {
        memory.n_open = 0;
        memory.n_found = static_cast<int>(cuda_abi::kUndecided);
      } else if (pays) {
        memory.found[memory.n_found++] = best.at;
        memory.ends[top] = best.at + 1;
        memory.begins[top + 1] = best.at + 1;
        memory.ends[top + 1] = interval.end;
        memory.n_open = top + 2;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    if (memory.n_found > 0) {
      memory.place = atomicAdd(job.n_written, static_cast<unsigned>(memory.n_found));
      const auto end = static_cast<std::int64_t>(memory.place) + memory.n_found;
      if (end > job.most) memory.n_found = static_cast<int>(cuda_abi::kUndecided);
    }
    job.n_cuts[number] = memory.n_found;
  }
  __syncthreads();
  const std::uint32_t* const rows = job.columns.orders.rows + number * job.columns.orders.stride;
  for (int i = static_cast<int>(threadIdx.x); i < memory.n_found; i += static_cast<int>(blockDim.x)) {
    const std::uint32_t at = memory.found[i];
    job.cuts[memory.place + static_cast<std::uint32_t>(i)] = {rows[at], rows[at + 1],
                                                              static_cast<std::int32_t>(number)};
  }
}

}  // namespace stope::discretize::cuda
