// A bar for each value of a nominal column, as long as the value is frequent and divided by class.
#pragma once

#include "page/class_counts.hpp"
#include "page/figure.hpp"

namespace stope::cli::page {

/// Fills the figure's title and size.
void write_value_bars(Markup& out, Figure figure, const ColumnStatistics& statistics, const ClassCounts& counts,
                      const ClassList& classes);

}  // namespace stope::cli::page
