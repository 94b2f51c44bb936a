#include "discretize/present_classes.hpp"

#include <algorithm>

namespace stope::discretize {

std::int64_t n_present_classes(const DecisionProblem& problem) {
  return std::count_if(problem.class_totals.begin(), problem.class_totals.end(), [](std::int64_t n) { return n > 0; });
}

PresentClasses::PresentClasses(const DecisionProblem& problem) : of_row(static_cast<std::size_t>(problem.n_rows)) {
  std::vector<std::uint8_t> number(problem.class_totals.size());
  for (std::size_t k = 0; k < number.size(); ++k) {
    if (problem.class_totals[k] == 0) continue;
    number[k] = static_cast<std::uint8_t>(totals.size());
    totals.push_back(problem.class_totals[k]);
    original.push_back(k);
  }
  for (std::size_t row = 0; row < of_row.size(); ++row) {
    of_row[row] = number[static_cast<std::size_t>(problem.class_of[static_cast<std::int64_t>(row)])];
  }
}

}  // namespace stope::discretize
