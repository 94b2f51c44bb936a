// The lists of a block of queries, as searchers fill them: list number query * Selection::n_lists() + list. Where no
// list is longer than a bound, they lie side by side in memory that the result has for them, and nothing is allocated
// or copied per query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knn/lists/neighbor_list.hpp"

namespace stope::knn {

class Lists {
 public:
  /// `n` lists of any length, all empty.
  explicit Lists(std::size_t n = 0) { reset(n); }
  void reset(std::size_t n);
  /// `n` lists of at most `most` neighbours, all empty. List i begins at place i * most of the arrays, which stay the
  /// caller's.
  void reset(std::size_t n, std::int32_t most, std::int64_t* rows, double* distances);

  std::size_t size() const { return placed() ? lengths_.size() : loose_.size(); }
  /// Replaces a list. Threads may replace different ones at once.
  void put(std::size_t i, const std::vector<Neighbor>& list);
  /// Calls take(neighbor) for each neighbour of a list, in order.
  template <class Take>
  void for_each(std::size_t i, const Take& take) const {
    if (!placed()) {
      for (const Neighbor& neighbor : loose_[i]) take(neighbor);
      return;
    }
    const auto first = static_cast<std::int64_t>(i) * most_;
    for (std::int64_t at = first; at < first + lengths_[i]; ++at) take(Neighbor{distances_[at], rows_[at]});
  }
  std::int64_t length(std::size_t i) const { return placed() ? lengths_[i] : std::ssize(loose_[i]); }
  std::vector<Neighbor> list(std::size_t i) const;

  /// Placed lists: whether all are as long as they may be.
  bool full() const;
  /// Placed lists: writes this neighbour behind the end of those that are not.
  void fill_up(const Neighbor& neighbor);

 private:
  bool placed() const { return most_ > 0; }

  std::int32_t most_ = 0;  // 0: lists of any length
  std::int64_t* rows_ = nullptr;
  double* distances_ = nullptr;
  std::vector<std::int32_t> lengths_;
  std::vector<std::vector<Neighbor>> loose_;
};

}  // namespace stope::knn
