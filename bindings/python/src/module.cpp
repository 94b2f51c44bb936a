// The native module: what it is made of. Each file binds one topic of the C++ API; the package's Python files make
// estimators of them.
#include <nanobind/nanobind.h>

#include "decompose.hpp"
#include "device_arrays.hpp"
#include "discretize.hpp"
#include "errors.hpp"
#include "factorize.hpp"
#include "gil.hpp"
#include "gram.hpp"
#include "impute.hpp"
#include "io.hpp"
#include "jobs.hpp"
#include "knn.hpp"
#include "models.hpp"
#include "pairwise.hpp"
#include "row_text.hpp"
#include "run.hpp"
#include "scan.hpp"
#include "stats.hpp"
#include "stope/version.hpp"
#include "table.hpp"
#include "tree.hpp"

NB_MODULE(_core, module) {
  module.attr("__version__") = STOPE_VERSION;
  // A program that ends with models in its global variables has not leaked them. The tests ask for the report.
  nanobind::set_leak_warnings(false);
  module.def("set_leak_warnings", &nanobind::set_leak_warnings, nanobind::arg("on"));
  stope::python::bind_errors(module);
  stope::python::bind_factorize(module);
  stope::python::bind_gil(module);
  stope::python::bind_run(module);
  stope::python::bind_scan(module);
  stope::python::bind_table(module);
  stope::python::bind_device_arrays(module);
  stope::python::bind_knn(module);
  stope::python::bind_impute(module);
  stope::python::bind_pairwise(module);
  stope::python::bind_discretize(module);
  stope::python::bind_tree(module);
  stope::python::bind_models(module);
  stope::python::bind_io(module);
  stope::python::bind_row_text(module);
  stope::python::bind_jobs(module);
  stope::python::bind_stats(module);
  stope::python::bind_decompose(module);
  stope::python::bind_gram(module);
}
