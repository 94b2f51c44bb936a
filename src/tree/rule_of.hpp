// The rule of one leaf. A tree as deep as it has leaves has rules of that length: whoever needs few asks for few.
#pragma once

#include <cstdint>

#include "stope/tree.hpp"

namespace stope::tree {

/// The conditions on the way to a leaf, merged by attribute. Takes time for the depth of the leaf.
Rule rule_of(const DecisionTree& tree, std::int64_t leaf);

}  // namespace stope::tree
