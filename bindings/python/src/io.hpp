// Tables from files and into files, and the evaluation of k-NN on a table.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_io(nanobind::module_& module);

}  // namespace stope::python
