// The rows of all attributes in the order of their values, sorted once.
#pragma once

#include <cstdint>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "discretize/group_sorter.hpp"
#include "discretize/problem.hpp"
#include "stope/run.hpp"
#include "tree/split_scan.hpp"

namespace stope::tree {

/// Bytes that a thread holds while it sorts columns of n_rows, and no less than it holds while the tree grows.
inline std::int64_t bytes_of_thread(std::int64_t n_rows) {
  static_assert(discretize::kSorterBytesPerRow >= sizeof(RankedRow));
  return checked::mul(n_rows, discretize::kSorterBytesPerRow);
}

class Orders {
 public:
  /// Sorts numeric attributes as discretize::GroupSorter does. A symbolic value's rank is its code. Orders that take
  /// more than half of the memory budget lie in a mapped file, and so do the words of a sort.
  Orders(const discretize::DecisionProblem& problem, ThreadPool& pool, const RunOptions& run);

  RankedRow* of(std::int64_t attribute) { return rows_.data() + attribute * n_rows_; }
  const RankedRow* of(std::int64_t attribute) const { return rows_.data() + attribute * n_rows_; }

 private:
  std::int64_t n_rows_;
  Buffer<RankedRow> rows_;  // attribute after attribute
};

}  // namespace stope::tree
