// Where the values of a column lie, whatever holds them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/array.hpp"
#include "stope/array.hpp"

namespace stope::stats {

/// Value i of n lies at data[row_of(i) * stride], row_of(i) being rows[i], or i where there are none. The stride may be
/// negative.
struct Source {
  const void* data = nullptr;
  ElementType type = ElementType::float64;
  std::int64_t n = 0;
  std::int64_t stride = 1;
  const std::int64_t* rows = nullptr;
};

/// The type in which the kernels read elements of type T: smaller integers are widened.
template <class T>
using KernelOf = std::conditional_t<std::is_floating_point_v<T> || std::is_same_v<T, std::int64_t>, T,
                                    std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int64_t, std::int32_t>>;

/// Calls work(T{}) with the type in which the kernels read an element.
template <class Work>
auto with_kernel_type(ElementType type, const Work& work) {
  return with_type(type, [&](auto stored) { return work(KernelOf<decltype(stored)>{}); });
}

/// Whether kernels, those of GPUs too, read the elements as they are.
constexpr bool has_kernels(ElementType type) {
  return size_of(type) >= 4 && type != ElementType::uint32;
}

/// The type that values of type T have in a Part.
template <class T>
struct WideOf {
  using Type = std::int64_t;
};
template <>
struct WideOf<float> {
  using Type = double;
};
template <>
struct WideOf<double> {
  using Type = double;
};

}  // namespace stope::stats
