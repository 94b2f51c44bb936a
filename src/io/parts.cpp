#include "io/parts.hpp"

#include <glob.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "io/foreign_format.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The digits at the beginning of `text`, without leading zeros; they are taken off.
std::string_view take_number(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

std::string name_of(const std::string& path) {
  return fs::path(path).filename().string();
}

// Marks, checksums and locks of other programs: _SUCCESS, .part-0.csv.crc, Excel's ~$book.xlsx.
bool is_mark(const std::string& name) {
  return name.starts_with('_') || name.starts_with('.') || name.starts_with("~$");
}

std::vector<std::string> files_of_folder(const std::string& path) {
  std::vector<std::string> files;
  std::error_code failed;
  fs::directory_iterator entry(path, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    const std::string name = name_of(entry->path().string());
    if (is_mark(name)) continue;
    std::error_code ignored;  // of a link to nowhere; opening it says more
    if (entry->is_directory(ignored)) {
      throw Error(ErrorCode::unsupported,
                  "has a folder '" + name + "' within it: name the files by a pattern such as '" +
                      (fs::path(path) / "*" / "*.csv").string() + "'",
                  {path});
    }
    files.push_back(entry->path().string());
  }
  if (failed) throw Error(ErrorCode::io, "cannot read the folder: " + failed.message(), {path});
  if (files.empty()) throw Error(ErrorCode::io, "is a folder without files of a table", {path});
  return files;
}

constexpr std::int64_t kMostPatterns = 10'000;  // milliseconds, unless folders are large

// How many patterns the braces of one stand for; more than kMostPatterns are not counted.
std::int64_t n_patterns(std::string_view pattern) {
  struct Level {
    std::int64_t before = 0, product = 1;  // of the alternatives that are over, and of the one under way
  };
  const auto capped = [](std::int64_t n) { return std::min(n, kMostPatterns + 1); };
  std::vector<Level> levels(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\')
      ++i;
    else if (pattern[i] == '{')
      levels.emplace_back();
    else if (levels.size() > 1 && pattern[i] == ',')
      levels.back() = {capped(levels.back().before + levels.back().product)};
    else if (levels.size() > 1 && pattern[i] == '}') {
      const std::int64_t here = capped(levels.back().before + levels.back().product);
      levels.pop_back();
      levels.back().product = capped(levels.back().product * here);
    }
  }
  return levels.front().product;
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  // glob() cannot be cancelled, and its time doubles with every pair of braces.
  if (n_patterns(pattern) > kMostPatterns) {
    throw Error(ErrorCode::unsupported, "its braces stand for more than " + std::to_string(kMostPatterns) + " names",
                {pattern});
  }
  glob_t found{};
  const std::unique_ptr<glob_t, decltype(&::globfree)> owner(&found, &::globfree);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): without ~ it reads no environment
  const int status = ::glob(pattern.c_str(), GLOB_BRACE | GLOB_NOSORT, nullptr, &found);
  if (status != 0 && status != GLOB_NOMATCH) throw Error(ErrorCode::io, "cannot look for its files", {pattern});
  std::vector<std::string> files;
  const std::string wanted = name_of(pattern);
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    std::string file = found.gl_pathv[i];
    std::error_code ignored;
    const std::string name = name_of(file);
    const bool is_left_out = is_mark(name) && !wanted.starts_with(name.front());
    if (!is_left_out && !fs::is_directory(file, ignored)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

bool naturally_before(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view first = take_number(a), second = take_number(b);
      if (first.size() != second.size()) return first.size() < second.size();
      if (first != second) return first < second;
      continue;
    }
    if (a.front() != b.front()) {
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    }
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // 007 and 7 differ in their zeros alone
}

std::vector<std::string> parts_of(const std::string& path) {
  if (path == "-") return {};
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  std::vector<std::string> files;
  if (fs::is_directory(status)) {
    files = files_of_folder(path);
  } else {
    if (fs::exists(status) || path.find_first_of("*?[{") == std::string::npos) return {};
    files = files_of_pattern(path);
    if (files.empty() && is_url(path)) return {};
    if (files.empty()) throw Error(ErrorCode::io, "no file has a name like this", {path});
  }
  std::sort(files.begin(), files.end(), naturally_before);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace stope::io
