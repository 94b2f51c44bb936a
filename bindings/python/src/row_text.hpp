// Rows as text: CSV and JSON.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_row_text(nanobind::module_& module);

}  // namespace stope::python
