// A numeric label from the other columns: each column's correlation with it, and the coefficients of least squares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/markup.hpp"
#include "page/subject.hpp"
#include "stope/lsq.hpp"

namespace stope::cli::page {

struct LabelCorrelation {
  std::string name;
  double r = 0;        ///< Pearson's, of the rows that have both values
  std::int64_t n = 0;  ///< those rows
};

/// The correlation of every numeric feature with the label, the strongest first, equal ones in the table's order. A
/// column without one (constant, infinite, fewer than three rows) is left out. The numbers are those of correlation().
std::vector<LabelCorrelation> correlations_of(const Table& table, const Column& label, const RunOptions& run);

void write_correlations(Markup& out, const std::vector<LabelCorrelation>& correlations, const std::string& label);

struct LinearFound {
  LinearModel model;
  std::vector<double> deviations;  ///< of the model's features: a coefficient times this is an effect
  std::string label, rows, method;
  std::string command;
};

void write_linear(Markup& out, const LinearFound& found);

}  // namespace stope::cli::page
