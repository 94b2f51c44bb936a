// Slow references for discretisation: they try every cut of every attribute, and count every pair of rows. They share
// nothing with src/discretize but the types of its results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace stope::oracle {

/// One attribute of a decision problem: numbers (NaN missing), or codes (every value a code, the missing one too).
struct Feature {
  std::vector<double> numbers;
  std::vector<std::int32_t> codes;
  bool symbolic() const { return numbers.empty(); }
};

struct Decisions {
  std::vector<std::int32_t> classes;
  std::int32_t n_classes = 0;
  std::vector<double> weights;  ///< empty = 1 each
  double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

/// Returns the ascending distinct values, a missing one first.
inline std::vector<double> distinct_values(const std::vector<double>& numbers) {
  std::vector<double> values;
  bool missing = false;
  for (const double x : numbers) {
    if (std::isnan(x)) {
      missing = true;
    } else {
      values.push_back(x == 0.0 ? 0.0 : x);
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (missing) values.insert(values.begin(), std::nan(""));
  return values;
}

inline double middle(double a, double b) {
  if (std::isnan(a)) return -std::numeric_limits<double>::infinity();
  if (std::isinf(a)) return b;
  double cut = (a + b) / 2.0;
  if (std::isinf(cut) && !std::isinf(b)) cut = a / 2.0 + b / 2.0;
  return cut > a ? cut : b;
}

/// Counts, one by one, the pairs of rows of different classes that lie on different sides (weights: their products).
inline double pairs_apart(const std::vector<char>& right, const Decisions& decisions) {
  double pairs = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (right[i] == right[j] || decisions.classes[i] == decisions.classes[j]) continue;
      pairs += decisions.weight(i) * decisions.weight(j);
    }
  }
  return pairs;
}

enum class Measure { pairs, gini, entropy };

/// Returns the impurity of the rows of one side (0 left, 1 right, -1 both), times their weight.
inline double impurity(const std::vector<char>& right, int side, const Decisions& decisions, Measure measure) {
  std::vector<double> counts(static_cast<std::size_t>(decisions.n_classes));
  double total = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (side >= 0 && right[i] != side) continue;
    counts[static_cast<std::size_t>(decisions.classes[i])] += decisions.weight(i);
    total += decisions.weight(i);
  }
  double sum = 0.0;
  for (const double count : counts) {
    const double share = count / total;
    if (count > 0.0) sum += measure == Measure::gini ? share * (1.0 - share) : -share * std::log2(share);
  }
  return sum * total;
}

inline double worth(const std::vector<char>& right, const Decisions& decisions, Measure measure) {
  if (measure == Measure::pairs) return pairs_apart(right, decisions);
  double total = 0.0;
  for (std::size_t i = 0; i < right.size(); ++i) total += decisions.weight(i);
  return (impurity(right, -1, decisions, measure) - impurity(right, 0, decisions, measure) -
          impurity(right, 1, decisions, measure)) /
         total;
}

struct Candidate {
  double cut = 0.0;        ///< numbers
  std::int32_t value = 0;  ///< codes
  std::vector<char> right;
};

/// Returns all candidates of a feature, in the order that decides between equals.
inline std::vector<Candidate> candidates(const Feature& feature) {
  std::vector<Candidate> all;
  if (!feature.symbolic()) {
    const std::vector<double> values = distinct_values(feature.numbers);
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      Candidate one;
      one.cut = middle(values[i], values[i + 1]);
      for (const double x : feature.numbers) one.right.push_back(x >= one.cut ? 1 : 0);
      all.push_back(one);
    }
    return all;
  }
  const std::int32_t most = feature.codes.empty() ? -1 : *std::max_element(feature.codes.begin(), feature.codes.end());
  for (std::int32_t value = 0; value <= most; ++value) {
    Candidate one;
    one.value = value;
    for (const std::int32_t code : feature.codes) one.right.push_back(code == value ? 1 : 0);
    const auto n = std::count(one.right.begin(), one.right.end(), 1);
    if (n > 0 && n < static_cast<std::ptrdiff_t>(one.right.size())) all.push_back(one);
  }
  return all;
}

struct Best {
  double score = 0.0;
  Candidate candidate;
};

/// Returns the first candidate of the highest score; score 0 where none has more.
inline Best best_of(const Feature& feature, const Decisions& decisions, Measure measure) {
  Best best;
  for (const Candidate& one : candidates(feature)) {
    const double score = worth(one.right, decisions, measure);
    if (score > best.score) best = {score, one};
  }
  return best;
}

}  // namespace stope::oracle
