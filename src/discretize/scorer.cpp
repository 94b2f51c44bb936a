// Chooses the scan for a criterion (discretize/scorer.hpp).
#include "discretize/scorer.hpp"

#include <numeric>
#include <span>

#include "discretize/value_order.hpp"

namespace stope::discretize {
namespace {

Worth worth(std::int64_t w) {
  return {w, 0.0};
}
Worth worth(Int128 w) {
  return {w, 0.0};
}
Worth worth(double gain) {
  return {0, gain};
}

// Whether a gain above 0 is real. If both parts hold the classes in the same proportions, it is only rounding.
bool is_real(const std::vector<std::int64_t>& left, const std::vector<std::int64_t>& totals) {
  const std::int64_t in_left = std::accumulate(left.begin(), left.end(), std::int64_t{0});
  const std::int64_t total = std::accumulate(totals.begin(), totals.end(), std::int64_t{0});
  return !same_proportions(left.data(), in_left, totals.data(), total, static_cast<std::int64_t>(totals.size()));
}

}  // namespace

bool gain_is_real(const DecisionProblem& problem, const Attribute& attribute, double cut) {
  std::vector<std::int64_t> left(problem.class_totals.size());
  attribute.with_numbers([&](const auto* x) {
    for (std::int64_t row = 0; row < problem.n_rows; ++row) {
      if (goes_right(static_cast<double>(x[row]), cut)) continue;
      left[static_cast<std::size_t>(problem.class_of[row])] += problem.weight(row);
    }
  });
  return is_real(left, problem.class_totals);
}

Scorer::Scorer(const DecisionProblem& problem, Criterion criterion)
    : problem_(problem),
      criterion_(criterion),
      information_(criterion == Criterion::entropy && !problem.weighted ? problem.n_rows : 0) {}

ScoredCut Scorer::best_cut(const OrderedColumn& column, const Labels& labels) const {
  const auto class_at = [&](std::int64_t i) { return labels.classes[column.rows[i]]; };
  const auto differs = [&](std::int64_t i) { return column.differs[i] != 0; };
  const auto scan = [&](auto&& one) {
    const auto best =
        problem_.weighted
            ? scan_cuts(
                  one, column.n, class_at, [&](std::int64_t i) { return problem_.weights[column.rows[i]]; }, differs)
            : scan_cuts(one, column.n, class_at, [](std::int64_t) { return std::int64_t{1}; }, differs);
    return ScoredCut{worth(best.value), best.position};
  };
  const std::vector<std::int64_t>& totals = *labels.totals;
  if (criterion_ == Criterion::discernibility) {
    return problem_.weighted ? scan(PairScan<Int128>(totals, problem_.total))
                             : scan(PairScan<std::int64_t>(totals, problem_.total));
  }
  const ScoredCut found = criterion_ == Criterion::gini ? scan(GiniScan(totals, problem_.total))
                                                        : scan(EntropyScan(totals, problem_.total, information_));
  if (found.position < 0) return {};
  std::vector<std::int64_t> left(totals.size());
  for (std::int64_t i = 0; i <= found.position; ++i) {
    left[static_cast<std::size_t>(class_at(i))] += problem_.weight(column.rows[i]);
  }
  return is_real(left, totals) ? found : ScoredCut{};
}

Worth Scorer::gain_of(const std::int64_t* left, const std::int64_t* right,
                      const std::vector<std::int64_t>& totals) const {
  const auto n_classes = static_cast<std::int64_t>(totals.size());
  if (criterion_ == Criterion::entropy) {
    return worth(entropy_gain(information_.total_entropy(totals.data(), n_classes),
                              information_.total_entropy(left, n_classes), information_.total_entropy(right, n_classes),
                              problem_.total));
  }
  Int128 left_squares = 0, right_squares = 0, both_squares = 0;
  std::int64_t in_left = 0;
  for (std::int64_t k = 0; k < n_classes; ++k) {
    left_squares += static_cast<Int128>(left[k]) * left[k];
    right_squares += static_cast<Int128>(right[k]) * right[k];
    both_squares += static_cast<Int128>(left[k] + right[k]) * (left[k] + right[k]);
    in_left += left[k];
  }
  return worth(gini_gain(left_squares, in_left, right_squares, problem_.total - in_left, both_squares));
}

namespace {

// Rows grouped by value: those of value v are rows[begin[v] .. begin[v + 1]).
struct RowsByValue {
  std::vector<std::int64_t> begin;
  std::vector<std::uint32_t> rows;

  RowsByValue(const Attribute& attribute, std::int64_t n_rows)
      : begin(static_cast<std::size_t>(attribute.n_values()) + 1), rows(static_cast<std::size_t>(n_rows)) {
    const std::int32_t* codes = attribute.codes();
    for (std::int64_t row = 0; row < n_rows; ++row) ++begin[static_cast<std::size_t>(codes[row]) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::int64_t> next(begin);
    for (std::int64_t row = 0; row < n_rows; ++row) {
      rows[static_cast<std::size_t>(next[static_cast<std::size_t>(codes[row])]++)] = static_cast<std::uint32_t>(row);
    }
  }
};

}  // namespace

// Counts one value at a time: a table of values by classes may be far larger than the rows.
ScoredCut Scorer::best_value(const Attribute& attribute, const Labels& labels) const {
  const std::vector<std::int64_t>& totals = *labels.totals;
  const RowsByValue by_value(attribute, problem_.n_rows);
  std::vector<std::int64_t> left(totals), right(totals.size());  // a = value goes right
  ScoredCut best;
  for (std::int64_t value = 0; value < attribute.n_values(); ++value) {
    const auto at = static_cast<std::size_t>(value);
    const std::span rows(by_value.rows.begin() + by_value.begin[at], by_value.rows.begin() + by_value.begin[at + 1]);
    std::int64_t in_right = 0;
    Int128 same = 0;  // pairs of the same class, right times left
    for (const std::uint32_t row : rows) {
      const auto k = static_cast<std::size_t>(labels.classes[row]);
      const std::int64_t weight = problem_.weight(row);
      same += static_cast<Int128>(weight) * (left[k] - right[k] - weight);
      right[k] += weight;
      left[k] -= weight;
      in_right += weight;
    }
    if (in_right > 0 && in_right < problem_.total) {
      const bool pairs = criterion_ == Criterion::discernibility;
      const Worth found = pairs ? worth(static_cast<Int128>(in_right) * (problem_.total - in_right) - same)
                                : gain_of(left.data(), right.data(), totals);
      if (best.worth < found && (pairs || is_real(left, totals))) best = {found, value};
    }
    for (const std::uint32_t row : rows) {
      const auto k = static_cast<std::size_t>(labels.classes[row]);
      left[k] += right[k];
      right[k] = 0;
    }
  }
  return best;
}

}  // namespace stope::discretize
