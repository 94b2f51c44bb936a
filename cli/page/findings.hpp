// All that a report tells of a table, computed part by part. Costly parts look at a sample of the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "page/outcome.hpp"
#include "page/parts/components.hpp"
#include "page/parts/cuts.hpp"
#include "page/parts/linear.hpp"
#include "page/parts/neighbors.hpp"
#include "page/parts/tree.hpp"
#include "page/subject.hpp"

namespace stope::cli::page {

struct FindOptions {
  std::vector<std::int64_t> ks;  ///< empty: some odd numbers
  KnnOptions knn;
  NormalizeOptions normalize;
  std::int64_t max_samples = 0;              ///< rows that costly parts look at, at most; 0 = what takes about a minute
  Criterion criterion = Criterion::entropy;  ///< what a cut is worth, in the ranking and in the tree
  std::optional<std::int64_t> n_permutations;  ///< empty: as many as take some seconds
  std::uint64_t seed = 0;
  std::vector<std::string> reading;  ///< words of a command line that read the table: its path and options
};

struct Findings {
  Subject subject;
  Outcome<CutsFound> cuts;
  Outcome<NeighborsFound> neighbors;
  Outcome<TreeFound> tree;
  Outcome<ComponentsFound> components;
  Outcome<std::vector<LabelCorrelation>> correlations;
  Outcome<LinearFound> linear;
};

/// Runs a part under a name: for its timing and for the user who waits.
using Timed = std::function<void(const std::string& phase, const std::function<void()>& work)>;

/// Computes the parts that apply to the subject. Throws only what ends the whole report (page/outcome.hpp).
Findings find_all(Subject subject, const FindOptions& options, const RunOptions& run, const Timed& timed);

}  // namespace stope::cli::page
