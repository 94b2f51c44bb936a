#include "knn/merge_padded.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "knn/lists/neighbor_list.hpp"

namespace stope::knn {
namespace {

// Sorts the k closest, and drops the others: with a total order none of them can come back.
void keep_closest(std::vector<Neighbor>& found, std::int64_t k) {
  const auto kept = std::min(std::ssize(found), static_cast<std::ptrdiff_t>(k));
  std::partial_sort(found.begin(), found.begin() + kept, found.end(), closer);
  found.resize(static_cast<std::size_t>(kept));
}

}  // namespace

void merge_padded(const PaddedLists& parts, std::int64_t* indices, double* distances) {
  std::vector<Neighbor> found;
  for (std::int64_t begin = 0; begin < parts.n_queries * parts.k; begin += parts.k) {
    found.clear();
    for (std::int64_t part = 0; part < parts.n_parts; ++part) {
      for (std::int64_t i = begin + part * parts.stride; i < begin + part * parts.stride + parts.k; ++i) {
        if (parts.indices[i] >= 0) found.push_back({parts.distances[i], parts.indices[i]});
      }
      if (std::ssize(found) > parts.k) keep_closest(found, parts.k);
    }
    keep_closest(found, parts.k);
    for (std::int64_t i = 0; i < parts.k; ++i) {
      const bool there = i < std::ssize(found);
      indices[begin + i] = there ? found[static_cast<std::size_t>(i)].row : -1;
      distances[begin + i] =
          there ? found[static_cast<std::size_t>(i)].distance : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace stope::knn
