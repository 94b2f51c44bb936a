// Vectors along the columns in the form that kernels want, and the checks that every back end makes.
#pragma once

#include <cstdint>
#include <span>

#include "gram/kernels.hpp"
#include "gram/operator.hpp"
#include "gram/rows.hpp"
#include "stope/buffer.hpp"
#include "stope/gram.hpp"

namespace stope::gram {

/// Elements from one padded vector along the columns to the next.
constexpr std::int64_t padded(std::int64_t n_columns) {
  return (n_columns + kPadding - 1) / kPadding * kPadding;
}

/// Throws invalid_argument unless shift and scale are empty or have one finite number per column.
void check_options(const GramOptions& options, std::int64_t n_columns);
/// Throws invalid_argument unless `vector` has n_vectors times `wanted` numbers and n_vectors is 1 to kMostVectors.
void check_vector(const char* name, std::size_t size, std::int64_t wanted, std::int64_t n_vectors);

/// Copies each vector, padded with zeros and multiplied by `scale` unless that is empty.
Buffer<double> padded_copy(std::span<const double> x, std::int64_t n_columns, std::span<const double> scale);
/// Returns x where it is that copy already: its length needs no padding and nothing is scaled. Else the copy, in
/// `room`.
const double* padded_view(std::span<const double> x, std::int64_t n_columns, std::span<const double> scale,
                          Buffer<double>& room);

/// The residual of rows [first, first + y.size()) of A x, in place.
void subtract_from(const Target& target, std::int64_t first, std::span<double> y);

}  // namespace stope::gram
