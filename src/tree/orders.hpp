// The rows of all attributes in the order of their values, sorted once.
#pragma once

#include <cstdint>

#include "base/thread_pool.hpp"
#include "discretize/problem.hpp"
#include "stope/run.hpp"
#include "tree/split_scan.hpp"

namespace stope::tree {

class Orders {
 public:
  /// Sorts numeric attributes as discretize::GroupSorter does. A symbolic value's rank is its code. Orders that take
  /// more than half of the memory budget lie in a mapped file.
  Orders(const discretize::DecisionProblem& problem, ThreadPool& pool, const RunOptions& run);

  RankedRow* of(std::int64_t attribute) { return rows_.data() + attribute * n_rows_; }
  const RankedRow* of(std::int64_t attribute) const { return rows_.data() + attribute * n_rows_; }

 private:
  std::int64_t n_rows_;
  Buffer<RankedRow> rows_;  // attribute after attribute
};

}  // namespace stope::tree
