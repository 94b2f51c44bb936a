// Principal components: how much of the variance each has, and the rows in the plane of the first two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/classes.hpp"
#include "page/markup.hpp"
#include "page/scatter.hpp"
#include "stope/pca.hpp"
#include "stope/table.hpp"

namespace stope::cli::page {

struct ComponentsFound {
  Pca pca;
  std::string rows;    ///< which rows, in words
  std::string method;  ///< sentences about scaling, missing values and columns left out
  Scatter scatter;     ///< no points where there are no scores
  std::string points;  ///< which points are drawn, in words; empty = all
  std::string command;
};

/// The most points that a figure shows.
inline constexpr std::int64_t kMostPoints = 2000;

/// Takes the first two components of scores (pc1, pc2, ...) as points: at most kMostPoints of them, evenly spread over
/// the rows. `label` may be null.
void take_points(ComponentsFound& found, const Table& scores, const Column* label, const ClassList& classes);

void write_components(Markup& out, const ComponentsFound& found, const ClassList& classes);

}  // namespace stope::cli::page
