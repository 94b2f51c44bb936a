// Decides whether the filter that an earlier search left on a GPU serves the next one, or a new one is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "stope/error.hpp"

namespace stope::knn {

/// Returns `there` if it serves n_queries and k, otherwise make(spec) with room for what `there` served as well. A
/// filter that takes far fewer queries at once does not serve: every later search of many queries would go in small
/// batches. A new one costs one more copy of the table, at most twice in a table's life. Where there is no room for
/// both, `there` stays.
template <class Filter, class SpecOf, class Make>
std::shared_ptr<Filter> keep_or_make(const std::shared_ptr<Filter>& there, std::int64_t n_queries, std::int64_t k,
                                     const SpecOf& spec_of, const Make& make) {
  constexpr std::int64_t kFarFewer = 4;
  if (there == nullptr) return make(spec_of(n_queries, k));
  const auto larger = spec_of(std::max(n_queries, there->most_queries()), std::max(k, there->most_neighbors()));
  if (there->most_neighbors() >= k && kFarFewer * there->most_queries() > larger.spec.most_queries) return there;
  try {
    return make(larger);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || there->most_neighbors() < k) throw;
    return there;
  }
}

}  // namespace stope::knn
