// Finds the best split of a node by one attribute: it scans the node's rows in the order of the attribute's values. A
// symbolic attribute is scanned in the order of its codes, and a run of one code is cut off from all others.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "discretize/cut_scan.hpp"
#include "discretize/score.hpp"

namespace stope::tree {

/// A row in the order of an attribute's values: the rank of its value among the distinct ones, and the row.
using RankedRow = std::uint64_t;
constexpr RankedRow ranked_row(std::uint32_t rank, std::uint32_t row) {
  return (static_cast<RankedRow>(rank) << 32) | row;
}
constexpr std::uint32_t rank_of(RankedRow r) {
  return static_cast<std::uint32_t>(r >> 32);
}
constexpr std::uint32_t row_of(RankedRow r) {
  return static_cast<std::uint32_t>(r);
}

/// A node's class counts (rows, or weights), their sum, and its rows.
struct NodeTotals {
  const std::int64_t* counts = nullptr;
  std::int64_t n_classes = 0;
  std::int64_t total = 0;
  std::int64_t n_rows = 0;
  std::int64_t n_present = 0;  ///< classes that occur
};

/// Classes and weights of rows; if weights is null, all are 1.
struct RowLabels {
  const std::int32_t* class_of = nullptr;
  const std::int64_t* weights = nullptr;
};

// Scans go through a node's rows. begin(node): nothing has moved. add(k, weight): a row moves to the other side.
// value(): what the split is worth now. gains(): whether a value above 0 is more than rounding. kCheap: value() costs
// nothing. kUnit: every row weighs 1.

/// Computes W, in 64 bits if every row weighs 1.
template <class Score>
class PairScan {
 public:
  using Value = Score;
  static constexpr bool kCheap = true;
  static constexpr bool kUnit = std::is_same_v<Score, std::int64_t>;

  void begin(const NodeTotals& node) {
    totals_ = node.counts;
    total_ = node.total;
    moved_.assign(static_cast<std::size_t>(node.n_classes), 0);
    in_moved_ = 0;
    w_ = 0;
  }
  void add(std::int32_t k, std::int64_t weight) {
    std::int64_t& moved = moved_[static_cast<std::size_t>(k)];
    w_ += discretize::discernibility_step<Score>(weight, total_, totals_[k], in_moved_, moved);
    moved += weight;
    in_moved_ += weight;
  }
  Score value() const { return w_; }
  static constexpr bool gains() { return true; }  // pairs are counted, not rounded

 private:
  std::vector<std::int64_t> moved_;
  const std::int64_t* totals_ = nullptr;
  std::int64_t total_ = 0, in_moved_ = 0;
  Score w_ = 0;
};

/// Computes W of a node of two classes (A and B rows) whose rows weigh 1. For m moved rows, b of them of the second
/// class, W is (m - b)(B - b) + b (A - (m - b)). Only b makes a step wait for the one before.
class TwoClassScan {
 public:
  using Value = std::int64_t;
  static constexpr bool kCheap = true;
  static constexpr bool kUnit = true;

  void begin(const NodeTotals& node) {
    second_ = 0;
    for (std::int32_t k = 0; k < node.n_classes; ++k) {
      if (node.counts[k] > 0) second_ = k;
    }
    of_second_ = node.counts[second_];
    of_first_ = node.total - of_second_;
    moved_ = moved_second_ = 0;
  }
  void add(std::int32_t k, std::int64_t) {
    ++moved_;
    moved_second_ += k == second_ ? 1 : 0;
  }
  std::int64_t value() const {
    const std::int64_t moved_first = moved_ - moved_second_;
    return moved_first * (of_second_ - moved_second_) + moved_second_ * (of_first_ - moved_first);
  }
  static constexpr bool gains() { return true; }

 private:
  std::int32_t second_ = 0;
  std::int64_t of_first_ = 0, of_second_ = 0, moved_ = 0, moved_second_ = 0;
};

/// Keeps the class counts of both sides, for gains that are computed from all of them.
class CountScan {
 public:
  using Value = double;
  static constexpr bool kCheap = false;
  static constexpr bool kUnit = false;

  void begin(const NodeTotals& node) {
    node_ = node;
    moved_.assign(static_cast<std::size_t>(node.n_classes), 0);
    rest_.assign(node.counts, node.counts + node.n_classes);
    in_moved_ = 0;
  }
  void add(std::int32_t k, std::int64_t weight) {
    moved_[static_cast<std::size_t>(k)] += weight;
    rest_[static_cast<std::size_t>(k)] -= weight;
    in_moved_ += weight;
  }
  /// Sides of equal proportions gain nothing, whatever rounding makes of it.
  bool gains() const {
    return !discretize::same_proportions(moved_.data(), in_moved_, node_.counts, node_.total, node_.n_classes);
  }

 protected:
  NodeTotals node_;
  std::vector<std::int64_t> moved_, rest_;
  std::int64_t in_moved_ = 0;
};

class GiniScan : public CountScan {
 public:
  void begin(const NodeTotals& node) {
    CountScan::begin(node);
    both_squares_ = 0;
    for (std::int64_t k = 0; k < node.n_classes; ++k) {
      both_squares_ += static_cast<discretize::Int128>(node.counts[k]) * node.counts[k];
    }
    moved_squares_ = 0;
    rest_squares_ = both_squares_;
  }
  void add(std::int32_t k, std::int64_t weight) {
    const auto at = static_cast<std::size_t>(k);
    moved_squares_ += static_cast<discretize::Int128>(weight) * (2 * moved_[at] + weight);
    rest_squares_ -= static_cast<discretize::Int128>(weight) * (2 * rest_[at] - weight);
    CountScan::add(k, weight);
  }
  double value() const {
    return discretize::gini_gain(moved_squares_, in_moved_, rest_squares_, node_.total - in_moved_, both_squares_);
  }

 private:
  discretize::Int128 both_squares_ = 0, moved_squares_ = 0, rest_squares_ = 0;
};

class EntropyScan : public CountScan {
 public:
  EntropyScan() = default;
  /// The table must outlive the scan.
  explicit EntropyScan(const discretize::InformationTable& information) : information_(&information) {}

  void begin(const NodeTotals& node) {
    CountScan::begin(node);
    both_ = information_->total_entropy(node.counts, node.n_classes);
  }
  double value() const {
    return discretize::entropy_gain(both_, information_->total_entropy(moved_.data(), node_.n_classes),
                                    information_->total_entropy(rest_.data(), node_.n_classes), node_.total);
  }

 private:
  const discretize::InformationTable* information_ = nullptr;
  double both_ = 0.0;
};

/// The first split of the highest value above 0. Numeric: the node's rows [0, end) go left. Symbolic: rows [begin,
/// end), all of one code, go right.
template <class Value>
struct NodeSplit {
  Value value = 0;
  std::int64_t begin = 0, end = 0;
};

template <class Scan>
std::int64_t weight_of(const RowLabels& labels, std::uint32_t row) {
  if constexpr (Scan::kUnit) return 1;
  return labels.weights == nullptr ? 1 : labels.weights[row];
}

/// Says now and then how many rows of a node have been scanned, once the scan has gone through many counts.
template <class Tell>
class ScanMeter {
 public:
  explicit ScanMeter(const Tell& tell) : tell_(tell) {}
  void add(std::int64_t n_counts, std::int64_t rows_done) {
    unsaid_ += n_counts;
    if (unsaid_ < kCounts) return;
    unsaid_ = 0;
    tell_(rows_done);
  }

 private:
  static constexpr std::int64_t kCounts = std::int64_t{1} << 22;  // some milliseconds

  const Tell& tell_;
  std::int64_t unsaid_ = 0;
};

/// `rows` has the node's node.n_rows rows in the order of the values. At least `least` rows stay on each side. Calls
/// tell(rows done) at least every few milliseconds where classes are many.
template <class Scan, class Tell>
NodeSplit<typename Scan::Value> best_numeric_split(Scan& scan, const NodeTotals& node, const RankedRow* rows,
                                                   const RowLabels& labels, std::int64_t least, const Tell& tell) {
  ScanMeter meter(tell);
  NodeSplit<typename Scan::Value> best;
  const std::int64_t n = node.n_rows;
  if (n < 2 * least || rank_of(rows[0]) == rank_of(rows[n - 1])) return best;
  scan.begin(node);
  for (std::int64_t i = 0; i < n - least; ++i) {
    const std::uint32_t row = row_of(rows[i]);
    scan.add(labels.class_of[row], weight_of<Scan>(labels, row));
    if (i + 1 < least) continue;
    if constexpr (Scan::kCheap) {
      if (!(scan.value() > best.value)) continue;
      if (rank_of(rows[i]) != rank_of(rows[i + 1])) best = {scan.value(), 0, i + 1};
    } else {
      if (rank_of(rows[i]) == rank_of(rows[i + 1])) continue;
      meter.add(node.n_classes, i);
      const auto value = scan.value();
      if (value > best.value && scan.gains()) best = {value, 0, i + 1};
    }
  }
  return best;
}

template <class Scan, class Tell>
NodeSplit<typename Scan::Value> best_symbolic_split(Scan& scan, const NodeTotals& node, const RankedRow* rows,
                                                    const RowLabels& labels, std::int64_t least, const Tell& tell) {
  ScanMeter meter(tell);
  NodeSplit<typename Scan::Value> best;
  const std::int64_t n = node.n_rows;
  if (n < 2 * least || rank_of(rows[0]) == rank_of(rows[n - 1])) return best;
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    meter.add(node.n_classes, begin);
    scan.begin(node);
    const std::uint32_t rank = rank_of(rows[begin]);
    for (end = begin; end < n && rank_of(rows[end]) == rank; ++end) {
      const std::uint32_t row = row_of(rows[end]);
      scan.add(labels.class_of[row], weight_of<Scan>(labels, row));
    }
    if (end - begin < least || n - (end - begin) < least) continue;
    const auto value = scan.value();
    if (value > best.value && scan.gains()) best = {value, begin, end};
  }
  return best;
}

/// Uses the fastest scan for the node.
template <class Scan, class Tell>
NodeSplit<typename Scan::Value> best_split(Scan& scan, bool symbolic, const NodeTotals& node, const RankedRow* rows,
                                           const RowLabels& labels, std::int64_t least, const Tell& tell) {
  if constexpr (std::is_same_v<Scan, PairScan<std::int64_t>>) {
    if (node.n_present == 2) {
      TwoClassScan two;
      return symbolic ? best_symbolic_split(two, node, rows, labels, least, tell)
                      : best_numeric_split(two, node, rows, labels, least, tell);
    }
  }
  return symbolic ? best_symbolic_split(scan, node, rows, labels, least, tell)
                  : best_numeric_split(scan, node, rows, labels, least, tell);
}

}  // namespace stope::tree
