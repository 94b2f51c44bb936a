// How well the k nearest rows predict the label, for several k: a curve with its intervals.
#pragma once

#include <cstdint>
#include <string>

#include "page/markup.hpp"
#include "stope/eval.hpp"

namespace stope::cli::page {

struct NeighborsFound {
  Evaluation evaluation;
  EvaluateOptions options;
  std::string rows;           ///< which rows, in words
  std::int64_t n_rows = 0;    ///< of the table that was evaluated
  double majority = 0;        ///< classification: share of the largest class
  std::string majority_name;  ///< its name
  double deviation = 0;       ///< regression: root mean square error of always answering with the mean
  std::string command;        ///< that repeats it; empty = none
};

/// The bounds between which the true share lies in 95 of 100 cases, by Wilson.
struct Interval {
  double low = 0, high = 0;
};
Interval wilson(double share, std::int64_t n);

/// The largest class, or the spread of a numeric label, of the rows that were evaluated.
void compare_with(NeighborsFound& found, const Column& label);

void write_neighbors(Markup& out, const NeighborsFound& found);
}  // namespace stope::cli::page
