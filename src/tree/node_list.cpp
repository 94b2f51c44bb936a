#include "tree/node_list.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "base/memory.hpp"

namespace stope::tree {

std::int64_t NodeList::add(const GrownNode& node, const std::vector<std::int64_t>& counts) {
  // Nodes and counts are copied as the list grows, held by the level that is split, copied to preorder and to the tree.
  constexpr std::int64_t kCopies = 4;
  const std::int64_t n = std::ssize(nodes_) + 1;
  const std::int64_t each = checked::add(checked::mul(n_classes_, sizeof(std::int64_t)), sizeof(GrownNode));
  const std::int64_t bytes = checked::mul(checked::mul(n, each), kCopies);
  if (bytes > budget_) {
    throw Error(ErrorCode::out_of_memory, "a tree of " + std::to_string(n) + " nodes or more and " +
                                              std::to_string(n_classes_) + " classes needs more than " +
                                              std::to_string(bytes) + " bytes, but the memory limit leaves " +
                                              std::to_string(budget_));
  }
  nodes_.push_back(node);
  counts_.insert(counts_.end(), counts.begin(), counts.end());
  return static_cast<std::int64_t>(nodes_.size()) - 1;
}

bool NodeList::pure(std::int64_t i) const {
  return std::count_if(counts(i), counts(i) + n_classes_, [](std::int64_t n) { return n > 0; }) < 2;
}

bool NodeList::may_split(std::int64_t i, const GrowOptions& options) const {
  const GrownNode& here = node(i);
  const bool deep = options.max_depth && here.depth >= *options.max_depth;
  return !deep && here.n_rows / 2 >= options.min_samples_leaf && !pure(i);
}

std::pair<std::int64_t, std::int64_t> NodeList::split(std::int64_t i, std::int64_t n_right,
                                                      const std::vector<std::int64_t>& right_counts) {
  std::vector<std::int64_t> left_counts(counts(i), counts(i) + n_classes_);
  for (std::size_t k = 0; k < left_counts.size(); ++k) left_counts[k] -= right_counts[k];
  GrownNode child{.parent = i, .depth = node(i).depth + 1};
  child.n_rows = node(i).n_rows - n_right;
  const std::int64_t left = add(child, left_counts);
  child.n_rows = n_right;
  const std::int64_t right = add(child, right_counts);
  node(i).left = left;
  node(i).right = right;
  return {left, right};
}

Grown NodeList::preorder() const {
  Grown grown;
  grown.nodes.reserve(nodes_.size());
  grown.counts.reserve(counts_.size());
  std::vector<std::pair<std::int64_t, std::int64_t>> open = {{0, -1}};  // a node here, and its parent in the result
  while (!open.empty()) {
    const auto [from, parent] = open.back();
    open.pop_back();
    const auto id = static_cast<std::int64_t>(grown.nodes.size());
    GrownNode copy = node(from);
    copy.parent = parent;
    copy.left = copy.right = -1;
    if (parent >= 0) {
      GrownNode& above = grown.nodes[static_cast<std::size_t>(parent)];
      (above.left < 0 ? above.left : above.right) = id;  // left comes first
    }
    grown.nodes.push_back(copy);
    grown.counts.insert(grown.counts.end(), counts(from), counts(from) + n_classes_);
    if (node(from).left < 0) continue;
    open.emplace_back(node(from).right, id);
    open.emplace_back(node(from).left, id);
  }
  return grown;
}

}  // namespace stope::tree
