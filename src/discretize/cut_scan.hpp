// Finds an attribute's best cut by a scan over its rows in the order of their values, for every criterion.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/score.hpp"

namespace stope::discretize {

/// A part's class counts while rows move into it, and `totals` in both parts. All scans have these members:
///   begin()          nothing is on the left
///   add(k, weight)   a row goes left
///   Score value()    what a cut here is worth
///   kCheap           whether value() costs less than checking whether a cut can be here
template <class Score>
class PairScan {
 public:
  using Value = Score;
  static constexpr bool kCheap = true;

  PairScan(const std::vector<std::int64_t>& totals, std::int64_t total) : totals_(totals), total_(total) { begin(); }

  void begin() {
    left_.assign(totals_.size(), 0);
    in_left_ = 0;
    w_ = 0;
  }
  void add(std::int32_t k, std::int64_t weight) {
    std::int64_t& left = left_[static_cast<std::size_t>(k)];
    w_ += discernibility_step<Score>(weight, total_, totals_[static_cast<std::size_t>(k)], in_left_, left);
    left += weight;
    in_left_ += weight;
  }
  Score value() const { return w_; }

 private:
  const std::vector<std::int64_t>& totals_;
  std::vector<std::int64_t> left_;
  std::int64_t total_, in_left_ = 0;
  Score w_ = 0;
};

class GiniScan {
 public:
  using Value = double;
  static constexpr bool kCheap = false;

  GiniScan(const std::vector<std::int64_t>& totals, std::int64_t total) : totals_(totals), total_(total) {
    for (const std::int64_t n : totals) both_squares_ += static_cast<Int128>(n) * n;
    begin();
  }

  void begin() {
    left_.assign(totals_.size(), 0);
    in_left_ = 0;
    left_squares_ = 0;
    right_squares_ = both_squares_;
  }
  void add(std::int32_t k, std::int64_t weight) {
    std::int64_t& left = left_[static_cast<std::size_t>(k)];
    const std::int64_t right = totals_[static_cast<std::size_t>(k)] - left;
    left_squares_ += static_cast<Int128>(weight) * (2 * left + weight);
    right_squares_ -= static_cast<Int128>(weight) * (2 * right - weight);
    left += weight;
    in_left_ += weight;
  }
  double value() const { return gini_gain(left_squares_, in_left_, right_squares_, total_ - in_left_, both_squares_); }

 private:
  const std::vector<std::int64_t>& totals_;
  std::vector<std::int64_t> left_;
  std::int64_t total_, in_left_ = 0;
  Int128 both_squares_ = 0, left_squares_ = 0, right_squares_ = 0;
};

/// Looks up information() of whole numbers up to a limit: most of an entropy's time goes into its logarithms.
class InformationTable {
 public:
  /// Holds [0, n]. For large n it is empty, and every number is computed.
  explicit InformationTable(std::int64_t n) {
    if (n > kMostInformation) return;
    values_.reserve(static_cast<std::size_t>(n + 1));
    for (std::int64_t i = 0; i <= n; ++i) values_.push_back(information(static_cast<double>(i)));
  }
  double operator()(std::int64_t n) const {
    const auto i = static_cast<std::size_t>(n);
    return i < values_.size() ? values_[i] : information(static_cast<double>(n));
  }
  /// Like total_entropy() of score.hpp, to the bit.
  double total_entropy(const std::int64_t* counts, std::int64_t n_classes) const {
    std::int64_t n = 0;
    double sum = 0.0;
    for (std::int64_t k = 0; k < n_classes; ++k) {
      n += counts[k];
      sum += (*this)(counts[k]);
    }
    return (*this)(n)-sum;
  }

 private:
  std::vector<double> values_;
};

class EntropyScan {
 public:
  using Value = double;
  static constexpr bool kCheap = false;

  EntropyScan(const std::vector<std::int64_t>& totals, std::int64_t total, const InformationTable& table)
      : total_(total), table_(table), n_classes_(static_cast<std::int64_t>(totals.size())), totals_(totals) {
    both_ = table_.total_entropy(totals.data(), n_classes_);
    begin();
  }

  void begin() {
    left_.assign(totals_.size(), 0);
    right_ = totals_;
  }
  void add(std::int32_t k, std::int64_t weight) {
    left_[static_cast<std::size_t>(k)] += weight;
    right_[static_cast<std::size_t>(k)] -= weight;
  }
  double value() const {
    return entropy_gain(both_, table_.total_entropy(left_.data(), n_classes_),
                        table_.total_entropy(right_.data(), n_classes_), total_);
  }

 private:
  std::int64_t total_;
  const InformationTable& table_;
  std::int64_t n_classes_;
  const std::vector<std::int64_t>& totals_;
  std::vector<std::int64_t> left_, right_;
  double both_ = 0.0;
};

/// The highest value of the cuts between rows i and i + 1 of n in order, and the lowest i that has it; -1: none above
/// 0.
template <class Value>
struct ScanBest {
  Value value = 0;
  std::int64_t position = -1;
};

/// class_at(i) and weight_at(i) belong to the i-th row in order; differs(i): rows i and i + 1 have different values.
template <class Scan, class ClassAt, class WeightAt, class Differs>
ScanBest<typename Scan::Value> scan_cuts(Scan& scan, std::int64_t n, const ClassAt& class_at, const WeightAt& weight_at,
                                         const Differs& differs) {
  ScanBest<typename Scan::Value> best;
  scan.begin();
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    scan.add(class_at(i), weight_at(i));
    if constexpr (Scan::kCheap) {
      if (!(scan.value() > best.value) || !differs(i)) continue;
      best = {scan.value(), i};
    } else {
      if (!differs(i)) continue;
      const auto value = scan.value();
      if (value > best.value) best = {value, i};
    }
  }
  return best;
}

}  // namespace stope::discretize
