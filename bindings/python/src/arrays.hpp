// NumPy's arrays, and those of other libraries, as the core takes them; the core's vectors and buffers as NumPy's
// arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "stope/array.hpp"

namespace stope::python {

/// Any array of one or two dimensions: NumPy's, or one of a GPU's.
using AnyArray = nanobind::ndarray<nanobind::ro>;

/// Whether the core may keep the array's memory after the call. Only memory that nobody writes to may be lent.
enum class Lend { no, yes };

/// The array as the core sees it. Throws UnsupportedError for another element type (float16, uint64, complex), another
/// number of dimensions, and another device.
ArrayView view_of(const AnyArray& array, Lend lend = Lend::no);

/// Keeps a Python object alive; the last copy takes the GIL to let it go.
std::shared_ptr<void> keep_alive(nanobind::object object);

/// A NumPy array over `data`, which `owner` keeps alive.
template <class T, class Owner>
nanobind::object array_over(T* data, std::initializer_list<std::size_t> shape, Owner owner) {
  auto held = std::make_unique<Owner>(std::move(owner));
  const nanobind::capsule capsule(held.get(),
                                  [](void* p) noexcept { const std::unique_ptr<Owner> last(static_cast<Owner*>(p)); });
  static_cast<void>(held.release());
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, shape.size(), shape.begin(), capsule));
}

/// A NumPy array that takes the vector's memory over. An empty shape stands for one dimension.
template <class T>
nanobind::object array_of(std::vector<T> values, std::initializer_list<std::size_t> shape = {}) {
  T* data = values.data();
  const std::size_t size = values.size();
  if (shape.size() > 0) return array_over(data, shape, std::move(values));
  return array_over(data, {size}, std::move(values));
}

}  // namespace stope::python
