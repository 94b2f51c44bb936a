// Turns a column's part into what the caller reads.
#pragma once

#include <optional>

#include "stats/part.hpp"
#include "stats/source.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

/// Returns the exponent e if the column needs a second pass over values times 2^-e: where cubes of distances could
/// overflow or vanish. Only float64 columns can need one.
std::optional<int> rescue_exponent(const Part<double>& part, ElementType type);

/// The factor 2^-exponent of the second pass.
double rescue_scale(int exponent);

/// What the second pass found, in values times 2^-exponent.
struct Rescued {
  Part<double> part;
  int exponent = 0;
};

void finish(const Part<double>& part, const std::optional<Rescued>& rescued, StatsOptions::Depth depth,
            ColumnStatistics& column);
void finish(const Part<std::int64_t>& part, const std::optional<Rescued>& rescued, StatsOptions::Depth depth,
            ColumnStatistics& column);

}  // namespace stope::stats
