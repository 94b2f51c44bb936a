// Shuffles labels (discretize/permuted_labels.hpp).
#include "discretize/permuted_labels.hpp"

#include <algorithm>
#include <utility>

namespace stope::discretize {

void LabelShuffler::next(std::int32_t* labels, std::vector<std::int64_t>& totals) {
  const std::int64_t n = problem_.n_rows;
  std::copy(problem_.class_of.begin(), problem_.class_of.end(), labels);
  for (std::int64_t i = n - 1; i > 0; --i) {
    std::swap(labels[i], labels[random_.below(static_cast<std::uint64_t>(i) + 1)]);
  }
  totals = problem_.class_totals;
  if (!problem_.weighted) return;
  std::fill(totals.begin(), totals.end(), 0);
  for (std::int64_t i = 0; i < n; ++i) totals[static_cast<std::size_t>(labels[i])] += problem_.weight(i);
}

}  // namespace stope::discretize
