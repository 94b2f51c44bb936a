// The orders of long columns: CUB's radix sort of keys and rows. Keys of 32 bits stay as ranks; those of float64 become
// dense ranks.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "device/cuda/buffer.hpp"
#include "device/cuda/check.hpp"
#include "discretize/value_order.hpp"
#include "tree/cuda/long_tree.hpp"

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

/// Memory that CUB asks for, kept from call to call.
class Workspace {
 public:
  template <class Call>
  void run(const Call& call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), "planning a sort");
    if (static_cast<std::int64_t>(bytes) > memory_.size())
      memory_ = DeviceBuffer<char>(static_cast<std::int64_t>(bytes));
    check(call(memory_.data(), bytes), "sorting columns");
  }

 private:
  DeviceBuffer<char> memory_;
};

template <class Key>
cub::DoubleBuffer<std::uint32_t> sort_pairs(Workspace& workspace, cub::DoubleBuffer<Key>& keys,
                                            cub::DoubleBuffer<std::uint32_t> rows, std::int64_t n,
                                            cudaStream_t stream) {
  workspace.run([&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, rows, n, 0, static_cast<int>(sizeof(Key)) * 8, stream);
  });
  return rows;
}

void keep(std::uint32_t* to, const std::uint32_t* from, std::int64_t n, cudaStream_t stream) {
  if (from == to) return;
  check(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream),
      "copying an order");
}

}  // namespace

template <class T>
void sort_long(const T* values, std::int64_t n_columns, const std::uint8_t* classes, const LongOrders& orders,
               const LongOrders& other, std::int64_t first, std::int64_t n, cudaStream_t stream) {
  using Key = KeyOf<T>;
  Workspace workspace;
  DeviceBuffer<std::uint64_t> wide(sizeof(Key) == 8 ? 2 * n : 0);
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const std::int64_t at = (first + c) * orders.stride, there = (first + c) * other.stride;
    cub::DoubleBuffer<std::uint32_t> rows(orders.rows + at, other.rows + there);
    cub::DoubleBuffer<Key> keys;
    if constexpr (sizeof(Key) == 8) {
      keys = {wide.data(), wide.data() + n};
    } else {
      keys = {orders.ranks + at, other.ranks + there};
    }
    keys_kernel<T><<<blocks_of(n), kThreads, 0, stream>>>(values + c * n, n, keys.Current(), rows.Current());
    check_launch("making keys");
    rows = sort_pairs(workspace, keys, rows, n, stream);
    keep(orders.rows + at, rows.Current(), n, stream);
    if constexpr (sizeof(Key) == 8) {
      const auto differs =
          thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), Differs{keys.Current()});
      workspace.run([&](void* memory, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(memory, bytes, differs, orders.ranks + at, n, stream);
      });
    } else {
      keep(orders.ranks + at, keys.Current(), n, stream);
    }
    classes_kernel<<<blocks_of(n), kThreads, 0, stream>>>(orders.rows + at, classes, n, orders.classes + at);
    check_launch("copying classes");
  }
  check(cudaStreamSynchronize(stream), "sorting columns");  // before the memory goes
}

template void sort_long<float>(const float*, std::int64_t, const std::uint8_t*, const LongOrders&, const LongOrders&,
                               std::int64_t, std::int64_t, cudaStream_t);
template void sort_long<double>(const double*, std::int64_t, const std::uint8_t*, const LongOrders&, const LongOrders&,
                                std::int64_t, std::int64_t, cudaStream_t);
template void sort_long<std::int32_t>(const std::int32_t*, std::int64_t, const std::uint8_t*, const LongOrders&,
                                      const LongOrders&, std::int64_t, std::int64_t, cudaStream_t);

}  // namespace stope::tree::cuda
