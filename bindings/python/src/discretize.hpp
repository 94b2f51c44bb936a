// Supervised discretisation: rankings, sets of cuts, and tables coded by them.
#pragma once

#include <nanobind/nanobind.h>

#include "run.hpp"
#include "stope/cuts.hpp"
#include "stope/table.hpp"

namespace stope::python {

void bind_discretize(nanobind::module_& module);

/// A set of cuts as a list of (name, numbers or values), and back.
nanobind::list list_of(const CutSet& cuts);
CutSet cuts_of(const nanobind::list& list);

/// The duration of a job that reads each value of the table once: brief where that takes no longer than some
/// milliseconds.
Duration duration_of_a_pass(const Table& table);

}  // namespace stope::python
