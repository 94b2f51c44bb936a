// The columns by their best cut: one threshold, or one value against the rest, that separates the classes best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/markup.hpp"
#include "page/subject.hpp"
#include "stope/discretize.hpp"

namespace stope::cli::page {

struct CutsFound {
  BestCuts ranking;
  std::string rows;  ///< which rows, in words
  std::int64_t n_permutations = 0;
  std::uint64_t seed = 0;
  Criterion criterion = Criterion::entropy;
  double most = 0;  ///< what a cut that tells everything would score
  std::string command;
};

/// What a cut scores that leaves each side with one class: all pairs of rows of different classes, all impurity, or all
/// uncertainty.
double best_score(const BestCuts& ranking, Criterion criterion);
/// "of the uncertainty about the class", "of the pairs of different classes": what the shares are about.
std::string share_words(Criterion criterion);
/// The share that a cut removes or separates.
double share_of(const CutsFound& found, const BestCut& cut);
/// "age ≥ 27.5", "sex = f"; empty for a column without a cut.
std::string cut_words(const BestCut& cut, ValueType type);

void write_cuts(Markup& out, const CutsFound& found, const Subject& subject);

}  // namespace stope::cli::page
