// Scores for people (aligned tables) and for scripts (JSON).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "report/json.hpp"
#include "report/session.hpp"
#include "stope/eval.hpp"

namespace stope::cli {

/// Accuracy, kappa, macro F1, the confusion matrix and a table of classes.
std::string score_text(const ClassificationScores& scores);
std::string score_text(const RegressionScores& scores);

/// What "scores" holds in the JSON: the confusion matrix up to kMostMatrix classes, beyond that the list of its cells
/// that are not 0. Long arrays are made when they are printed, from `scores`.
Json score_json(Session& session, const std::shared_ptr<const ClassificationScores>& scores);
Json score_json(Session& session, const std::shared_ptr<const RegressionScores>& scores);

/// Reports the scores: for people on stderr, and in the JSON.
template <class Scores>
void report_scores(Session& session, Scores scores) {
  const auto kept = std::make_shared<const Scores>(std::move(scores));
  session.json()["scores"] = score_json(session, kept);
  session.say(kept->n_rows > 0 ? score_text(*kept) : "no row of the table has a label: no scores\n");
}

}  // namespace stope::cli
