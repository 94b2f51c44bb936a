// Numbers by which near_order.cpp splits rows: a value and its row. Finds the one that has a given number of others
// below it.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>

namespace stope::knn {

/// A value and its row in one number, which has their order: by value, missing ones last, then by row.
using SplitKey = std::uint64_t;

inline SplitKey split_key(float value, std::uint32_t row) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t flipped = bits ^ ((bits >> 31) != 0 ? 0xffffffffU : 0x80000000U);
  return SplitKey{value == value ? flipped : 0xffffffffU} << 32 | row;
}

/// Runs tasks 0 ... n_tasks - 1, on one thread or on many.
using RunTasks = std::function<void(std::int64_t n_tasks, const std::function<void(std::int64_t task)>&)>;

/// A task of work on keys has so many of them.
inline constexpr std::int64_t kKeysPerTask = std::int64_t{1} << 16;

/// Returns the one of n different keys that has m others below it, 0 <= m < n. `spare` has room for n keys.
SplitKey key_number(const SplitKey* keys, std::int64_t n, std::int64_t m, SplitKey* spare, const RunTasks& run_tasks);

}  // namespace stope::knn
