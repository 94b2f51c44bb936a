// Sets of cuts by the methods that need no tree (stope/find_cuts.hpp calls them).
#pragma once

#include "stope/discretize.hpp"

namespace stope::discretize {

/// The cuts of every feature that has any, by any method but md_local.
CutSet cuts_without_tree(const Table& table, const DiscretizeOptions& options, const RunOptions& run);

/// Whether the method needs a label.
bool looks_at_classes(DiscretizeMethod method);

}  // namespace stope::discretize
