// Statistics of columns, as dicts of arrays.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_stats(nanobind::module_& module);

}  // namespace stope::python
