// The options that the library's advice amounts to, one table (cli/report/hints.hpp). The library says what is wrong
// and names the option of its API (Error::option); the words of the command line are here alone.
#include "report/hints.hpp"

#include <algorithm>

#include "stope/warning.hpp"

namespace stope::cli {
namespace {

struct ErrorHint {
  ErrorCode code;
  std::string_view option;    // as in Error::option
  std::string_view commands;  // between blanks; empty = every command
  std::string_view text;      // {} is the column
};

constexpr auto kArgument = ErrorCode::invalid_argument;
constexpr auto kData = ErrorCode::invalid_data;
constexpr auto kUnsupported = ErrorCode::unsupported;

constexpr ErrorHint kErrors[] = {
    {kData, "missing", " pca lsq ", "--ignore {}, or --impute mean"},
    {kData, "missing", " tree discretize evaluate ", "--missing-policy value, drop or fill says what it means"},
    {kData, "missing", " predict ", "--missing-policy of stope tree says what it means"},
    {kUnsupported, "nominal", " pca lsq ", "--ignore {}, or --numeric-only"},
    {kUnsupported, "nominal", " classify evaluate ", "--nominal {}"},
    {kUnsupported, "lsq_nominal", " evaluate ", "--ignore {}, or --numeric-only"},
    {kData, "lsq_missing", " evaluate ", "--ignore {}, or --missing-policy fill"},
    {kArgument, "numeric", " evaluate ", "--numeric {}, or --model tree"},
    {kUnsupported, "numeric", " regress ", "--numeric {}, or stope classify"},
    {kUnsupported, "ignore", " gen ", "--no-label"},
    {kUnsupported, "ignore", "", "--ignore {}"},
    {kUnsupported, "metric", "", "--ignore {}, or another measure: stope help metrics"},
    {kArgument, "nominal", " tree discretize ", "--nominal {}, or cut its numbers beforehand"},
    {kData, "header", "",
     "--header no if the first record holds no names, else --header yes --names A,B,... renames all"},
    {kData, "names", "", "--names A,B,... renames all columns"},
    {kUnsupported, "names", "", "--header yes --names A,B,... with a name for every column"},
    {kData, "test_names", " predict ", "--names A,B,... if it has no header"},
    {kData, "test_names", "", "--test-names A,B,... if it has no header"},
    {kData, "encoding", "", "--encoding utf-16"},
    {kData, "skip_lines", "", "--skip-lines N leaves out the lines above the table"},
    {kData, "sheet", "", "--sheet names it, also by number"},
    {kData, "allow_ragged", "", "--allow-ragged fills short records and cuts long ones"},
    {kArgument, "names", "", "--names names all columns"},
    {kArgument, "n_folds", " evaluate tree ", "--cv with another number, or --loo"},
    {kUnsupported, "numeric", " lsq ", "--numeric {}"},
    {kArgument, "target", "", "--target names it, or its role in --schema"},
};

struct OptionName {
  std::string_view option;    // as in Error::option
  std::string_view commands;  // between blanks
  std::string_view ours;
};

// --missing lists spellings. What happens to a missing value has another name here.
constexpr OptionName kOptionNames[] = {
    {"missing", " pca lsq ", "impute"},
    {"missing", " tree discretize evaluate ", "missing_policy"},
};

struct WarningHint {
  std::string_view code;
  std::string_view text;
};

constexpr WarningHint kWarnings[] = {
    {warning::kRangesApart, "--normalize z or range evens them out; or use --feature-weights"},
    {warning::kHeaderGuessed, "--header yes or no decides"},
    {warning::kKeptAsSpelled, "--nominal or --numeric with the column decides"},
    {warning::kDigitsLost, "--nominal with the column keeps them as spelled"},
    {warning::kOneColumn, "--sep ' ' splits lines at blanks; --sep , says that it is meant so"},
    {warning::kNearlyNumeric,
     "--missing lists spellings of a missing value, --decimal the decimal mark; --nominal with the column keeps the "
     "text"},
    {warning::kTitle, "--skip-lines N leaves out the lines above the table; --header yes says that it is meant so"},
    {warning::kNoValues, "--ignore with the column leaves it out"},
    {warning::kThousandsMarks, "--thousands with the mark reads them; --nominal with the column keeps the text"},
    {warning::kUnreadSigns, "numbers have no such signs, and dates are written 2024-12-31; --nominal keeps the text"},
    {warning::kDecimalCommas, "--decimal decides"},
    {warning::kOffsetsDropped, "--nominal with the column keeps them as spelled"},
    {warning::kManyClasses, "stope regress"},
    {warning::kRowKeys, "--ignore with the column leaves it out, --id writes it beside the results"},
};

// As a word of a shell, so that the hint can be copied.
std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.';
  });
  if (plain) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string in_brackets(std::string_view text, const std::string& column) {
  std::string hint = " (" + std::string(text) + ")";
  const std::size_t at = hint.find("{}");
  if (at != std::string::npos) hint.replace(at, 2, shell_word(column));
  return hint;
}

}  // namespace

std::string_view option_name(std::string_view option, std::string_view command) {
  const std::string word = " " + std::string(command) + " ";
  for (const OptionName& name : kOptionNames) {
    if (name.option == option && name.commands.find(word) != std::string_view::npos) return name.ours;
  }
  return option;
}

std::string hint_for(const Error& error, std::string_view command) {
  const std::string word = " " + std::string(command) + " ";
  for (const ErrorHint& hint : kErrors) {
    if (hint.code != error.code() || hint.option != error.option()) continue;
    if (error.feature().empty() && hint.text.find("{}") != std::string_view::npos) continue;
    if (hint.commands.empty() || hint.commands.find(word) != std::string_view::npos) {
      return in_brackets(hint.text, error.feature());
    }
  }
  return "";
}

std::string hint_for(std::string_view warning_code) {
  for (const WarningHint& hint : kWarnings) {
    if (hint.code == warning_code) return in_brackets(hint.text, "");
  }
  return "";
}

}  // namespace stope::cli
