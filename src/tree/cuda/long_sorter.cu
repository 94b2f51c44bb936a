// CUB's radix sort of keys and rows. Keys of 32 bits stay as ranks; those of float64 become dense ranks.
#include "tree/cuda/long_sorter.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "device/cuda/check.hpp"
#include "discretize/value_order.hpp"

namespace stope::tree::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;
using stope::cuda::DeviceBuffer;

constexpr int kThreads = 256;

unsigned blocks_of(std::int64_t n) {
  return static_cast<unsigned>((n + kThreads - 1) / kThreads);
}

__device__ std::uint32_t key_of(float value) {
  return discretize::order_key(value);
}
__device__ std::uint64_t key_of(double value) {
  return discretize::order_key(value);
}
__device__ std::uint32_t key_of(std::int32_t code) {
  return static_cast<std::uint32_t>(code);
}
template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
__global__ void __launch_bounds__(kThreads)
    keys_kernel(const T* values, std::int64_t n, KeyOf<T>* keys, std::uint32_t* rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  keys[i] = key_of(values[i]);
  rows[i] = static_cast<std::uint32_t>(i);
}

__global__ void __launch_bounds__(kThreads)
    classes_kernel(const std::uint32_t* rows, const std::uint8_t* classes, std::int64_t n, std::uint8_t* to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) to[i] = classes[rows[i]];
}

/// Whether a sorted key is another one than that in front of it.
struct Differs {
  const std::uint64_t* keys;
  __host__ __device__ std::uint32_t operator()(std::int64_t i) const { return i > 0 && keys[i] != keys[i - 1] ? 1 : 0; }
};

/// Runs what CUB does, with memory that is kept.
template <class Call>
void with_scratch(DeviceBuffer<char>& scratch, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), "planning a sort");
  if (static_cast<std::int64_t>(bytes) > scratch.size()) {
    scratch = {};
    scratch = DeviceBuffer<char>(static_cast<std::int64_t>(bytes));
  }
  check(call(scratch.data(), bytes), "sorting columns");
}

void keep(std::uint32_t* to, const std::uint32_t* from, std::int64_t n, cudaStream_t stream) {
  if (from == to) return;
  check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream),
      "copying an order");
}

}  // namespace

template <class T>
void LongSorter::sort_column(Lane& lane, const T* x, const std::uint8_t* classes, const LongOrders& orders,
                             const LongOrders& other, std::int64_t column) {
  using Key = KeyOf<T>;
  constexpr bool kIsWide = sizeof(Key) == 8;
  cudaStream_t stream = lane.stream.get();
  const std::int64_t n = n_rows_, at = column * orders.stride, there = column * other.stride;
  cub::DoubleBuffer<std::uint32_t> rows(orders.rows + at, other.rows + there);
  cub::DoubleBuffer<Key> keys;
  if constexpr (kIsWide) {
    if (lane.keys.size() == 0) lane.keys = DeviceBuffer<std::uint64_t>(2 * n);
    keys = {lane.keys.data(), lane.keys.data() + n};
  } else {
    keys = {orders.ranks + at, other.ranks + there};
  }
  keys_kernel<T><<<blocks_of(n), kThreads, 0, stream>>>(x, n, keys.Current(), rows.Current());
  check_launch("making keys");
  with_scratch(lane.scratch, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, rows, n, 0, static_cast<int>(sizeof(Key)) * 8, stream);
  });
  keep(orders.rows + at, rows.Current(), n, stream);
  if constexpr (kIsWide) {
    const auto differs =
        thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), Differs{keys.Current()});
    with_scratch(lane.scratch, [&](void* scratch, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(scratch, bytes, differs, orders.ranks + at, n, stream);
    });
  } else {
    keep(orders.ranks + at, keys.Current(), n, stream);
  }
  classes_kernel<<<blocks_of(n), kThreads, 0, stream>>>(orders.rows + at, classes, n, orders.classes + at);
  check_launch("copying classes");
}

template <class T>
void LongSorter::sort(const T* values, std::int64_t n_columns, const std::uint8_t* classes, const LongOrders& orders,
                      const LongOrders& other, std::int64_t first, cudaStream_t stream) {
  check(cudaEventRecord(begun_.get(), stream), "marking a stream");
  for (Lane& lane : lanes_) begun_.hold(lane.stream);
  for (std::int64_t c = 0; c < n_columns; ++c) {
    sort_column(lanes_[c % kLanes], values + c * n_rows_, classes, orders, other, first + c);
  }
  for (Lane& lane : lanes_) {
    lane.done.record(lane.stream);
    check(cudaStreamWaitEvent(stream, lane.done.get(), 0), "making a stream wait");
  }
}

template void LongSorter::sort<float>(const float*, std::int64_t, const std::uint8_t*, const LongOrders&,
                                      const LongOrders&, std::int64_t, cudaStream_t);
template void LongSorter::sort<double>(const double*, std::int64_t, const std::uint8_t*, const LongOrders&,
                                       const LongOrders&, std::int64_t, cudaStream_t);
template void LongSorter::sort<std::int32_t>(const std::int32_t*, std::int64_t, const std::uint8_t*, const LongOrders&,
                                             const LongOrders&, std::int64_t, cudaStream_t);

}  // namespace stope::tree::cuda
