// Rows in the order of an attribute's values (discretize/value_order.hpp), equal ones in row order.
#pragma once

#include <cstdint>
#include <vector>

namespace stope::discretize {

/// Memory that one thread keeps between columns.
struct SortScratch {
  std::vector<std::uint64_t> keys, other;
};

/// Fills rows[0 .. n), n <= kMostRows, and, unless null, differs[0 .. n): whether the next row in order has another
/// value (0 for the last). A radix sort of 64-bit words, each the leading bits of a value's key above its row; the few
/// values that these do not tell apart are compared afterwards.
void sort_rows(const double* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch,
               std::uint8_t* differs = nullptr);
void sort_rows(const float* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch,
               std::uint8_t* differs = nullptr);

}  // namespace stope::discretize
