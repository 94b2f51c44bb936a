// How much room a label takes in a picture. The page names no font of its own, so widths are those of DejaVu Sans, the
// widest of the usual ones: a label that fits there fits everywhere.
#pragma once

#include <string>
#include <string_view>

namespace stope::cli::page {

/// The width of a text in letters of 12 px; bold letters are a tenth wider.
double label_width(std::string_view text);

/// The text, or its beginning, "…" and its end, so that it takes at most that width.
std::string fitted(std::string_view text, double width);

/// How much wider bold letters are.
inline constexpr double kBold = 1.12;

}  // namespace stope::cli::page
