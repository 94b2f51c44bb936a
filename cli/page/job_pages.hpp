// The pages of --report: what one job found, as stope report shows it.
#pragma once

#include <optional>
#include <string>

#include "page/parts/components.hpp"
#include "page/parts/neighbors.hpp"
#include "page/parts/tree.hpp"
#include "stope/run.hpp"
#include "stope/stats.hpp"
#include "stope/table.hpp"

namespace stope::cli::page {

/// What every page of a job says: the table's path, and the command that makes the page again.
struct JobPage {
  std::string path, command;
};

/// `evaluation` and `options` as evaluate() had them for `table`.
std::string evaluation_page(const JobPage& job, const Evaluation& evaluation, const EvaluateOptions& options,
                            const Table& table);
/// Scores of trees and of least squares on rows that took no part in their fits; `scheme` says how these were chosen,
/// and `confidences` whether evaluate_tree() was asked for them.
std::string tree_scores_page(const JobPage& job, const TreeEvaluation& evaluation, Confidences confidences,
                             const Table& table, const std::string& scheme);
std::string lsq_scores_page(const JobPage& job, const LsqEvaluation& evaluation, const Table& table,
                            const std::string& scheme);
/// `scores` are those of a cross-validation, and `scheme` says which; `table` is what the tree was grown on.
std::string tree_page(const JobPage& job, const DecisionTree& tree, const Table& table,
                      const std::optional<TreeEvaluation>& scores, const std::string& scheme);
/// `by` names a nominal column whose classes the histograms show; empty = none.
std::string statistics_page(const JobPage& job, const Table& table, const Statistics& statistics, const std::string& by,
                            const RunOptions& run);
/// `scores` may be null: then there are no points.
std::string components_page(const JobPage& job, const Pca& pca, const Table& table, const Table* scores);

}  // namespace stope::cli::page
