// ChiMerge: R. Kerber, "ChiMerge: discretization of numeric attributes", AAAI 1992. Every distinct value begins as an
// interval. The two neighbours whose classes differ least, by chi-square, are merged. This goes on until all neighbours
// differ significantly, or few intervals are left.
#include <algorithm>
#include <queue>
#include <string>

#include "base/number_text.hpp"
#include "discretize/chi_square.hpp"
#include "discretize/interval_method.hpp"
#include "discretize/value_order.hpp"
#include "stope/error.hpp"

namespace stope::discretize {
namespace {

// Neighbours that may be merged. An entry is out of date if its stamps are not those of its intervals.
struct Pair {
  double chi_square;
  std::int64_t left, right;
  std::int64_t left_stamp, right_stamp;
};

// The least chi-square comes first; if equal, the lowest place.
struct Later {
  bool operator()(const Pair& a, const Pair& b) const {
    return a.chi_square > b.chi_square || (a.chi_square == b.chi_square && a.left > b.left);
  }
};

// The intervals of one column as a linked list. Only classes that have rows are numbered.
class Intervals {
 public:
  Intervals(const SortedValues& column, const std::vector<std::int32_t>& numbers, std::size_t n_classes, double unit)
      : n_classes_(n_classes) {
    for (std::int64_t i = 0; i < column.size(); ++i) {
      if (i == 0 || column.differs(i - 1)) {
        first_.push_back(i);
        counts_.resize(counts_.size() + n_classes);
      }
      const auto k = static_cast<std::size_t>(column.classes[static_cast<std::size_t>(i)]);
      double* counts = counts_.data() + counts_.size() - n_classes;
      counts[numbers[k]] += static_cast<double>(column.weights[static_cast<std::size_t>(i)]) * unit;
    }
    n_ = static_cast<std::int64_t>(first_.size());
    for (std::int64_t i = 0; i < n_; ++i) {
      next_.push_back(i + 1);
      previous_.push_back(i - 1);
    }
    stamp_.assign(first_.size(), 0);
  }

  // Merges until the least chi-square reaches the threshold, or until min_intervals intervals are left.
  void merge(double threshold, std::int64_t min_intervals, TaskProgress& progress) {
    constexpr std::int64_t kPoll = 256;  // pairs; with a thousand classes each takes microseconds
    for (std::int64_t i = 0; i + 1 < n_; ++i) {
      if (i % kPoll == 0) progress.poll();
      push(i, i + 1);
    }
    std::int64_t left_over = n_;
    while (left_over > min_intervals && !queue_.empty()) {
      if (left_over % kPoll == 0) progress.at(n_ - left_over, n_);
      const Pair pair = queue_.top();
      queue_.pop();
      if (stamp(pair.left) != pair.left_stamp || stamp(pair.right) != pair.right_stamp) continue;
      if (!(pair.chi_square < threshold)) break;
      join(pair.left, pair.right);
      --left_over;
    }
  }

  // Returns the first places of all remaining intervals but the lowest.
  std::vector<std::int64_t> boundaries() const {
    std::vector<std::int64_t> places;
    if (n_ == 0) return places;
    for (std::int64_t i = next(0); i < n_; i = next(i)) places.push_back(first_[static_cast<std::size_t>(i)]);
    return places;
  }

 private:
  std::int64_t& stamp(std::int64_t i) { return stamp_[static_cast<std::size_t>(i)]; }
  std::int64_t next(std::int64_t i) const { return next_[static_cast<std::size_t>(i)]; }

  void push(std::int64_t left, std::int64_t right) {
    queue_.push({chi_square(left, right), left, right, stamp(left), stamp(right)});
  }

  // Adds (count - expected)^2 / expected over both intervals and all classes. A class that neither has adds nothing.
  double chi_square(std::int64_t left, std::int64_t right) const {
    const double* rows[2] = {counts_.data() + left * static_cast<std::int64_t>(n_classes_),
                             counts_.data() + right * static_cast<std::int64_t>(n_classes_)};
    double totals[2] = {0.0, 0.0};
    for (std::size_t k = 0; k < n_classes_; ++k) {
      totals[0] += rows[0][k];
      totals[1] += rows[1][k];
    }
    double sum = 0.0;
    for (int side = 0; side < 2; ++side) {
      for (std::size_t k = 0; k < n_classes_; ++k) {
        const double expected = totals[side] * (rows[0][k] + rows[1][k]) / (totals[0] + totals[1]);
        if (!(expected > 0.0)) continue;
        const double difference = rows[side][k] - expected;
        sum += difference * difference / expected;
      }
    }
    return sum;
  }

  void join(std::int64_t left, std::int64_t right) {
    for (std::size_t k = 0; k < n_classes_; ++k) {
      counts_[static_cast<std::size_t>(left) * n_classes_ + k] +=
          counts_[static_cast<std::size_t>(right) * n_classes_ + k];
    }
    ++stamp(left);
    stamp(right) = -1;
    const std::int64_t after = next(right), before = previous_[static_cast<std::size_t>(left)];
    next_[static_cast<std::size_t>(left)] = after;
    if (after < n_) {
      previous_[static_cast<std::size_t>(after)] = left;
      push(left, after);
    }
    if (before >= 0) push(before, left);
  }

  std::size_t n_classes_;
  std::int64_t n_ = 0;
  std::vector<std::int64_t> first_, next_, previous_, stamp_;
  std::vector<double> counts_;
  std::priority_queue<Pair, std::vector<Pair>, Later> queue_;
};

class ChiMerge final : public IntervalMethod {
 public:
  ChiMerge(const DecisionProblem& problem, double confidence, std::int64_t min_intervals)
      : unit_(problem.weighted ? 0x1.0p-20 : 1.0), min_intervals_(min_intervals) {
    if (!(confidence > 0.0 && confidence < 1.0)) {
      throw Error(ErrorCode::invalid_argument,
                  "the confidence " + number_text(confidence) + " does not lie between 0 and 1",
                  {.option = "confidence"});
    }
    if (min_intervals < 1) {
      throw Error(ErrorCode::invalid_argument,
                  "at least " + std::to_string(min_intervals) + " intervals: ChiMerge always leaves one",
                  {.option = "min_intervals"});
    }
    for (const std::int64_t n : problem.class_totals) {
      numbers_.push_back(static_cast<std::int32_t>(n_present_));
      if (n > 0) ++n_present_;
    }
    if (n_present_ > 1) threshold_ = chi_square_quantile(confidence, static_cast<double>(n_present_ - 1));
  }

  std::vector<double> cuts(const SortedValues& column, TaskProgress& progress) const override {
    if (n_present_ < 2) return {};
    Intervals intervals(column, numbers_, n_present_, unit_);
    intervals.merge(threshold_, min_intervals_, progress);
    std::vector<double> found;
    for (const std::int64_t place : intervals.boundaries()) {
      found.push_back(cut_between(column.at(place - 1), column.at(place)));
    }
    return found;
  }

 private:
  double unit_;
  std::int64_t min_intervals_;
  std::vector<std::int32_t> numbers_;  // number of each class among those with rows
  std::size_t n_present_ = 0;
  double threshold_ = 0.0;
};

}  // namespace

std::unique_ptr<IntervalMethod> make_chimerge(const DecisionProblem& problem, double confidence,
                                              std::int64_t min_intervals) {
  return std::make_unique<ChiMerge>(problem, confidence, min_intervals);
}

}  // namespace stope::discretize
