// The native module: what it is made of. Each file binds one topic of the C++ API; the package's Python files make
// estimators of them.
#include <nanobind/nanobind.h>

#include "errors.hpp"
#include "run.hpp"
#include "stope/version.hpp"
#include "table.hpp"

NB_MODULE(_core, module) {
  module.attr("__version__") = STOPE_VERSION;
  // A program that ends with models in its global variables has not leaked them. The tests ask for the report.
  nanobind::set_leak_warnings(false);
  module.def("set_leak_warnings", &nanobind::set_leak_warnings, nanobind::arg("on"));
  stope::python::bind_errors(module);
  stope::python::bind_run(module);
  stope::python::bind_table(module);
}
