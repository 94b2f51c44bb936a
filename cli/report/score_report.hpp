// Scores for people (aligned tables) and for scripts (JSON).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/json.hpp"
#include "report/session.hpp"
#include "stope/eval.hpp"

namespace stope::cli {

/// Accuracy, kappa, macro F1, the confusion matrix and a table of classes.
std::string score_text(const ClassificationScores& scores);
std::string score_text(const RegressionScores& scores);

/// Scores against the label of a test table, whose values are matched by name. A value that the training table does not
/// know becomes one more class, which no prediction can hit: such a row counts as wrong.
ClassificationScores score_against(const Column& label, std::vector<std::string> classes,
                                   const std::vector<std::int32_t>& predicted);
RegressionScores score_against(const Column& label, const std::vector<double>& predicted);

Json score_json(const ClassificationScores& scores);
Json score_json(const RegressionScores& scores);

/// Reports the scores: for people on stderr, and in the JSON.
template <class Scores>
void report_scores(Session& session, const Scores& scores) {
  session.json()["scores"] = score_json(scores);
  session.say(scores.n_rows > 0 ? score_text(scores) : "no row of the table has a label: no scores\n");
}

/// Scores against the label of a test table. Warns of rows whose label the training table does not know.
void report_scores(Session& session, const Column& label, const std::vector<std::string>& classes,
                   const std::vector<std::int32_t>& predicted);

}  // namespace stope::cli
