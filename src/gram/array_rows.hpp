// Products of the rows of an array in memory with vectors, without a table: rows become columns in the cache, some at a
// time. The bits are those of a table's rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/thread_pool.hpp"
#include "stope/array.hpp"
#include "stope/run.hpp"

namespace stope::gram {

/// A value counts as (value - minus) * times; each has one number per column.
struct RowTerms {
  std::vector<double> minus, times;
};

/// Products of rows [row, row + n_rows) with vectors [vector, vector + n_vectors): values[i * stride + j].
struct RowProducts {
  std::int64_t row, n_rows, vector, n_vectors, stride;
  const double* values;
};

/// Throws invalid_argument where the array has another number of columns than a model has features.
void require_columns(const ArrayView& array, std::int64_t n_features);

/// Hands the products of all rows with vectors, which lie one behind the other, to `store`, from several threads.
/// Returns false where it cannot: the array is not of floating-point rows in the host's memory, or a product is not
/// finite, as with missing and infinite values. What was handed over does not count then.
bool multiply_array_rows(const ArrayView& array, const RowTerms& terms, const double* vectors, std::int64_t n_vectors,
                         ThreadPool& pool, const CancelToken& cancel,
                         const std::function<void(const RowProducts&)>& store, PhaseProgress* progress);

}  // namespace stope::gram
