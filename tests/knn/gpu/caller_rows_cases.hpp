// Random rows in a GPU's memory, and what their lists should be: for the real plug-in and for the fake one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "knn/vote/vote_cases.hpp"
#include "stope/device_arrays.hpp"
#include "stope/knn.hpp"

namespace stope::device_array_cases {

/// Values between the rows must not be read: they are far off.
struct Rows {
  std::int64_t n_rows = 0, n_columns = 0, stride = 0;
  bool floats = false;
  std::vector<double> values = {};  // floats in doubles, where floats are wanted

  std::vector<float> as_floats() const {
    std::vector<float> narrow;
    for (const double value : values) narrow.push_back(static_cast<float>(value));
    return narrow;
  }
  DeviceMatrix matrix(const void* data, int gpu, void* stream = nullptr) const {
    return {data,
            floats ? FloatType::float32 : FloatType::float64,
            n_rows,
            n_columns,
            stride == n_columns ? 0 : stride,
            gpu,
            stream};
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

inline Rows random_rows(Random& random, std::int64_t n, std::int64_t n_columns, bool ties) {
  Rows rows{.n_rows = n,
            .n_columns = n_columns,
            .stride = n_columns + static_cast<std::int64_t>(random.below(3)),
            .floats = random.below(2) == 0};
  const double missing = random.below(4) == 0 ? 0.05 : 0.0;
  rows.values.assign(static_cast<std::size_t>(n * rows.stride), -1e30);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t c = 0; c < n_columns; ++c) {
      double value = ties ? static_cast<double>(random.below(4)) : random.uniform();
      if (rows.floats) value = static_cast<double>(static_cast<float>(value));
      if (random.uniform() < missing) value = std::nan("");
      rows.values[static_cast<std::size_t>(i * rows.stride + c)] = value;
    }
  }
  return rows;
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
  job.train = random_rows(random, 2 + below(most_rows), n_columns, ties);
  job.query = random_rows(random, 1 + below(most_queries), n_columns, ties);
  job.search.exclude_self = random.below(4) == 0;
  if (job.search.exclude_self) job.query = job.train;
  job.search.n_neighbors = 1 + below(std::min(job.train.n_rows - 1, most_k));
  if (random.below(5) == 0) job.options.compat = Compat::rapidminer;
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
  ASSERT_EQ(ours.indices, theirs.indices) << ours.report.method;
  for (std::size_t i = 0; i < theirs.distances.size(); ++i) {
    if (std::isnan(ours.distances[i]) && std::isnan(theirs.distances[i])) continue;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(ours.distances[i]), std::bit_cast<std::uint64_t>(theirs.distances[i])) << i;
  }
}

}  // namespace stope::device_array_cases
