// The gram operator: products with a matrix that is read once for both A x and A^T y.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_gram(nanobind::module_& module);

}  // namespace stope::python
