// Seeded splits of rows into folds or into a training and a test part, stratified by class on request.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/guarded.hpp"
#include "base/number_text.hpp"
#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

void check_labels(std::int64_t n_rows, const std::vector<std::int32_t>& labels) {
  if (labels.empty() || static_cast<std::int64_t>(labels.size()) == n_rows) return;
  throw Error(ErrorCode::invalid_argument,
              std::to_string(labels.size()) + " labels for " + std::to_string(n_rows) + " rows");
}

// All rows in random order (Fisher-Yates), then, where labels are given, class after class.
std::vector<std::int64_t> shuffled_by_class(std::int64_t n_rows, std::uint64_t seed,
                                            const std::vector<std::int32_t>& labels) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n_rows));
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  Random random(seed);
  for (std::size_t left = rows.size(); left > 1; --left) std::swap(rows[left - 1], rows[random.below(left)]);
  if (!labels.empty()) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::int64_t a, std::int64_t b) {
      return labels[static_cast<std::size_t>(a)] < labels[static_cast<std::size_t>(b)];
    });
  }
  return rows;
}

// One run of equal labels in the shuffled order, and how many of its rows go to the test part.
struct Stratum {
  std::size_t begin, end;
  std::int64_t n_test;
  std::int64_t remainder;
};

std::vector<Stratum> strata(const std::vector<std::int64_t>& rows, const std::vector<std::int32_t>& labels) {
  const auto label = [&](std::size_t i) { return labels.empty() ? 0 : labels[static_cast<std::size_t>(rows[i])]; };
  std::vector<Stratum> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || label(i) != label(i - 1)) result.push_back({i, i, 0, 0});
    result.back().end = i + 1;
  }
  return result;
}

// Largest remainders (Hamilton): each stratum gets the whole part of its share, and the rows left over go to the strata
// with the largest fractions. Integers make sure that no rounding loses or invents a row.
void apportion(std::vector<Stratum>& parts, std::int64_t n_test, std::int64_t n_rows) {
  std::int64_t left = n_test;
  for (Stratum& part : parts) {
    const std::int64_t share = checked::mul(static_cast<std::int64_t>(part.end - part.begin), n_test);
    part.n_test = share / n_rows;
    part.remainder = share % n_rows;
    left -= part.n_test;
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].remainder > parts[b].remainder; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++parts[order[i]].n_test;
}

}  // namespace

std::vector<std::vector<std::int64_t>> cross_validation_folds(std::int64_t n_rows, std::int64_t n_folds,
                                                              std::uint64_t seed,
                                                              const std::vector<std::int32_t>& labels) try {
  if (n_folds < 2 || n_folds > n_rows) {
    throw Error(ErrorCode::invalid_argument,
                counted(n_folds, "fold") + " of " + counted(n_rows, "row") +
                    ": at least 2 folds are needed, and at most one per row",
                {.option = "n_folds"});
  }
  check_labels(n_rows, labels);
  const std::vector<std::int64_t> rows = shuffled_by_class(n_rows, seed, labels);
  // The sorted rows are dealt round like cards, without starting anew at a class. Any run of consecutive cards, whether
  // one class or all rows, then reaches the folds in numbers that differ by at most 1.
  std::vector<std::vector<std::int64_t>> folds(static_cast<std::size_t>(n_folds));
  for (std::size_t i = 0; i < rows.size(); ++i) folds[i % folds.size()].push_back(rows[i]);
  for (std::vector<std::int64_t>& fold : folds) std::sort(fold.begin(), fold.end());
  return folds;
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> holdout_rows(std::int64_t n_rows, double fraction, std::uint64_t seed,
                                       const std::vector<std::int32_t>& labels) try {
  if (!(fraction > 0.0 && fraction < 1.0)) {
    throw Error(ErrorCode::invalid_argument, "hold-out fraction " + number_text(fraction) + " is not between 0 and 1",
                {.option = "holdout"});
  }
  if (n_rows < 2) {
    throw Error(ErrorCode::invalid_argument,
                "a hold-out split needs at least 2 rows, there are " + std::to_string(n_rows), {.option = "holdout"});
  }
  check_labels(n_rows, labels);
  const auto wanted = static_cast<std::int64_t>(std::round(fraction * static_cast<double>(n_rows)));
  const std::int64_t n_test = std::clamp<std::int64_t>(wanted, 1, n_rows - 1);
  const std::vector<std::int64_t> rows = shuffled_by_class(n_rows, seed, labels);
  std::vector<Stratum> parts = strata(rows, labels);
  apportion(parts, n_test, n_rows);
  std::vector<std::int64_t> test;
  for (const Stratum& part : parts) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(part.begin);
    test.insert(test.end(), first, first + part.n_test);
  }
  std::sort(test.begin(), test.end());
  return test;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
