// A line through points with the interval of each as a band, and a level to compare with.
#pragma once

#include <string>
#include <vector>

#include "page/figure.hpp"

namespace stope::cli::page {

struct CurvePoint {
  std::string name;  ///< below the axis
  double value = 0, low = 0, high = 0;
};

struct Curve {
  std::vector<CurvePoint> points;
  std::size_t best = 0;
  std::string x_name, y_name;
  bool shares = false;  ///< values are percentages
  bool has_level = false;
  double level = 0;
  std::string level_name;
};

/// Fills the figure's size. Points stand side by side at equal distances, whatever their names are.
void write_curve(Markup& out, Figure figure, const Curve& curve, const DataTable& numbers);

}  // namespace stope::cli::page
