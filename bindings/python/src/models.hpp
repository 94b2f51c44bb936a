// Models of every kind: as bytes, as files, and applied to tables.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_models(nanobind::module_& module);

}  // namespace stope::python
