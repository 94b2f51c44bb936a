#include "page/parts/scores.hpp"

#include <string>

#include "page/words.hpp"

namespace stope::cli::page {

void write_scores(Markup& out, const std::vector<RepeatScores>& repeats, Confidences confidences) {
  const auto mean = [&](double RepeatScores::* score) { return spread(repeats, score).mean; };
  std::string text = "Balanced accuracy " + percent(mean(&RepeatScores::balanced_accuracy));
  if (confidences == Confidences::all) {
    text += ", ROC AUC " + number(mean(&RepeatScores::roc_auc)) + ", log loss " + number(mean(&RepeatScores::log_loss));
  }
  if (repeats.size() > 1) text += " (means of " + grouped(std::ssize(repeats)) + " repetitions)";
  text += '.';
  if (confidences == Confidences::none) {
    text += " ROC AUC and log loss are left out: their confidences would take more than 1 GiB.";
  }
  out.element("p", text);
}

}  // namespace stope::cli::page
