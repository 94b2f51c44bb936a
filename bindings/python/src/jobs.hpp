// Jobs and kinds of model by name: `stope._core.fit_model`, `apply_model`, `compute`.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_jobs(nanobind::module_& module);

}  // namespace stope::python
