// The axes of figures: round numbers between two ends.
#pragma once

#include <string>
#include <vector>

#include "page/markup.hpp"
#include "stope/table.hpp"

namespace stope::cli::page {

/// Places a value between two ends of a line of the page.
struct Scale {
  double low = 0, high = 1;   ///< values
  double from = 0, to = 100;  ///< where they lie

  double at(double value) const;
};

/// Round values from low to high, at most `most` of them and at least one of the ends.
std::vector<double> round_values(double low, double high, int most);
/// The value with the decimals that steps of this size need.
std::string tick_text(double value, double step);

/// A horizontal axis at height y with its labels below. Dates are labelled at their ends.
void draw_x_axis(Markup& out, const Scale& x, double y, ValueType type, int most);

}  // namespace stope::cli::page
