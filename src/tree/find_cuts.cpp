// Sets of cuts: the tree's own method, or one of src/discretize (stope/find_cuts.hpp). It lies here because discretize
// may not use trees.
#include "stope/find_cuts.hpp"

#include <algorithm>
#include <utility>

#include "base/guarded.hpp"
#include "base/report.hpp"
#include "discretize/cut_methods.hpp"
#include "stope/error.hpp"
#include "stope/tree.hpp"

namespace stope {
namespace {

CutSet local_cuts(const Table& table, MissingPolicy missing, const RunOptions& run, BackendReport* report) {
  RunOptions inner = run;
  inner.report = {};
  const DecisionTree tree = DecisionTree::fit(table, {.missing = missing}, inner);
  if (report != nullptr) *report = tree.report();
  for (const TreeAttribute& one : tree.attributes()) {
    if (!one.has_missing || std::count(one.values.begin(), one.values.end(), "?") < 2) continue;
    throw Error(ErrorCode::invalid_data,
                "column '" + one.name +
                    "' has the value '?', by which cuts mean a missing value (rename it, or count it as missing, too)",
                {.file = table.source, .feature = one.name});
  }
  hand_report(run, "cuts", tree.report());
  return tree.cuts();
}

}  // namespace

CutSet find_cuts(const Table& table, const DiscretizeOptions& options, const RunOptions& run,
                 BackendReport* report) try {
  if (options.method == DiscretizeMethod::md_local) return local_cuts(table, options.missing, run, report);
  const JobTime time(run);
  BackendReport found;
  CutSet cuts = discretize::cuts_without_tree(table, options, run, found);
  found.threads = run.threads > 0 ? run.threads : available_threads();
  found.seconds = time.seconds();
  hand_report(run, "cuts", found);
  if (report != nullptr) *report = std::move(found);
  return cuts;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
