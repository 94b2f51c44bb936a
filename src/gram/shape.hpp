// The shape of every sum of the gram operator: a function of the numbers of rows and columns alone, whoever computes it
// (docs/adr/0012-gram-shape.md). It is compiled for host and device.
//
// A dot product a_i . x has leaves of 512 columns. Slot s of a leaf adds the products of its columns s, s + 128, s +
// 256 and s + 384 in that order, by fused multiply-adds. Four neighbouring slots are added as (0 + 1) + (2 + 3). The 32
// sums of four are halved by adding sum q to sum q ^ 16, then ^ 8, ^ 4, ^ 2, ^ 1. That is one warp, with one float4 per
// lane and step. The aligned tree adds the leaves.
//
// A column of A^T y adds rows in n_groups() groups of neighbours, each group in row order, by fused multiply-adds. The
// aligned tree adds the groups.
//
// The aligned tree adds neighbours 2i and 2i + 1, then their sums in the same way, until one is left. What is missing
// at the end is not added. A missing summand may as well be +0.0: that changes only the sign of a zero, and every zero
// in a result is made +0.0 at last.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::gram {

inline constexpr std::int64_t kSlots = 128;
inline constexpr std::int64_t kLeafRounds = 4;
inline constexpr std::int64_t kLeafColumns = kSlots * kLeafRounds;

STOPE_HD constexpr std::int64_t n_leaves(std::int64_t n_columns) {
  return (n_columns + kLeafColumns - 1) / kLeafColumns;
}

/// Columns rounded up to whole leaves: the room of vectors along the columns on a GPU.
STOPE_HD constexpr std::int64_t padded_columns(std::int64_t n_columns) {
  return n_leaves(n_columns) * kLeafColumns;
}

/// Groups of rows, by three rules. At most 132 x 8192 partial sums where possible, so that they take 9 MB: a GPU of 132
/// SMs keeps that many in its threads, 8192 per SM. At least 8 groups of 256 rows, so that several GPUs can share wide
/// matrices. No group shorter than 8 rows.
STOPE_HD constexpr std::int64_t n_groups(std::int64_t n_rows, std::int64_t n_columns) {
  constexpr std::int64_t kPartials = std::int64_t{132} * 8192;
  constexpr std::int64_t kLeastRows = 8, kRowsWhereWide = 256, kGroupsWhereWide = 8;
  const std::int64_t by_width = kPartials / (n_leaves(n_columns) * kLeafColumns);
  std::int64_t wide = n_rows / kRowsWhereWide;
  wide = wide < 1 ? 1 : wide > kGroupsWhereWide ? kGroupsWhereWide : wide;
  const std::int64_t most = (n_rows + kLeastRows - 1) / kLeastRows;
  const std::int64_t wanted = by_width > wide ? by_width : wide;
  return wanted < most ? wanted : most;
}

/// The groups of rows: the first `longer` have one row more than the others.
struct GroupRows {
  std::int64_t rows, longer;

  STOPE_HD static constexpr GroupRows of(std::int64_t n_rows, std::int64_t n_groups) {
    return {n_rows / n_groups, n_rows % n_groups};
  }
  /// The first row of a group; for the group behind the last one, n_rows.
  STOPE_HD constexpr std::int64_t begin(std::int64_t group) const {
    return group * rows + (group < longer ? group : longer);
  }
  /// The group that a row belongs to.
  STOPE_HD constexpr std::int64_t group_of(std::int64_t row) const {
    const std::int64_t in_longer = longer * (rows + 1);
    return row < in_longer ? row / (rows + 1) : longer + (row - in_longer) / rows;
  }
};

STOPE_HD constexpr std::int64_t group_begin(std::int64_t group, std::int64_t n_rows, std::int64_t n_groups) {
  return GroupRows::of(n_rows, n_groups).begin(group);
}

/// The aligned tree over values[0 .. n), n >= 1, which it overwrites.
STOPE_HD constexpr double tree_sum(double* values, std::int64_t n) {
  for (std::int64_t step = 1; step < n; step *= 2) {
    for (std::int64_t i = 0; i + step < n; i += 2 * step) values[i] += values[i + step];
  }
  return values[0];
}

/// The form in which a sum is returned: no negative zero (so that summands of +0.0 change nothing), one NaN.
STOPE_HD constexpr double finished(double sum) {
  return sum == sum ? sum + 0.0 : __builtin_nan("");
}

}  // namespace stope::gram
