// Tables: made of columns or of Arrow, seen as NumPy arrays, given away as Arrow.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_table(nanobind::module_& module);

}  // namespace stope::python
