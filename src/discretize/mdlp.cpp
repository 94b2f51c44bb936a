// MDLP: U. Fayyad, K. Irani, "Multi-interval discretization of continuous-valued attributes for classification
// learning", IJCAI 1993. An interval is divided at the cut of least class entropy as long as that pays for its
// description.
#include <algorithm>

#include "base/checked.hpp"
#include "discretize/cut_scan.hpp"
#include "discretize/interval_method.hpp"
#include "discretize/mdlp_price.hpp"
#include "discretize/value_order.hpp"

namespace stope::discretize {
namespace {

struct Interval {
  std::int64_t begin, end;
};

// Numbers the classes of an interval from 0 on, in their order: a sum over them adds the same terms in the same order
// as one over all classes, but for zeros. So an interval pays for the classes that it has, not for all.
class PresentClasses {
 public:
  explicit PresentClasses(std::size_t n_classes) : number_(n_classes, kAbsent) {}

  void find(const std::int32_t* classes, std::int64_t n) {
    for (const std::int32_t k : present_) number_[static_cast<std::size_t>(k)] = kAbsent;
    present_.clear();
    for (std::int64_t i = 0; i < n; ++i) {
      std::int32_t& number = number_[static_cast<std::size_t>(classes[i])];
      if (number != kAbsent) continue;
      number = 0;
      present_.push_back(classes[i]);
    }
    std::sort(present_.begin(), present_.end());
    for (std::size_t i = 0; i < present_.size(); ++i) {
      number_[static_cast<std::size_t>(present_[i])] = static_cast<std::int32_t>(i);
    }
  }
  std::size_t size() const { return present_.size(); }
  std::int32_t operator[](std::int32_t k) const { return number_[static_cast<std::size_t>(k)]; }

 private:
  static constexpr std::int32_t kAbsent = -1;

  std::vector<std::int32_t> number_;   // by class
  std::vector<std::int32_t> present_;  // ascending
};

// Class counts of an interval, and what the criterion needs of them.
struct Counts {
  std::vector<std::int64_t> of_class;
  std::int64_t total = 0;

  explicit Counts(std::size_t n_classes) : of_class(n_classes) {}
  void add(std::int32_t k, std::int64_t weight) {
    of_class[static_cast<std::size_t>(k)] += weight;
    total += weight;
  }
  double n_present() const {
    return static_cast<double>(std::count_if(of_class.begin(), of_class.end(), [](auto n) { return n > 0; }));
  }
};

class Mdlp final : public IntervalMethod {
 public:
  explicit Mdlp(const DecisionProblem& problem)
      : n_classes_(static_cast<std::size_t>(problem.n_classes())),
        unit_(problem.weighted ? kWeightUnit : 1.0),
        information_(problem.weighted ? 0 : problem.n_rows) {}

  std::int64_t bytes(std::int64_t /*n_rows*/) const override {
    constexpr std::int64_t kPerClass = 9 * sizeof(std::int64_t);  // of an interval, its parts, and what the scan keeps
    return checked::mul(static_cast<std::int64_t>(n_classes_), kPerClass);  // cuts that pay are few
  }

  std::vector<double> cuts(const SortedValues& column, TaskProgress& progress) const override {
    std::vector<double> found;
    std::vector<Interval> open = {{0, column.size()}};  // a stack: a chain of cuts may be as long as the column
    std::int64_t n_settled = 0;                         // rows of intervals that stay whole
    PresentClasses present(n_classes_);
    while (!open.empty()) {
      progress.at(n_settled, column.size());
      const Interval interval = open.back();
      open.pop_back();
      const std::int64_t last = best_cut(column, interval, present, progress);
      if (last < 0) {
        n_settled += interval.end - interval.begin;
        continue;
      }
      found.push_back(cut_between(column.at(last), column.at(last + 1)));
      open.push_back({interval.begin, last + 1});
      open.push_back({last + 1, interval.end});
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  // Returns the last place before the cut, or -1 if it does not pay.
  std::int64_t best_cut(const SortedValues& column, const Interval& interval, PresentClasses& present,
                        const TaskProgress& progress) const {
    constexpr std::int64_t kPollCounts = std::int64_t{1} << 22;  // some milliseconds of a scan
    const std::int64_t n = interval.end - interval.begin;
    if (n < 2) return -1;
    present.find(column.classes.data() + interval.begin, n);
    const std::size_t n_classes = present.size();
    if (n_classes < 2) return -1;
    Counts both(n_classes);
    const auto class_at = [&](std::int64_t i) { return present[column.classes[interval.begin + i]]; };
    const auto weight_at = [&](std::int64_t i) { return column.weights[interval.begin + i]; };
    for (std::int64_t i = 0; i < n; ++i) both.add(class_at(i), weight_at(i));
    EntropyScan scan(both.of_class, both.total, information_);
    std::int64_t unpolled = 0;
    const auto best = scan_cuts(scan, n, class_at, weight_at, [&](std::int64_t i) {
      if (!column.differs(interval.begin + i)) return false;
      unpolled += static_cast<std::int64_t>(n_classes);
      if (unpolled >= kPollCounts) {
        progress.poll();
        unpolled = 0;
      }
      return true;
    });
    if (best.position < 0) return -1;
    Counts left(n_classes), right(n_classes);
    for (std::int64_t i = 0; i < n; ++i) (i <= best.position ? left : right).add(class_at(i), weight_at(i));
    return pays(best.value, both, left, right, n) ? interval.begin + best.position : -1;
  }

  bool pays(double gain, const Counts& both, const Counts& left, const Counts& right, std::int64_t n_rows) const {
    return cut_pays(gain, priced(both), priced(left), priced(right), n_rows, static_cast<double>(both.total) * unit_);
  }

  PricedPart priced(const Counts& counts) const {
    const double entropy = information_.total_entropy(counts.of_class.data(), std::ssize(counts.of_class)) /
                           static_cast<double>(counts.total);
    return {counts.n_present(), entropy};
  }

  std::size_t n_classes_;
  double unit_;
  InformationTable information_;
};

}  // namespace

std::unique_ptr<IntervalMethod> make_mdlp(const DecisionProblem& problem) {
  return std::make_unique<Mdlp>(problem);
}

}  // namespace stope::discretize
