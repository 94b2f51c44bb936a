// Nearest neighbours: indexes, searches, classifiers and regressors on an index, votes with lists of neighbours.
#pragma once

#include <nanobind/nanobind.h>

namespace stope::python {

void bind_knn(nanobind::module_& module);
void bind_votes(nanobind::module_& module);  ///< in knn_votes.cpp
void bind_parts(nanobind::module_& module);  ///< in knn_parts.cpp

}  // namespace stope::python
