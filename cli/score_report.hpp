// Scores for people (aligned tables) and for scripts (JSON).
#pragma once

#include <string>

#include "json.hpp"
#include "stope/eval.hpp"

namespace stope::cli {

/// Accuracy, kappa, macro F1, the confusion matrix and a table of classes.
std::string score_text(const ClassificationScores& scores);
std::string score_text(const RegressionScores& scores);

Json score_json(const ClassificationScores& scores);
Json score_json(const RegressionScores& scores);

}  // namespace stope::cli
