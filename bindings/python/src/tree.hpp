// Local-discretisation trees: grown, applied, and seen as arrays, rules and text.
#pragma once

#include <nanobind/nanobind.h>

#include "stope/vote.hpp"

namespace stope::python {

void bind_tree(nanobind::module_& module);

/// The predicted classes as (codes, confidences): int32 of one dimension, and float64 of rows x classes.
nanobind::object arrays_of(Classification classes);

}  // namespace stope::python
