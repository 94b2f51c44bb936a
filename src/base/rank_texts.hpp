// Ranks of many texts in the order of their bytes: what a sort with a comparison of texts takes many cache misses for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stope/run.hpp"

namespace stope {

/// A text among several lists: texts()[list][index].
struct RankedText {
  std::uint64_t rank;  ///< how many different texts come before it
  std::uint32_t list, index;
};

/// All texts of the lists in the order of std::string_view's <. Equal texts have the same rank and stand next to each
/// other, in any order. Their lengths and bytes may be any. Throws Error{cancelled} from within.
std::vector<RankedText> rank_texts(std::span<const std::span<const std::string_view>> lists, const CancelToken& cancel);

/// As above, for some of the texts. Their ranks may be anything.
std::vector<RankedText> rank_texts(std::span<const std::span<const std::string_view>> lists,
                                   std::vector<RankedText> texts, const CancelToken& cancel);

/// All texts of the lists, in their order.
std::vector<RankedText> all_texts(std::span<const std::span<const std::string_view>> lists);

/// Sorts up to 2^31 - 1 texts, all of them different. Returns the new place of each, or nothing where none moves.
std::vector<std::int32_t> sort_texts(std::vector<std::string>& texts, const CancelToken& cancel);

}  // namespace stope
