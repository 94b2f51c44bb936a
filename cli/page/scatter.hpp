// Points in a plane, with a colour and a mark for each class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/classes.hpp"
#include "page/figure.hpp"

namespace stope::cli::page {

struct Scatter {
  std::vector<double> x, y;
  std::vector<std::int32_t> groups;  ///< of the classes, one per point
  std::string x_name, y_name;
};

/// Fills the figure's size.
void write_scatter(Markup& out, Figure figure, const Scatter& scatter, const ClassList& classes,
                   const DataTable& numbers);

}  // namespace stope::cli::page
