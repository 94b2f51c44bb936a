// A figure: a picture that says its message to those who do not see it, a caption, and the numbers behind it.
#pragma once

#include <functional>
#include <string>

#include "page/data_table.hpp"
#include "page/markup.hpp"

namespace stope::cli::page {

struct Size {
  double width = 0, height = 0;
};

/// fit: the picture shrinks with the page. scroll: its letters would become too small, so it keeps its size.
enum class Narrow { fit, scroll };

struct Figure {
  std::string id;       ///< unique on the page
  std::string title;    ///< what the picture shows
  std::string message;  ///< what it says
  std::string caption;  ///< below it; empty = none
  Size size;
  Narrow narrow = Narrow::fit;
};

/// Writes the figure; `draw` writes what is inside the SVG.
void write_figure(Markup& out, const Figure& figure, const std::function<void(Markup&)>& draw,
                  const DataTable& numbers);

}  // namespace stope::cli::page
