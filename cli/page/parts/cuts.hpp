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
  double n_pairs = 0;  ///< pairs of rows of different classes
  std::string command;
};

/// Pairs of rows of different classes, in the unit of the scores.
double pairs_of_classes(const BestCuts& ranking);
/// The share of those pairs that a cut separates.
double share_of(const CutsFound& found, const BestCut& cut);
/// "age ≥ 27.5", "sex = f"; empty for a column without a cut.
std::string cut_words(const BestCut& cut, ValueType type);

void write_cuts(Markup& out, const CutsFound& found, const Subject& subject);

}  // namespace stope::cli::page
