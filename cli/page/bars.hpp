// Horizontal bars from zero, each with its name, its value and, where there is one, its interval.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "page/figure.hpp"

namespace stope::cli::page {

struct Bar {
  std::string name;
  double value = 0;
  double low = std::numeric_limits<double>::quiet_NaN();  ///< NaN: no interval
  double high = std::numeric_limits<double>::quiet_NaN();
  std::string text;  ///< the value as it is written beside the bar
};

/// Fills the figure's size. Bars may go both ways.
void write_bars(Markup& out, Figure figure, const std::vector<Bar>& bars, const DataTable& numbers);

}  // namespace stope::cli::page
