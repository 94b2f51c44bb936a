// Random rows in a GPU's memory, and what their lists should be: for the real plug-in and for the fake one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/random.hpp"
#include "knn/vote/vote_cases.hpp"
#include "stope/knn.hpp"

namespace stope::device_array_cases {

/// Values between the rows must not be read: they are far off.
struct Rows {
  std::int64_t n_rows = 0, n_columns = 0, stride = 0;
  ElementType type = ElementType::float64;
  std::vector<double> values = {};  // all have a place in the type

  /// The values as they lie in memory.
  std::vector<char> bytes() const {
    return with_type(type, [&](auto element) {
      using T = decltype(element);
      std::vector<char> narrow(values.size() * sizeof(T));
      for (std::size_t i = 0; i < values.size(); ++i) {
        const T value = static_cast<T>(values[i]);
        std::memcpy(narrow.data() + i * sizeof(T), &value, sizeof(T));
      }
      return narrow;
    });
  }
  ArrayView array(const void* data, int gpu, void* stream = nullptr) const {
    return {data, type, n_rows, n_columns, stride == n_columns ? 0 : stride, 1, gpu, stream};
  }
  bool floating() const { return !is_integer(type); }
  Rows block(std::int64_t first, std::int64_t n) const {
    Rows some{n, n_columns, stride, type, {}};
    some.values.assign(values.begin() + first * stride, values.begin() + (first + n) * stride);
    return some;
  }
  Table table() const {
    Table made;
    made.n_rows = n_rows;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      std::vector<double> column;
      for (std::int64_t i = 0; i < n_rows; ++i) column.push_back(values[static_cast<std::size_t>(i * stride + c)]);
      made.columns.push_back(make_numeric("x" + std::to_string(c), column));
    }
    return made;
  }
};

inline Rows random_rows(Random& random, std::int64_t n, std::int64_t n_columns, bool ties, ElementType type) {
  Rows rows{.n_rows = n,
            .n_columns = n_columns,
            .stride = n_columns + static_cast<std::int64_t>(random.below(3)),
            .type = type};
  const double missing = random.below(4) == 0 && rows.floating() ? 0.05 : 0.0;
  const std::uint64_t whole = type == ElementType::boolean ? 2 : ties ? 4 : 100;
  rows.values.assign(static_cast<std::size_t>(n * rows.stride), rows.floating() ? -1e30 : 101.0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t c = 0; c < n_columns; ++c) {
      double value = ties || !rows.floating() ? static_cast<double>(random.below(whole)) : random.uniform();
      if (type == ElementType::float32) value = static_cast<double>(static_cast<float>(value));
      if (random.uniform() < missing) value = std::nan("");
      rows.values[static_cast<std::size_t>(i * rows.stride + c)] = value;
    }
  }
  return rows;
}

/// One in two is of a floating-point type: those a GPU can read where they are.
inline ElementType random_type(Random& random) {
  return static_cast<ElementType>(random.below(random.below(2) == 0 ? 2 : 10));
}

struct Case {
  Rows train, query;
  KnnOptions options;
  SearchOptions search;
};

inline Case random_case(Random& random, std::int64_t most_rows, std::int64_t most_queries, std::int64_t n_columns,
                        std::int64_t most_k = 30) {
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most)));
  };
  const bool ties = random.below(2) == 0;
  Case job;
  job.train = random_rows(random, 2 + below(most_rows), n_columns, ties, random_type(random));
  job.query = random_rows(random, 1 + below(most_queries), n_columns, ties, random_type(random));
  job.search.exclude_self = random.below(4) == 0;
  if (job.search.exclude_self) {
    job.query = job.train;
    if (random.below(2) == 0) {
      job.search.first_query = below(job.train.n_rows);
      job.query = job.train.block(job.search.first_query, 1 + below(job.train.n_rows - job.search.first_query));
    }
  }
  job.search.n_neighbors = 1 + below(std::min(job.train.n_rows - 1, most_k));
  if (random.below(5) == 0) job.options.compat = Compat::rapidminer;
  if (random.below(6) == 0) {
    const auto groups = [&](std::int64_t n) {
      std::vector<double> ids;
      for (std::int64_t i = 0; i < n; ++i) ids.push_back(random.below(4) == 0 ? std::nan("") : below(3));
      return make_numeric("", ids);
    };
    job.search.exclude_train = groups(job.train.n_rows);
    job.search.exclude_query = groups(job.query.n_rows);
  }
  if (random.below(5) == 0 && n_columns > 1) {
    job.options.feature_weights.assign(static_cast<std::size_t>(n_columns), 1.0);
    job.options.feature_weights[random.below(static_cast<std::uint64_t>(n_columns))] = 0.0;
  }
  return job;
}

/// What a search wrote to the caller's memory.
struct Lists {
  explicit Lists(std::int64_t n) : indices(static_cast<std::size_t>(n), -3), distances(indices.size(), -3.0) {}
  std::vector<std::int64_t> indices;
  std::vector<double> distances;
  SearchReport report;
};

inline void expect_the_processors(const KnnIndex& index, const Case& job, const Lists& ours) {
  const vote_cases::NoForcedBackend free;
  const Neighbors theirs = index.kneighbors(job.query.table(), job.search, {.device = "cpu"});
  // Lists that are shorter than k end with -1 and NaN.
  const auto k = static_cast<std::size_t>(job.search.n_neighbors);
  for (std::size_t i = 0; i < ours.indices.size(); ++i) {
    const auto at = static_cast<std::size_t>(theirs.offsets[i / k]) + i % k;
    const bool there = at < static_cast<std::size_t>(theirs.offsets[i / k + 1]);
    ASSERT_EQ(ours.indices[i], there ? theirs.indices[at] : -1) << i << ", " << ours.report.method;
    if (std::isnan(ours.distances[i]) && (!there || std::isnan(theirs.distances[at]))) continue;
    ASSERT_TRUE(there) << i;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(ours.distances[i]), std::bit_cast<std::uint64_t>(theirs.distances[at])) << i;
  }
}

}  // namespace stope::device_array_cases
