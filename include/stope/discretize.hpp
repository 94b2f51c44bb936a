// Supervised discretisation: the best cut of every attribute, sets of cuts, coded tables.
//
//   const BestCuts ranking = best_cuts(table);              every attribute by its best cut; the label is a column's
//   role const CutSet cuts = find_cuts(table, {.method = DiscretizeMethod::mdlp}); const Table coded =
//   apply_cuts(other, cuts);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/cuts.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

/// What a missing value of an attribute means. error: refused. value: a value of its own, below all numbers, or one
/// more symbolic value "?". drop: the row is left out. fill: the mean of the attribute's numbers, or its most frequent
/// value (of equally frequent ones the first) stands in.
enum class MissingPolicy { error, value, drop, fill };
MissingPolicy missing_policy(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(MissingPolicy policy) noexcept;

/// What a split is worth. discernibility: pairs of rows of different classes that it separates (an exact integer); gini
/// and entropy: how much impurity, or how many bits of uncertainty about the class, it removes.
enum class Criterion { discernibility, gini, entropy };
Criterion criterion(std::string_view name);
std::string_view to_string(Criterion criterion) noexcept;

}  // namespace stope
