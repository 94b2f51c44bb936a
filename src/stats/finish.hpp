// A column's part -> what the caller reads.
#pragma once

#include <optional>

#include "stats/part.hpp"
#include "stats/source.hpp"

namespace stope::stats {

/// The exponent e for which a second look at values times 2^-e is needed: where cubes of distances could overflow or
/// vanish. Only float64 columns can need one.
std::optional<int> rescue_exponent(const Part<double>& part, ElementType type);

/// The power of two that belongs to it.
double rescue_scale(int exponent);

/// What was found in values times 2^-exponent.
struct Rescued {
  Part<double> part;
  int exponent = 0;
};

void finish(const Part<double>& part, const std::optional<Rescued>& rescued, StatsOptions::Depth depth,
            ColumnStatistics& column);
void finish(const Part<std::int64_t>& part, const std::optional<Rescued>& rescued, StatsOptions::Depth depth,
            ColumnStatistics& column);

}  // namespace stope::stats
