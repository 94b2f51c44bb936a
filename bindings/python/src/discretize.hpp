// Supervised discretisation: rankings, sets of cuts, and tables coded by them.
#pragma once

#include <nanobind/nanobind.h>

#include "stope/cuts.hpp"

namespace stope::python {

void bind_discretize(nanobind::module_& module);

/// A set of cuts as a list of (name, numbers or values), and back.
nanobind::list list_of(const CutSet& cuts);
CutSet cuts_of(const nanobind::list& list);

}  // namespace stope::python
