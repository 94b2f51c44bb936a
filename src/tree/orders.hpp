// All attributes' rows in the order of their values, sorted once.
#pragma once

#include <cstdint>

#include "base/thread_pool.hpp"
#include "discretize/problem.hpp"
#include "stope/run.hpp"
#include "tree/split_scan.hpp"

namespace stope::tree {

class Orders {
 public:
  /// Numeric attributes as discretize::GroupSorter sorts them, a symbolic one's rank is its code. Beyond half of the
  /// memory budget they lie in a mapped file.
  Orders(const discretize::DecisionProblem& problem, ThreadPool& pool, const RunOptions& run);

  RankedRow* of(std::int64_t attribute) { return rows_.data() + attribute * n_rows_; }
  const RankedRow* of(std::int64_t attribute) const { return rows_.data() + attribute * n_rows_; }

 private:
  std::int64_t n_rows_;
  Buffer<RankedRow> rows_;  // attribute after attribute
};

}  // namespace stope::tree
