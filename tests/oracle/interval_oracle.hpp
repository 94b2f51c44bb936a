// Slow references for the methods that make intervals: they try every cut of every interval from scratch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracle/discretize_oracle.hpp"

namespace stope::oracle {

/// The present values of a feature, ascending, with their classes.
struct Column {
  std::vector<double> values;
  std::vector<std::int32_t> classes;
};

inline Column present(const Feature& feature, const Decisions& decisions) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < feature.numbers.size(); ++i) {
    if (!std::isnan(feature.numbers[i])) rows.push_back(i);
  }
  std::sort(rows.begin(), rows.end(),
            [&](std::size_t a, std::size_t b) { return feature.numbers[a] < feature.numbers[b]; });
  Column column;
  for (const std::size_t row : rows) {
    column.values.push_back(feature.numbers[row]);
    column.classes.push_back(decisions.classes[row]);
  }
  return column;
}

struct Entropy {
  double bits = 0.0;
  double classes = 0.0;  ///< classes present
};

inline Entropy entropy_of(const Column& column, std::size_t begin, std::size_t end, std::int32_t n_classes) {
  Entropy found;
  for (std::int32_t k = 0; k < n_classes; ++k) {
    const auto n = static_cast<double>(std::count(column.classes.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  column.classes.begin() + static_cast<std::ptrdiff_t>(end), k));
    if (n == 0.0) continue;
    const double share = n / static_cast<double>(end - begin);
    found.bits -= share * std::log2(share);
    found.classes += 1.0;
  }
  return found;
}

/// MDLP's judgement of the cut before place `at`: the entropy it leaves, and by how much its gain exceeds its price.
struct MdlpCut {
  double entropy = 0.0, surplus = 0.0;
};

inline MdlpCut judge(const Column& column, std::size_t begin, std::size_t at, std::size_t end, std::int32_t n_classes) {
  const Entropy both = entropy_of(column, begin, end, n_classes), left = entropy_of(column, begin, at, n_classes),
                right = entropy_of(column, at, end, n_classes);
  const auto n = static_cast<double>(end - begin);
  MdlpCut cut;
  cut.entropy = (left.bits * static_cast<double>(at - begin) + right.bits * static_cast<double>(end - at)) / n;
  const double delta = std::log2(std::pow(3.0, both.classes) - 2.0) -
                       (both.classes * both.bits - left.classes * left.bits - right.classes * right.bits);
  cut.surplus = both.bits - cut.entropy - (std::log2(n - 1.0) + delta) / n;
  return cut;
}

/// Whether MDLP makes `cuts` of places [begin, end), apart from entropies that only rounding tells apart.
inline bool is_mdlp(const Column& column, std::size_t begin, std::size_t end, std::int32_t n_classes,
                    const std::vector<double>& cuts) {
  constexpr double kTolerance = 1e-10;
  double least = 1e300;
  for (std::size_t at = begin + 1; at < end; ++at) {
    if (column.values[at - 1] < column.values[at]) {
      least = std::min(least, judge(column, begin, at, end, n_classes).entropy);
    }
  }
  std::vector<double> here;
  for (const double cut : cuts) {
    if (end > begin && cut > column.values[begin] && cut <= column.values[end - 1]) here.push_back(cut);
  }
  bool none_pays = least > 1e299;  // among equally good cuts, one that does not pay is enough
  for (std::size_t at = begin + 1; at < end; ++at) {
    if (!(column.values[at - 1] < column.values[at])) continue;
    const MdlpCut cut = judge(column, begin, at, end, n_classes);
    if (cut.entropy > least + kTolerance) continue;
    if (cut.surplus <= kTolerance) none_pays = true;
    const double where = middle(column.values[at - 1], column.values[at]);
    if (std::find(here.begin(), here.end(), where) == here.end() || cut.surplus < -kTolerance) continue;
    if (is_mdlp(column, begin, at, n_classes, here) && is_mdlp(column, at, end, n_classes, here)) return true;
  }
  return here.empty() && none_pays;
}

/// ChiMerge that computes everything anew after every merge.
inline std::vector<double> chimerge(const Column& column, std::int32_t n_classes, double threshold,
                                    std::size_t min_intervals) {
  struct Interval {
    double low, high;
    std::vector<double> counts;
  };
  std::vector<Interval> all;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    if (i == 0 || column.values[i - 1] < column.values[i]) {
      all.push_back({column.values[i], column.values[i], std::vector<double>(static_cast<std::size_t>(n_classes))});
    }
    all.back().counts[static_cast<std::size_t>(column.classes[i])] += 1.0;
  }
  const auto chi_square = [&](const Interval& a, const Interval& b) {
    double in_a = 0.0, in_b = 0.0, sum = 0.0;
    for (const double n : a.counts) in_a += n;
    for (const double n : b.counts) in_b += n;
    for (const Interval* side : {&a, &b}) {
      for (std::size_t k = 0; k < a.counts.size(); ++k) {
        const double expected = (side == &a ? in_a : in_b) * (a.counts[k] + b.counts[k]) / (in_a + in_b);
        const double difference = side->counts[k] - expected;
        if (expected > 0.0) sum += difference * difference / expected;
      }
    }
    return sum;
  };
  while (all.size() > min_intervals && all.size() > 1) {
    std::size_t best = 0;
    double least = 1e300;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const double found = chi_square(all[i], all[i + 1]);
      if (found < least) {
        least = found;
        best = i;
      }
    }
    if (!(least < threshold)) break;
    for (std::size_t k = 0; k < all[best].counts.size(); ++k) all[best].counts[k] += all[best + 1].counts[k];
    all[best].high = all[best + 1].high;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<double> cuts;
  for (std::size_t i = 1; i < all.size(); ++i) cuts.push_back(middle(all[i - 1].high, all[i].low));
  return cuts;
}

struct GlobalChoice {
  std::size_t attribute = 0;
  double cut = 0.0;
  std::int32_t value = 0;
  double pairs = 0.0;
};

/// The global method: for every cut of every feature it counts all pairs that nothing separates yet.
inline std::vector<GlobalChoice> md_global(const std::vector<Feature>& features, const Decisions& decisions) {
  const std::size_t n = decisions.classes.size();
  std::vector<std::vector<Candidate>> all;
  for (const Feature& feature : features) all.push_back(candidates(feature));
  std::vector<char> apart(n * n);
  std::vector<GlobalChoice> chosen;
  for (;;) {
    GlobalChoice best;
    const Candidate* winner = nullptr;
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (const Candidate& one : all[a]) {
        double pairs = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < i; ++j) {
            if (apart[i * n + j] != 0 || decisions.classes[i] == decisions.classes[j]) continue;
            if (one.right[i] != one.right[j]) pairs += decisions.weight(i) * decisions.weight(j);
          }
        }
        if (!(pairs > best.pairs)) continue;
        best = {a, one.cut, one.value, pairs};
        winner = &one;
      }
    }
    if (winner == nullptr) return chosen;
    chosen.push_back(best);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (winner->right[i] != winner->right[j]) apart[i * n + j] = 1;
      }
    }
  }
}

}  // namespace stope::oracle
