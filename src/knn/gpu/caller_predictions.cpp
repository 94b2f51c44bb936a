#include "knn/gpu/caller_predictions.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "base/checked.hpp"
#include "device/array_abi.hpp"
#include "device/cuda_plugin.hpp"
#include "device/gpu_array.hpp"
#include "knn/gpu/call.hpp"
#include "stope/error.hpp"

namespace stope::knn {
namespace {

// Numbers that are collected for a GPU: a megabyte goes there about as fast as the bus allows.
constexpr std::int64_t kMostValues = std::int64_t{1} << 17;

constexpr const char *kCodes = "the predictions' codes", *kValues = "the predictions' values";

void require(const void* memory, const char* what) {
  if (memory != nullptr) return;
  throw Error(ErrorCode::invalid_argument, "the memory of " + std::string(what) + " is null");
}

void check_stream(const PredictionArrays& arrays) {
  checked_call([&](stope::cuda_abi::Failure* failure) {
    return device::plugin().arrays->check_stream(arrays.gpu, arrays.stream, failure);
  });
}

template <class T>
void upload(const PredictionArrays& arrays, const std::vector<T>& from, std::int64_t n, T* to) {
  checked_call([&](stope::cuda_abi::Failure* failure) {
    return device::plugin().arrays->upload(arrays.gpu, arrays.stream, from.data(),
                                           n * static_cast<std::int64_t>(sizeof(T)), to, failure);
  });
}

}  // namespace

CallerPredictions::CallerPredictions(const PredictionArrays& arrays, std::int64_t n_queries, std::int64_t n_values,
                                     bool classes)
    : arrays_(arrays),
      n_values_(n_values),
      most_(std::clamp<std::int64_t>(kMostValues / std::max<std::int64_t>(n_values, 1), 1, kMostValues)) {
  if (!classes) arrays_.codes = nullptr;
  if (n_values == 0) arrays_.values = nullptr;
  const std::int64_t code_bytes = checked::mul(n_queries, sizeof(std::int32_t)),
                     value_bytes = checked::mul(checked::mul(n_queries, n_values), sizeof(double));
  if (arrays.gpu >= 0) {
    device::check_gpu(arrays.gpu, "the predictions");
    if (classes) device::check_gpu_memory(arrays.codes, code_bytes, arrays.gpu, kCodes);
    if (n_values > 0) device::check_gpu_memory(arrays.values, value_bytes, arrays.gpu, kValues);
    check_stream(arrays);
    return;
  }
  if (n_queries == 0) return;
  if (classes) require(arrays.codes, kCodes);
  if (n_values > 0) require(arrays.values, kValues);
}

PredictionPlace CallerPredictions::place(std::int64_t query) {
  std::int32_t* codes = arrays_.codes;
  double* values = arrays_.values;
  std::int64_t at = query;
  if (arrays_.gpu >= 0) {
    if (n_ == most_ || query != first_ + n_) flush();
    if (n_ == 0) first_ = query;
    at = n_++;
    codes_.resize(codes != nullptr ? static_cast<std::size_t>(n_) : 0);
    values_.resize(values != nullptr ? static_cast<std::size_t>(n_ * n_values_) : 0);
    codes = codes_.data();
    values = values_.data();
  }
  return {arrays_.codes != nullptr ? codes + at : nullptr,
          arrays_.values != nullptr ? std::span(values + at * n_values_, static_cast<std::size_t>(n_values_))
                                    : std::span<double>()};
}

void CallerPredictions::flush() {
  if (n_ == 0) return;
  if (arrays_.codes != nullptr) upload(arrays_, codes_, n_, arrays_.codes + first_);
  if (arrays_.values != nullptr) upload(arrays_, values_, n_ * n_values_, arrays_.values + first_ * n_values_);
  n_ = 0;
}

}  // namespace stope::knn
