// Strings of Python as codes and sorted names.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_factorize(nanobind::module_& module);

}  // namespace stope::python
