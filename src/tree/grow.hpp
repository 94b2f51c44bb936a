// Growing: turns a decision problem into nodes. Every implementation (CPU or GPU) gives the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "discretize/problem.hpp"
#include "discretize/score.hpp"
#include "stope/discretize.hpp"
#include "stope/run.hpp"
#include "stope/tree.hpp"

namespace stope::tree {

struct GrowOptions {
  Criterion criterion = Criterion::discernibility;
  std::optional<std::int64_t> max_depth = {};  ///< the root has depth 0
  std::int64_t min_samples_leaf = 1;           ///< rows of a child, whatever their weight
  double min_score = 0.0;
};

/// Rows with value >= cut, or code == value, go right. A leaf has attribute -1.
struct GrownNode {
  std::int64_t parent = -1, left = -1, right = -1;
  std::int64_t depth = 0;
  std::int64_t n_rows = 0;
  std::int32_t attribute = -1;
  std::int32_t value = 0;
  double cut = 0.0;
  discretize::Int128 w = 0;  ///< Criterion::discernibility: pairs, or with weights units of 2^-40
  double score = 0.0;        ///< the other criteria: their gain
};

/// In preorder, left children first.
struct Grown {
  std::vector<GrownNode> nodes;
  std::vector<std::int64_t> counts;  ///< nodes x classes: rows, or weights in kWeightUnit
  TreeReport report = {};            ///< all but its seconds
};

/// Splits each node by the split of the highest score; if equal, by that of the lowest attribute, then of the lowest
/// cut or code. A node is a leaf if it is pure or at max_depth. It is also a leaf if no split that leaves
/// min_samples_leaf rows on both sides has a score above 0 and of at least min_score.
Grown grow_cpu(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run);

/// Grows on the device that `run.device` asks for. Throws device_unavailable where a GPU was demanded and there is
/// none.
Grown grow(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run);

}  // namespace stope::tree
