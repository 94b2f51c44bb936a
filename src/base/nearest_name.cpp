#include "stope/nearest_name.hpp"

#include <algorithm>
#include <cctype>

#include "base/guarded.hpp"

namespace stope {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Counts letters inserted, dropped, replaced, and neighbours swapped (optimal string alignment). A swap is the
// commonest typing mistake; if it counted as two edits, "lable" would be too far from "label".
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j - 1] + (same ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) try {
  constexpr std::size_t kLongest = 64;  // longer names are no typing mistakes; this bounds the quadratic search
  if (name.empty() || name.size() > kLongest) return "";
  const std::string* best = nullptr;
  // A third of the letters may differ, but never all of them: 'x' is not a misspelt 'y'.
  std::size_t best_distance = std::min(std::max<std::size_t>(1, name.size() / 3), name.size() - 1) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? "" : " (did you mean '" + *best + "'?)";
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
