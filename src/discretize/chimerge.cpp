// ChiMerge: R. Kerber, "ChiMerge: discretization of numeric attributes", AAAI 1992. Every distinct value begins as an
// interval. The two neighbours whose classes differ least, by chi-square, are merged. This goes on until all neighbours
// differ significantly, or few intervals are left.
#include <algorithm>
#include <queue>
#include <span>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/number_text.hpp"
#include "discretize/chi_square.hpp"
#include "discretize/interval_method.hpp"
#include "discretize/score.hpp"
#include "discretize/value_order.hpp"
#include "stope/error.hpp"

namespace stope::discretize {
namespace {

// Neighbours that may be merged. An entry is out of date if its stamps are not those of its intervals.
struct Pair {
  double chi_square;
  std::uint32_t left, right;
  std::uint32_t left_stamp, right_stamp;
};

// The least chi-square comes first; if equal, the lowest place.
struct Later {
  bool operator()(const Pair& a, const Pair& b) const {
    return a.chi_square > b.chi_square || (a.chi_square == b.chi_square && a.left > b.left);
  }
};

// Rows of a class in an interval, or their weight in kWeightUnit.
struct ClassCount {
  std::int32_t number;
  std::int64_t count;
};

struct Interval {
  std::uint32_t first;           // its first place in the column, and where its counts begin
  std::uint32_t n_counts;        // classes that it has, ascending
  std::uint32_t next, previous;  // neighbours; the last one's next is the number of intervals
  std::uint32_t stamp;           // of its last change; kGone once it is part of another
};

constexpr std::uint32_t kGone = ~std::uint32_t{0};

// Memory per row, if every value is another one: counts, intervals, and at most two pairs in the queue.
constexpr std::int64_t kBytesPerRow = sizeof(ClassCount) + sizeof(Interval) + 2 * sizeof(Pair);
constexpr std::int64_t kBytesPerClass =
    2 * sizeof(ClassCount) + sizeof(std::int64_t);  // a sum as it grows, and a tally

// Calls visit(a, b) for every class of either of two lists in ascending order, with 0 for the one that lacks it.
template <class Visit>
void for_both(std::span<const ClassCount> a, std::span<const ClassCount> b, const Visit& visit) {
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].number <= b[j].number);
    const bool from_b = i == a.size() || (j < b.size() && b[j].number <= a[i].number);
    const std::int32_t number = from_a ? a[i].number : b[j].number;
    const std::int64_t of_a = from_a ? a[i++].count : 0, of_b = from_b ? b[j++].count : 0;
    visit(number, of_a, of_b);
  }
}

// The intervals of one column as a linked list. The counts of an interval lie where its rows do, so that two neighbours
// have room for their sum.
class Intervals {
 public:
  Intervals(const SortedValues& column, std::int64_t n_classes, double unit)
      : unit_(unit), counts_(static_cast<std::size_t>(column.size())), tally_(static_cast<std::size_t>(n_classes)) {
    std::size_t n_intervals = 0;
    for (std::int64_t i = 0; i < column.size(); ++i) n_intervals += i == 0 || column.differs(i - 1) ? 1 : 0;
    intervals_.reserve(n_intervals);
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < column.size(); ++i) {
      const std::int32_t number = column.classes[i];
      std::int64_t& count = tally_[static_cast<std::size_t>(number)];
      if (count == 0) sum_.push_back({number, 0});
      count += column.weights[i];
      if (i + 1 < column.size() && !column.differs(i)) continue;
      add_interval(begin);
      begin = i + 1;
    }
    std::vector<Pair> pairs;
    pairs.reserve(2 * n_intervals);
    queue_ = Queue(Later(), std::move(pairs));
  }

  // Merges until the least chi-square reaches the threshold, or until min_intervals intervals are left.
  void merge(double threshold, std::int64_t min_intervals, TaskProgress& progress) {
    constexpr std::int64_t kPoll = 256;  // pairs; with a thousand classes each takes microseconds
    for (std::uint32_t i = 0; i + 1 < size(); ++i) {
      if (i % kPoll == 0) progress.poll();
      push(i, i + 1);
    }
    std::int64_t left_over = size();
    while (left_over > min_intervals && !queue_.empty()) {
      if (left_over % kPoll == 0) progress.at(size() - left_over, size());
      const Pair pair = queue_.top();
      queue_.pop();
      if (intervals_[pair.left].stamp != pair.left_stamp || intervals_[pair.right].stamp != pair.right_stamp) continue;
      if (!(pair.chi_square < threshold)) break;
      join(pair.left, pair.right);
      --left_over;
    }
  }

  // Returns the first places of all remaining intervals but the lowest.
  std::vector<std::int64_t> boundaries() const {
    std::vector<std::int64_t> places;
    if (intervals_.empty()) return places;
    for (std::uint32_t i = intervals_[0].next; i < size(); i = intervals_[i].next)
      places.push_back(intervals_[i].first);
    return places;
  }

 private:
  using Queue = std::priority_queue<Pair, std::vector<Pair>, Later>;

  std::uint32_t size() const { return static_cast<std::uint32_t>(intervals_.size()); }
  std::span<const ClassCount> counts(const Interval& of) const { return {counts_.data() + of.first, of.n_counts}; }

  // Adds the interval of the classes in `sum_` with their tally, and clears both.
  void add_interval(std::int64_t begin) {
    std::sort(sum_.begin(), sum_.end(), [](const ClassCount& a, const ClassCount& b) { return a.number < b.number; });
    ClassCount* to = counts_.data() + begin;
    for (const ClassCount& one : sum_) {
      std::int64_t& count = tally_[static_cast<std::size_t>(one.number)];
      *to++ = {one.number, count};
      count = 0;
    }
    const std::uint32_t number = size();
    intervals_.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(sum_.size()), number + 1, number - 1, 0});
    sum_.clear();
  }

  void push(std::uint32_t left, std::uint32_t right) {
    const Interval &a = intervals_[left], &b = intervals_[right];
    queue_.push({chi_square(counts(a), counts(b)), left, right, a.stamp, b.stamp});
  }

  // Adds (count - expected)^2 / expected over both intervals and all classes. A class that neither has adds nothing.
  double chi_square(std::span<const ClassCount> left, std::span<const ClassCount> right) const {
    std::int64_t totals[2] = {0, 0};
    for (const ClassCount& one : left) totals[0] += one.count;
    for (const ClassCount& one : right) totals[1] += one.count;
    const double all = in_weight(totals[0] + totals[1]);
    double sum = 0.0;
    for (const bool is_left : {true, false}) {
      const double total = in_weight(totals[is_left ? 0 : 1]);
      for_both(left, right, [&](std::int32_t, std::int64_t a, std::int64_t b) {
        const double expected = total * in_weight(a + b) / all;
        const double difference = in_weight(is_left ? a : b) - expected;
        sum += difference * difference / expected;
      });
    }
    return sum;
  }
  double in_weight(std::int64_t count) const { return static_cast<double>(count) * unit_; }

  void join(std::uint32_t left, std::uint32_t right) {
    Interval &a = intervals_[left], &b = intervals_[right];
    sum_.assign(counts(a).begin(), counts(a).end());
    ClassCount* to = counts_.data() + a.first;
    for_both(sum_, counts(b), [&](std::int32_t number, std::int64_t x, std::int64_t y) { *to++ = {number, x + y}; });
    a.n_counts = static_cast<std::uint32_t>(to - (counts_.data() + a.first));
    ++a.stamp;
    b.stamp = kGone;
    a.next = b.next;
    if (a.next < size()) {
      intervals_[a.next].previous = left;
      push(left, a.next);
    }
    if (left > 0) push(a.previous, left);
  }

  double unit_;
  std::vector<ClassCount> counts_, sum_;
  std::vector<std::int64_t> tally_;  // of every class
  std::vector<Interval> intervals_;
  Queue queue_;
};

class ChiMerge final : public IntervalMethod {
 public:
  ChiMerge(const DecisionProblem& problem, double confidence, std::int64_t min_intervals)
      : n_classes_(problem.n_classes()), unit_(problem.weighted ? kWeightUnit : 1.0), min_intervals_(min_intervals) {
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
    n_present_ = std::count_if(problem.class_totals.begin(), problem.class_totals.end(), [](auto n) { return n > 0; });
    if (n_present_ > 1) threshold_ = chi_square_quantile(confidence, static_cast<double>(n_present_ - 1));
  }

  std::int64_t bytes(std::int64_t n_rows) const override {
    return checked::add(checked::mul(n_rows, kBytesPerRow), checked::mul(n_classes_, kBytesPerClass));
  }

  std::vector<double> cuts(const SortedValues& column, TaskProgress& progress) const override {
    if (n_present_ < 2) return {};
    Intervals intervals(column, n_classes_, unit_);
    intervals.merge(threshold_, min_intervals_, progress);
    std::vector<double> found;
    for (const std::int64_t place : intervals.boundaries()) {
      found.push_back(cut_between(column.at(place - 1), column.at(place)));
    }
    return found;
  }

 private:
  std::int64_t n_classes_;
  double unit_;
  std::int64_t min_intervals_;
  std::int64_t n_present_ = 0;  // classes that have rows
  double threshold_ = 0.0;
};

}  // namespace

std::unique_ptr<IntervalMethod> make_chimerge(const DecisionProblem& problem, double confidence,
                                              std::int64_t min_intervals) {
  return std::make_unique<ChiMerge>(problem, confidence, min_intervals);
}

}  // namespace stope::discretize
