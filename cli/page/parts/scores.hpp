// Scores of a classification besides its accuracy, in one sentence.
#pragma once

#include <vector>

#include "page/markup.hpp"
#include "stope/eval.hpp"

namespace stope::cli::page {

/// Writes balanced accuracy, ROC AUC and log loss, as means over the repetitions. Under Confidences::none it says why
/// the last two are left out: affordable_confidences() refused them.
void write_scores(Markup& out, const std::vector<RepeatScores>& repeats, Confidences confidences);

}  // namespace stope::cli::page
