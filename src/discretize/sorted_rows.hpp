// Rows in the order of an attribute's values (discretize/value_order.hpp), equal ones in row order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "discretize/crew.hpp"
#include "stope/buffer.hpp"

namespace stope::discretize {

inline constexpr int kDigitBits = 11, kMostDigits = (64 + kDigitBits - 1) / kDigitBits;

/// Memory that one thread, or crew, keeps between columns.
struct SortScratch {
  using Counts = std::array<std::array<std::uint32_t, 1 << kDigitBits>, kMostDigits>;
  Storage storage = Storage::memory;
  Buffer<std::uint64_t> keys, other;
  std::vector<Counts> counts;  ///< for every part of the keys: how often each digit occurs
};

/// Bytes that it grows to, per row.
inline constexpr std::int64_t kSortBytesPerRow = 2 * sizeof(std::uint64_t);

/// Fills rows[0 .. n), n <= kMostRows, and, unless null, differs[0 .. n): whether the next row in order has another
/// value (0 for the last). It is a radix sort of 64-bit words, each the leading bits of a value's key above its row.
/// The few values that these do not tell apart are compared afterwards. The crew sorts parts of long columns in
/// parallel.
void sort_rows(const double* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch,
               std::uint8_t* differs = nullptr, const Crew& crew = {});
void sort_rows(const float* x, std::int64_t n, std::uint32_t* rows, SortScratch& scratch,
               std::uint8_t* differs = nullptr, const Crew& crew = {});

}  // namespace stope::discretize
