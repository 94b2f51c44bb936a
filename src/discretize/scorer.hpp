// Scores the cuts of one attribute under some labels, by any criterion, with or without weights.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/best_cut.hpp"
#include "discretize/cut_scan.hpp"
#include "discretize/problem.hpp"

namespace stope::discretize {

/// Rows in the order of an attribute's values; differs[i]: whether rows i and i + 1 in order have different values.
struct OrderedColumn {
  const std::uint32_t* rows;
  const std::uint8_t* differs;
  std::int64_t n;
};

/// Classes of the rows, and how many rows (or how much weight) each class has.
struct Labels {
  const std::int32_t* classes;
  const std::vector<std::int64_t>* totals;
};

/// The best cut, the lowest of equally good ones. It lies between places `position` and `position` + 1 in order; for a
/// symbolic attribute, `position` is the code. -1: no cut is worth more than 0.
struct ScoredCut {
  Worth worth;
  std::int64_t position = -1;
};

/// Whether a cut's gain above 0 is real: if both parts hold the classes in the same proportions, it is only rounding.
bool gain_is_real(const DecisionProblem& problem, const Attribute& attribute, double cut);

/// Safe to use from several threads at once.
class Scorer {
 public:
  Scorer(const DecisionProblem& problem, Criterion criterion);

  Criterion criterion() const { return criterion_; }
  Labels true_labels() const { return {problem_.class_of.data(), &problem_.class_totals}; }
  ScoredCut best_cut(const OrderedColumn& column, const Labels& labels) const;
  ScoredCut best_value(const Attribute& attribute, const Labels& labels) const;

 private:
  /// The gain by Gini or entropy.
  Worth gain_of(const std::int64_t* left, const std::int64_t* right, const std::vector<std::int64_t>& totals) const;

  const DecisionProblem& problem_;
  Criterion criterion_;
  InformationTable information_;
};

}  // namespace stope::discretize
