// Arrays in a GPU's memory, as other libraries describe them, and searches from and into them.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "arrays.hpp"
#include "stope/array.hpp"

namespace stope::python {

/// Memory of another library that lies in a GPU: `stope._core.DeviceArray`. Nothing here reads or writes it.
struct DeviceArray {
  ArrayView view;
  nanobind::object owner;         ///< keeps the memory
  std::optional<AnyArray> array;  ///< keeps it, too, where DLPack told of it
};

void bind_device_arrays(nanobind::module_& module);

}  // namespace stope::python
