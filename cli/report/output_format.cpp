#include "report/output_format.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "stope/error.hpp"

namespace stope::cli {
namespace {

using Suffixes = std::span<const std::string_view>;

constexpr std::string_view kText[] = {".txt", ".md"};
constexpr std::string_view kTyped[] = {".arff", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows"};
constexpr std::string_view kScript[] = {".bash", ".zsh", ".fish", ".sh", ".txt"};
constexpr std::string_view kCsv[] = {".csv", ".tsv"};
constexpr std::string_view kNeighbors[] = {".csv", ".tsv", ".json", ".jsonl", ".md", ".npy", ".ivecs"};
constexpr std::string_view kTwoFiles[] = {".raw"};
constexpr std::string_view kPairs[] = {".csv", ".tsv", ".json", ".jsonl", ".md", ".npy"};
constexpr std::string_view kStatistics[] = {".csv", ".tsv", ".json", ".jsonl", ".md", ".txt"};
constexpr std::string_view kColumns[] = {".txt", ".md", ".csv", ".tsv", ".json", ".jsonl"};
constexpr std::string_view kExplanations[] = {".csv", ".tsv", ".json", ".jsonl", ".md", ".txt"};
constexpr std::string_view kTree[] = {".txt", ".json", ".dot", ".svg", ".rules"};
constexpr std::string_view kPage[] = {".html", ".htm"};
constexpr std::string_view kModel[] = {".stope"};
constexpr std::string_view kCuts[] = {".json"};
constexpr std::string_view kGram[] = {".gram"};

// Names of one format only are free, as long as they are not those of another: m.model, stope.bash.
enum class Others { refused, allowed };

struct Output {
  std::string_view command, option;  // an empty command stands for all
  Suffixes suffixes;
  Others others = Others::refused;
  Suffixes no_suffixes = {};  // formats of several files, which only --output-format can name
};

// predict and discretize write tables or records. They look again once they know which.
constexpr Output kOutputs[] = {
    {"classify", "-o", kRecords},
    {"regress", "-o", kRecords},
    {"evaluate", "-o", kRecords},
    {"evaluate", "--predictions-out", kRecords},
    {"lsq", "-o", kRecords},
    {"knn", "-o", kNeighbors, Others::refused, kTwoFiles},
    {"pairwise", "-o", kPairs},
    {"stats", "-o", kStatistics},
    {"tree", "-o", kTree},
    {"convert", "-o", kTables},
    {"convert", "OUT", kTables},
    {"split", "-o", kTables},
    {"split", "--test-out", kTables},
    {"normalize", "-o", kTables},
    {"impute", "-o", kTables},
    {"impute", "--filled-out", kRecords},
    {"pca", "-o", kTables},
    {"pca", "--components-out", kCsv},
    {"predict", "-o", kTables},
    {"", "--explain-out", kExplanations},
    {"discretize", "-o", kTables},
    {"gen table", "-o", kTables},
    {"ata", "-o", kGram, Others::allowed},
    {"gen gram", "-o", kGram, Others::allowed},
    {"info", "-o", kColumns},
    {"chain", "-o", kModel, Others::allowed},
    {"report", "-o", kPage},
    {"", "--report", kPage},
    {"check", "-o", kText},
    {"device", "-o", kText},
    {"completion", "-o", kScript},
    {"stats", "--correlation", kStatistics},
    {"", "--model-out", kModel, Others::allowed},
    {"", "--cuts-out", kCuts, Others::allowed},
};

bool contains(Suffixes suffixes, std::string_view suffix) {
  return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

bool is_known(std::string_view suffix) {
  return contains(kTables, suffix) || std::any_of(std::begin(kOutputs), std::end(kOutputs), [&](const Output& output) {
           return contains(output.suffixes, suffix);
         });
}

std::string possible(Suffixes suffixes, std::size_t skipped) {
  std::string text = suffixes.size() == 1 ? "possible is " : "possible are ";
  for (std::size_t i = 0; i < suffixes.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < suffixes.size() ? ", " : " and ") + std::string(suffixes[i].substr(skipped));
  }
  return text;
}

[[noreturn]] void refuse(const std::string& option, const std::string& path, const std::string& suffix,
                         Suffixes suffixes) {
  const bool convertible = contains(suffixes, ".csv") && contains(kTyped, suffix);
  throw Error(ErrorCode::invalid_argument,
              option + ": '" + path + "': this output is no " + suffix + " file; " + possible(suffixes, 0) +
                  (suffixes.size() == 1 ? ", also with .gz or .zst" : ", each also with .gz or .zst") +
                  (convertible ? "; 'stope convert' makes " + suffix + " of .csv" : ""),
              {.option = option});
}

}  // namespace

bool is_stdout(const std::string& path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

bool is_stream(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return path == "-" || path.starts_with("/dev/fd/") || path.starts_with("/dev/std") ||
         path.starts_with("/proc/self/fd/") ||
         (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
}

std::string suffix_of(const std::string& path) {
  if (is_stream(path)) return {};
  std::string name = std::filesystem::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::filesystem::path plain(name);
  if (plain.extension() == ".gz" || plain.extension() == ".zst") plain = plain.stem();
  return plain.extension().string();
}

void require_suffix(const std::string& option, const std::string& path, Suffixes suffixes) {
  const std::string suffix = suffix_of(path);
  if (!suffix.empty() && !contains(suffixes, suffix)) refuse(option, path, suffix, suffixes);
}

std::vector<std::string> formats_of(std::string_view command) {
  std::vector<std::string> words;
  for (const Output& output : kOutputs) {
    if (output.option != "-o" || output.command != command) continue;
    for (const std::string_view suffix : output.suffixes) words.emplace_back(suffix.substr(1));
    for (const std::string_view suffix : output.no_suffixes) words.emplace_back(suffix.substr(1));
  }
  return words;
}

std::string format_word(const std::string& format, const std::string& path) {
  if (!format.empty()) return format;
  const std::string suffix = suffix_of(path);
  return suffix.empty() ? suffix : suffix.substr(1);
}

void require_format(const std::string& option, const std::string& format, Suffixes suffixes) {
  if (contains(suffixes, "." + format)) return;
  throw Error(ErrorCode::invalid_argument, option + ": this output is not " + format + "; " + possible(suffixes, 1),
              {.option = option});
}

void check_suffix(const std::string& command, const std::string& option, const std::string& path) {
  const std::string suffix = suffix_of(path);
  for (const Output& output : kOutputs) {
    if (output.option != option || (!output.command.empty() && output.command != command)) continue;
    if (output.others == Others::allowed && !is_known(suffix)) return;
    require_suffix(option, path, output.suffixes);
  }
}

}  // namespace stope::cli
