// One pass over an array of numbers: whether all are finite, and instants as days.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_scan(nanobind::module_& module);

}  // namespace stope::python
