// Growing: a decision problem in, nodes out. Whoever implements it (the processor, a GPU) gives the same bits.
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
  std::int64_t min_samples_leaf = 1;           ///< rows of a child, whatever they weigh
  double min_score = 0.0;
};

/// Right: value >= cut, or code == value. A leaf has attribute -1.
struct GrownNode {
  std::int64_t parent = -1, left = -1, right = -1;
  std::int64_t depth = 0;
  std::int64_t n_rows = 0;
  std::int32_t attribute = -1;
  std::int32_t value = 0;
  double cut = 0.0;
  discretize::Int128 w = 0;  ///< Criterion::discernibility: pairs, or with weights units of 2^-40
  double score = 0.0;        ///< the others: their gain
};

/// In preorder, left children first.
struct Grown {
  std::vector<GrownNode> nodes;
  std::vector<std::int64_t> counts;  ///< nodes x classes: rows, or weights in kWeightUnit
  TreeReport report = {};            ///< but its seconds
};

/// A node is split by the split of the highest score, of equal ones that of the lowest attribute, then of the lowest
/// cut or code. It is a leaf where it is pure, at max_depth, or where no split that leaves min_samples_leaf rows on
/// both sides has a score above 0 and of at least min_score.
Grown grow_cpu(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run);

/// On whatever `run.device` asks for. Throws device_unavailable where a GPU was demanded and cannot be had.
Grown grow(const discretize::DecisionProblem& problem, const GrowOptions& options, const RunOptions& run);

}  // namespace stope::tree
