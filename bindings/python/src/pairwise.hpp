// Every distance between the rows of two tables: as a matrix, or as a list of pairs.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_pairwise(nanobind::module_& module);

}  // namespace stope::python
