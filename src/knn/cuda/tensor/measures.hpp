// The measures whose images the tensor filter compares (knn/gpu/tensor/image_columns.hpp). Each has its own kernel that
// evaluates distances. Their kFilter decides which measures these are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <typeinfo>

#include "knn/cuda_abi.hpp"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

/// Makes the measure's struct from the bytes that the host sent.
template <class M>
M measure_of(const void* bytes) {
  alignas(M) unsigned char copy[sizeof(M)];
  std::memcpy(copy, bytes, sizeof(M));
  return *reinterpret_cast<const M*>(copy);
}

template <class Kernel>
struct TensorKernel {
  const char* type;
  std::size_t n_bytes;
  Kernel kernel;
};

template <template <class> class Of, class Kernel, class... M>
std::span<const TensorKernel<Kernel>> tensor_kernels(MeasureList<M...> /*measures*/) {
  static const TensorKernel<Kernel> kernels[] = {{typeid(M).name(), sizeof(M), &Of<M>::launch}...};
  return kernels;
}

/// Returns Of<M>::launch for the measure M, or null.
template <template <class> class Of, class Kernel>
Kernel find_tensor_kernel(const cuda_abi::Measure& measure) {
  // Without nominal attributes MixedEuclidean and Euclidean are one formula, and Euclidean has the shorter terms.
  static_assert(sizeof(MixedEuclidean) == sizeof(Euclidean));
  const auto* attributes = static_cast<const Attribute*>(measure.attributes);
  const bool nominal =
      std::any_of(attributes, attributes + measure.n_attributes, [](const Attribute& a) { return a.nominal; });
  const bool plain = std::strcmp(measure.type, typeid(MixedEuclidean).name()) == 0 && !nominal;
  const char* type = plain ? typeid(Euclidean).name() : measure.type;
  for (const auto& row : tensor_kernels<Of, Kernel>(on_matrix_units(kAllMeasures))) {
    if (std::strcmp(row.type, type) == 0 && row.n_bytes == static_cast<std::size_t>(measure.n_bytes)) return row.kernel;
  }
  return nullptr;
}

}  // namespace stope::knn::cuda
