// The native module: what it is made of. Each file binds one topic of the C++ API; the package's Python files make
// estimators of them.
#include <nanobind/nanobind.h>

#include "decompose.hpp"
#include "device_arrays.hpp"
#include "errors.hpp"
#include "factorize.hpp"
#include "gil.hpp"
#include "gram.hpp"
#include "knn.hpp"
#include "run.hpp"
#include "scan.hpp"
#include "stats.hpp"
#include "stope/version.hpp"
#include "table.hpp"

NB_MODULE(_core, module) {
  module.attr("__version__") = STOPE_VERSION;
  stope::python::bind_errors(module);
  stope::python::bind_factorize(module);
  stope::python::bind_gil(module);
  stope::python::bind_run(module);
  stope::python::bind_scan(module);
  stope::python::bind_table(module);
  stope::python::bind_device_arrays(module);
  stope::python::bind_knn(module);
  stope::python::bind_stats(module);
  stope::python::bind_decompose(module);
  stope::python::bind_gram(module);
}
