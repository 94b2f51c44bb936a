// scikit-learn's, pandas', xsv's and RapidMiner's words for options and values (cli/arguments/foreign_words.hpp).
#include "arguments/foreign_words.hpp"

#include <algorithm>
#include <array>

namespace stope::cli {
namespace {

struct Word {
  std::string_view foreign, ours;
};

constexpr std::array kOptions = {
    Word{"-t", "--target"},
    Word{"-y", "--target"},
    Word{"--class", "--target"},
    Word{"--label-column", "--target"},
    Word{"-d", "--sep"},
    Word{"-s", "--sep"},
    Word{"-F", "--sep"},
    Word{"--separator", "--sep"},
    Word{"-p", "--metric-param p=3"},
    Word{"--p", "--metric-param p=3"},
    Word{"-m", "--metric"},
    Word{"--distance", "--metric"},
    Word{"-n", "-k"},
    Word{"--k", "-k"},
    Word{"--neighbors", "-k"},
    Word{"--neighbours", "-k"},
    Word{"-v", "--explain"},
    Word{"--verbose", "--explain"},
    Word{"--silent", "--quiet"},
    Word{"--standardize", "--normalize z"},
    Word{"--scale", "--normalize z"},
    Word{"--workers", "--threads"},
    Word{"--jobs", "--threads"},
    Word{"--cores", "--threads"},
    Word{"--folds", "--cv"},
    Word{"--leave-one-out", "--loo"},
    Word{"--test-size", "--holdout"},
    Word{"--exclude", "--ignore"},
    Word{"--columns", "--select"},
    Word{"--usecols", "--select"},
    Word{"--keep", "--select"},
    Word{"--sheet-name", "--sheet"},
    Word{"--worksheet", "--sheet"},
    Word{"--fill", "--allow-ragged"},
    Word{"--ragged", "--allow-ragged"},
    Word{"--ignore-errors", "--allow-ragged"},
    Word{"--big-mark", "--thousands"},
    Word{"--nrows", "--sample"},
    Word{"--drop", "--ignore"},
    Word{"--weight", "--sample-weight"},
    Word{"--na", "--missing"},
    Word{"--na-values", "--missing"},
    Word{"--out", "--output"},
    Word{"--format", "--output-format"},
    Word{"--lambda", "--alpha"},
    Word{"--n-bins", "--bins"},
    Word{"--memory", "--memory-limit"},
    Word{"--missing-policy", "--impute mean"},
    Word{"--impute", "--missing-policy fill"},
    Word{"--method", "--normalize z"},
    Word{"--missing", "--missing-share"},
};

// What is no option of one command, and what does the same there.
struct Advice {
  std::string_view command, word, text;
};

constexpr std::array kAdvice = {
    Advice{"predict", "--metric", "the model holds the measure: classify, regress and knn set it"},
    Advice{"discretize", "--test", "--apply codes another table by the cuts of --cuts-out"},
    Advice{"tree", "", "--test names a table whose classes are predicted"},
    Advice{"stats", "",
           "one table at a time; a pattern in quotes, 'parts/*.csv', or a folder is one table of its files"},
    Advice{"info", "",
           "one table at a time; a pattern in quotes, 'parts/*.csv', or a folder is one table of its files"},
    Advice{"predict", "", "a model and one table"},
};

constexpr std::array kValues = {
    Word{"minmax", "range"},
    Word{"min-max", "range"},
    Word{"zscore", "z"},
    Word{"z-score", "z"},
    Word{"standard", "z"},
    Word{"standardize", "z"},
    Word{"standardise", "z"},
    Word{"iqr", "interquartile"},
    Word{"robust", "interquartile"},
    Word{"width", "equal-width"},
    Word{"quantile", "equal-frequency"},
};

template <class Words>
std::string_view ours(const Words& words, std::string_view foreign) {
  const auto found =
      std::find_if(words.begin(), words.end(), [foreign](const Word& word) { return word.foreign == foreign; });
  return found == words.end() ? std::string_view() : found->ours;
}

}  // namespace

std::string_view option_meant_by(std::string_view option) {
  return ours(kOptions, option);
}

std::string_view advice_on(std::string_view command, std::string_view word) {
  const auto found = std::find_if(kAdvice.begin(), kAdvice.end(), [&](const Advice& advice) {
    return advice.command == command && advice.word == word;
  });
  return found == kAdvice.end() ? std::string_view() : found->text;
}

std::string_view value_meant_by(std::string_view value) {
  return ours(kValues, value);
}

}  // namespace stope::cli
