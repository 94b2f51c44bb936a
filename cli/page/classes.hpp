// The classes of a label as figures show them: the largest have a colour, a texture and a mark each, and the others
// share the last one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/markup.hpp"
#include "stope/table.hpp"

namespace stope::cli::page {

struct ClassList {
  std::vector<std::string> names;      ///< of the groups that are shown, in the label's order, "other" last
  std::vector<std::int32_t> group_of;  ///< the group of each of the label's codes
  std::vector<std::int64_t> rows;      ///< rows of each group
  std::int64_t n_rest = 0;             ///< classes that share the last group; 0 = each class is a group

  std::size_t size() const { return names.size(); }
  bool empty() const { return names.empty(); }
};

/// The most groups that have a colour of their own.
inline constexpr std::size_t kMostClasses = 6;

/// The groups of a nominal label.
ClassList class_list(const Column& label);
/// All rows as one group, without a name: for tables without a nominal label.
ClassList no_classes(std::int64_t n_rows);

/// The number of a group's colour: 6 is that of the rest.
std::size_t color_of(const ClassList& classes, std::size_t group);
/// The CSS class of a plain fill, of a fill with a texture.
std::string plain_fill(const ClassList& classes, std::size_t group);
std::string textured_fill(const ClassList& classes, std::size_t group);

/// Which key a legend shows.
enum class Key { texture, mark };
void write_legend(Markup& out, const ClassList& classes, Key key);
/// The path of a mark around a point, for a colour's number.
std::string mark_path(std::size_t color, double x, double y);

}  // namespace stope::cli::page
