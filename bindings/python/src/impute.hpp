// Imputation of rows in arrays: `stope._core.Imputer`.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_impute(nanobind::module_& module);

}  // namespace stope::python
