// The measures whose images the tensor filter compares (knn/gpu/tensor/image_columns.hpp), each with a kernel of its
// own where distances are evaluated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <typeinfo>

#include "knn/cuda_abi.hpp"
#include "knn/measure/formulas/cosine.hpp"
#include "knn/measure/formulas/euclidean.hpp"
#include "knn/measure/formulas/heom.hpp"
#include "knn/measure/formulas/mixed_euclidean.hpp"
#include "knn/measure/formulas/sqeuclidean.hpp"

namespace stope::knn::cuda {

/// The measure's struct, from the bytes that the host has sent.
template <class M>
M measure_of(const void* bytes) {
  alignas(M) unsigned char copy[sizeof(M)];
  std::memcpy(copy, bytes, sizeof(M));
  return *reinterpret_cast<const M*>(copy);
}

/// Of<M>::launch for the measure, or null.
template <template <class> class Of, class Kernel>
Kernel find_filter_kernel(const cuda_abi::Measure& measure) {
  struct Row {
    const char* type;
    std::size_t n_bytes;
    Kernel kernel;
  };
  static const Row rows[] = {{typeid(Euclidean).name(), sizeof(Euclidean), &Of<Euclidean>::launch},
                             {typeid(SquaredEuclidean).name(), sizeof(SquaredEuclidean), &Of<SquaredEuclidean>::launch},
                             {typeid(MixedEuclidean).name(), sizeof(MixedEuclidean), &Of<MixedEuclidean>::launch},
                             {typeid(Heom).name(), sizeof(Heom), &Of<Heom>::launch},
                             {typeid(Cosine).name(), sizeof(Cosine), &Of<Cosine>::launch},
                             {typeid(CosineAngle).name(), sizeof(CosineAngle), &Of<CosineAngle>::launch}};
  // Without nominal attributes the two are one formula, of which this one has the shorter terms.
  static_assert(sizeof(MixedEuclidean) == sizeof(Euclidean));
  const auto* attributes = static_cast<const Attribute*>(measure.attributes);
  const bool nominal =
      std::any_of(attributes, attributes + measure.n_attributes, [](const Attribute& a) { return a.nominal; });
  const bool plain = std::strcmp(measure.type, typeid(MixedEuclidean).name()) == 0 && !nominal;
  const char* type = plain ? typeid(Euclidean).name() : measure.type;
  for (const Row& row : rows) {
    if (std::strcmp(row.type, type) == 0 && row.n_bytes == static_cast<std::size_t>(measure.n_bytes)) return row.kernel;
  }
  return nullptr;
}

}  // namespace stope::knn::cuda
