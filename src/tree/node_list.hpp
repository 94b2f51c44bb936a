// Nodes in the order in which they are made, with their class counts. preorder() returns them in preorder.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tree/grow.hpp"

namespace stope::tree {

class NodeList {
 public:
  NodeList(std::int64_t n_classes, const RunOptions& run) : n_classes_(n_classes), budget_(memory_budget(run)) {}

  /// Throws out_of_memory if all nodes and their counts exceed the run's memory limit.
  std::int64_t add(const GrownNode& node, const std::vector<std::int64_t>& counts);
  GrownNode& node(std::int64_t i) { return nodes_[static_cast<std::size_t>(i)]; }
  const GrownNode& node(std::int64_t i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const std::int64_t* counts(std::int64_t i) const { return counts_.data() + i * n_classes_; }
  bool pure(std::int64_t i) const;
  /// Whether the node's depth, rows and classes leave anything to split.
  bool may_split(std::int64_t i, const GrowOptions& options) const;
  /// Adds two children to a node, and returns left and right.
  std::pair<std::int64_t, std::int64_t> split(std::int64_t i, std::int64_t n_right,
                                              const std::vector<std::int64_t>& right_counts);
  Grown preorder() const;

 private:
  std::int64_t n_classes_;
  std::int64_t budget_;
  std::vector<GrownNode> nodes_;
  std::vector<std::int64_t> counts_;  // nodes x classes
};

}  // namespace stope::tree
