#include "base/reduce.hpp"

namespace stope {

double pairwise_sum(std::span<const double> values) {
  constexpr std::size_t kLeaf = 128;  // long enough to amortise the recursion, short enough to keep the bound
  if (values.size() <= kLeaf) {
    double sum = 0.0;
    for (const double v : values) sum += v;
    return sum;
  }
  const std::size_t middle = (values.size() / 2 + kLeaf - 1) / kLeaf * kLeaf;
  return pairwise_sum(values.first(middle)) + pairwise_sum(values.subspan(middle));
}

}  // namespace stope
