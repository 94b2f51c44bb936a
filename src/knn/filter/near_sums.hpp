// The candidates for the k nearest rows of one query, by their sums of squares (tile_values.cpp). They are put into
// order once, at the end: until then a bound on the k-th sum is enough.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "knn/filter/scan/scan.hpp"
#include "knn/lists/neighbor_list.hpp"
#include "knn/measure/kernel.hpp"
#include "stope/buffer.hpp"

namespace stope::knn {

class NearSums {
 public:
  /// More neighbours are left to NearestList.
  static constexpr std::int64_t kMostNeighbors = 256;

  explicit NearSums(ValueFunctions functions);
  bool uses(ValueFunctions functions) const { return functions.squares == functions_.squares; }

  void reset(std::int64_t k);
  /// Whether there are k candidates.
  bool full() const { return n_ >= k_; }
  /// No row whose sum is greater is among the k nearest of the candidates; infinite while they are fewer.
  double bound() const { return bound_; }
  /// `k` candidates are known to have sums that are less than `sum`.
  void lower_bound(double sum) { bound_ = beyond_ties(sum); }

  /// Adds a candidate whose sum is not NaN. There is room for those of a block after each tighten().
  void add(double sum, std::int64_t row) {
    sums_[n_] = sum;
    rows_[static_cast<std::size_t>(n_++)] = row;
  }
  /// Lowers the bound, if there are k candidates, and drops those beyond it. Returns whether the candidates go on to be
  /// few and different: false, if the k nearest are at 0, or if too many are equal.
  bool tighten();

  /// Returns the number of candidates; their sums and rows.
  std::int64_t n() const { return n_; }
  const double* sums() const { return sums_.data(); }
  std::int64_t row(std::int64_t i) const { return rows_[static_cast<std::size_t>(i)]; }
  /// Writes the k nearest in their order (closer()), or all if they are fewer.
  void take(const MeasureKernel& kernel, std::vector<Neighbor>& out);

 private:
  std::int64_t n_below(double cut) const;

  const ValueFunctions functions_;
  std::int64_t k_ = 0, n_ = 0, room_ = 0;
  double bound_ = std::numeric_limits<double>::infinity();
  Buffer<double> sums_;  // whole blocks, filled up with infinity while they are counted
  std::vector<std::int64_t> rows_;
  Buffer<double> distances_;
  std::vector<std::int32_t> ranks_;
};

}  // namespace stope::knn
