// Where the values of a column lie, whatever holds them.
#pragma once

#include <cstdint>

#include "stope/stats.hpp"

namespace stope::stats {

/// Value i of n lies at data[row_of(i) * stride], row_of(i) being rows[i], or i where there are none.
struct Source {
  const void* data = nullptr;
  ElementType type = ElementType::float64;
  std::int64_t n = 0;
  std::int64_t stride = 1;
  const std::int64_t* rows = nullptr;
};

constexpr std::int64_t size_of(ElementType type) {
  return type == ElementType::float32 || type == ElementType::int32 ? 4 : 8;
}
constexpr bool is_integer(ElementType type) {
  return type == ElementType::int32 || type == ElementType::int64;
}

/// Calls work(T{}) with the C++ type of an element.
template <class Work>
auto with_type(ElementType type, const Work& work) {
  switch (type) {
    case ElementType::float32: return work(float{});
    case ElementType::int32: return work(std::int32_t{});
    case ElementType::int64: return work(std::int64_t{});
    case ElementType::float64: break;
  }
  return work(double{});
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
