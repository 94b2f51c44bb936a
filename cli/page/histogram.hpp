// A histogram by class: a strip for each class, one below the other, with its name beside it. All strips have one
// scale, the share of the class's own rows, so that small classes are as visible as large ones.
#pragma once

#include <optional>
#include <string>

#include "page/class_counts.hpp"
#include "page/figure.hpp"

namespace stope::cli::page {

/// Fills title, size and message if these are empty.
void write_histogram(Markup& out, Figure figure, const ColumnStatistics& statistics, const ClassCounts& counts,
                     const ClassList& classes, std::optional<double> cut);

}  // namespace stope::cli::page
