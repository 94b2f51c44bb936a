// The jobs "evaluate" and "confusion": any model scored on one table.
#pragma once

#include "stope/jobs.hpp"

namespace stope::jobs {

/// One row per model: k-NN has one per k, measure and normalisation, with "metric" and "normalize" where several are
/// compared, and "k"; trees have "mean_leaves". Then the scores: "accuracy", "kappa", "macro_f1", "balanced_accuracy",
/// "roc_auc", "log_loss", or "rmse", "mae", "r2"; under repetitions their means, followed by their deviations, as
/// "accuracy_std". Scores of confidences are missing where these have no room in memory.
Table evaluation(const Table& table, const NamedOptions& options, const RunOptions& run);

/// The cells of the confusion matrix that are not 0, in the rows' order above: "k" (k-NN), "truth", "prediction"
/// (missing where none was made), "count". All repetitions together.
Table confusion(const Table& table, const NamedOptions& options, const RunOptions& run);

}  // namespace stope::jobs
