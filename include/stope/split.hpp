// Splits of a table's rows into parts of given shares: by chance, stratified by class, or with groups kept together.
// Folds and hold-outs of equal rights are in stope/eval.hpp.
#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

/// Rows of each part, ascending; every row is in exactly one part, and no part is empty. `shares` are relative: {60,
/// 20, 20} or {3, 1, 1}. `labels` (codes, missing = a class of its own) makes every part stratified, as holdout_rows
/// does; empty = by chance alone. The last part of two is holdout_rows(n_rows, its share, seed, labels). Deterministic
/// in the seed on every machine. Throws invalid_argument for fewer than two shares, a share that is not positive and
/// finite, too few rows for the parts, and labels of another number of rows.
std::vector<std::vector<std::int64_t>> split_rows(std::int64_t n_rows, const std::vector<double>& shares,
                                                  std::uint64_t seed, const std::vector<std::int32_t>& labels = {});

/// The same for rows of groups that stay together: `groups` has a code per row; a row whose code is missing is a group
/// of its own. Large groups are placed first, each where most rows are wanting; groups of one size go by chance. So the
/// parts have their shares as nearly as the groups allow. Throws invalid_argument as above, and for fewer groups than
/// parts.
std::vector<std::vector<std::int64_t>> split_groups(const std::vector<std::int32_t>& groups,
                                                    const std::vector<double>& shares, std::uint64_t seed);

}  // namespace stope
#pragma GCC visibility pop
