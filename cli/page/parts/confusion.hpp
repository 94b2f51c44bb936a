// Which classes are taken for which: the confusion matrix and the scores of every class.
#pragma once

#include <string>

#include "page/markup.hpp"
#include "stope/eval.hpp"

namespace stope::cli::page {

/// `id` is unique on the page; `what` says whose predictions these are.
void write_confusion(Markup& out, const ClassificationScores& scores, const std::string& id, const std::string& what);

/// The most frequent mistake: "1,234 rows of >50K are taken for <=50K, 36.4 % of them". Empty where there is none.
std::string worst_confusion(const ClassificationScores& scores);

}  // namespace stope::cli::page
