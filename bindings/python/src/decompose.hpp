// Principal components and linear models: fitted, applied, and as the bytes of model files.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_decompose(nanobind::module_& module);

}  // namespace stope::python
