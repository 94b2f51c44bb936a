// Sets of cuts by the methods that need no tree (stope/find_cuts.hpp calls them).
#pragma once

#include "stope/backend_report.hpp"
#include "stope/discretize.hpp"

namespace stope::discretize {

/// The cuts of every feature that has any, by any method but md_local. Of the report it fills in the back end and the
/// reasons. A GPU that is named finds the cuts of mdlp and md_global, if
/// it can.
CutSet cuts_without_tree(const Table& table, const DiscretizeOptions& options, const RunOptions& run,
                         BackendReport& report);

/// Whether the method needs a label.
bool looks_at_classes(DiscretizeMethod method);

}  // namespace stope::discretize
