// Sets of cuts by every method of stope/discretize.hpp, the local one included.
//
//   const CutSet cuts = find_cuts(table, {.method = DiscretizeMethod::mdlp});
//   const Table coded = apply_cuts(other, cuts);
#pragma once

#include "stope/backend_report.hpp"
#include "stope/discretize.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// Finds the cuts of every feature that has any. The label names the classes; where the method ignores it, it may be
/// absent or of any type. md_local, mdlp and md_global can use GPUs. Throws what best_cuts throws, what
/// DecisionTree::fit throws (md_local), and invalid_argument for options out of range.
CutSet find_cuts(const Table& table, const DiscretizeOptions& options, const RunOptions& run = {},
                 BackendReport* report = nullptr);

}  // namespace stope
#pragma GCC visibility pop
