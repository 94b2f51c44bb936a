#include "knn/gpu/caller_lists.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/checked.hpp"
#include "device/array_abi.hpp"
#include "device/cuda_plugin.hpp"
#include "device/gpu_array.hpp"
#include "knn/gpu/call.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

const stope::cuda_abi::ArrayFunctions& array_functions() {
  return *device::plugin().arrays;
}

void require(const void* memory, const char* what) {
  if (memory != nullptr) return;
  throw Error(ErrorCode::invalid_argument, "the memory of " + std::string(what) + " is null");
}

}  // namespace

CallerLists::CallerLists(const NeighborArrays& arrays, std::int64_t n_queries, std::int64_t k)
    : arrays_(arrays), k_(k) {
  constexpr const char *kIndices = "the lists' indices", *kDistances = "the lists' distances";
  const std::int64_t bytes = checked::mul(checked::mul(n_queries, k), sizeof(double));
  if (arrays.gpu < 0) {
    if (bytes == 0) return;
    require(arrays.indices, kIndices);
    require(arrays.distances, kDistances);
    return;
  }
  device::check_gpu(arrays.gpu, "the lists");
  device::check_gpu_memory(arrays.indices, bytes, arrays.gpu, kIndices);
  device::check_gpu_memory(arrays.distances, bytes, arrays.gpu, kDistances);
  checked_call([&](stope::cuda_abi::Failure* failure) {
    return array_functions().check_stream(arrays.gpu, arrays.stream, failure);
  });
}

void CallerLists::write(const Neighbors& lists) const {
  const std::int64_t n = lists.n_queries();
  if (static_cast<std::int64_t>(lists.indices.size()) == n * k_) {  // no list is longer than k: all are full
    return put(lists.first_query, n, lists.indices.data(), lists.distances.data());
  }
  const auto size = static_cast<std::size_t>(n * k_);
  std::vector<std::int64_t> indices(size, -1);
  std::vector<double> distances(size, std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t begin = lists.offsets[static_cast<std::size_t>(i)];
    const std::int64_t length = lists.offsets[static_cast<std::size_t>(i) + 1] - begin;
    std::copy_n(lists.indices.data() + begin, length, indices.data() + i * k_);
    std::copy_n(lists.distances.data() + begin, length, distances.data() + i * k_);
  }
  put(lists.first_query, n, indices.data(), distances.data());
}

void CallerLists::write(const Outcome& outcome) const {
  // Consecutive ones go together: few copies to the GPU.
  for (std::size_t begin = 0, end = 0; begin < outcome.listed.size(); begin = end) {
    Neighbors lists;
    lists.first_query = outcome.first_query + outcome.listed[begin];
    const std::int64_t ahead = outcome.listed[begin] - static_cast<std::int64_t>(begin);
    for (; end < outcome.listed.size() && outcome.listed[end] - static_cast<std::int64_t>(end) == ahead; ++end) {
      for (const Neighbor& candidate : outcome.lists[end]) {
        lists.indices.push_back(candidate.row);
        lists.distances.push_back(candidate.distance);
      }
      lists.offsets.push_back(static_cast<std::int64_t>(lists.indices.size()));
    }
    write(lists);
  }
}

void CallerLists::put(std::int64_t first_query, std::int64_t n, const std::int64_t* indices,
                      const double* distances) const {
  if (n == 0) return;
  std::int64_t* const to_indices = arrays_.indices + first_query * k_;
  double* const to_distances = arrays_.distances + first_query * k_;
  if (arrays_.gpu < 0) {
    std::copy_n(indices, n * k_, to_indices);
    std::copy_n(distances, n * k_, to_distances);
    return;
  }
  const std::int64_t bytes = n * k_ * static_cast<std::int64_t>(sizeof(double));
  const auto upload = [&](const void* from, void* to) {
    checked_call([&](stope::cuda_abi::Failure* failure) {
      return array_functions().upload(arrays_.gpu, arrays_.stream, from, bytes, to, failure);
    });
  };
  upload(indices, to_indices);
  upload(distances, to_distances);
}

}  // namespace stope::knn
