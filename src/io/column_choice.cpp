#include "io/column_choice.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/counted.hpp"
#include "io/roles.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

enum class By { name, pattern };

struct Found {
  std::vector<std::int64_t> columns;
  By by = By::name;
};

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

std::size_t next_character(std::string_view text, std::size_t at) {
  do ++at;
  while (at < text.size() && (text[at] & 0xC0) == 0x80);
  return at;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

struct Range {
  std::int64_t first, last;
};

std::optional<Range> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == 0 || dash == std::string_view::npos) return std::nullopt;
  const auto first = number_of(text.substr(0, dash)), last = number_of(text.substr(dash + 1));
  if (!first.has_value() || !last.has_value()) return std::nullopt;
  return Range{*first, *last};
}

// The nearest beginning (or end) of a name, as a pattern of the same kind.
std::string nearest_pattern(const std::string& pattern, const std::vector<std::string>& names) {
  const bool at_end = pattern.front() == '*';
  const std::size_t length = std::max<std::size_t>(pattern.size(), 2) - 1;
  std::vector<std::string> candidates;
  candidates.reserve(3 * names.size());
  for (const std::string& name : names) {
    for (const std::size_t n : {length + 1, length, length - 1}) {
      if (n > name.size() || n == 0) continue;
      candidates.push_back(at_end ? "*" + name.substr(name.size() - n) : name.substr(0, n) + "*");
    }
  }
  return did_you_mean(pattern, candidates);
}

[[noreturn]] void refuse(const ColumnNames& names, const std::string& text, std::string_view option,
                         const std::string& why) {
  throw Error(ErrorCode::invalid_data, why, {.file = names.source(), .option = std::string(option), .feature = text});
}

Found find_pattern(const ColumnNames& names, const std::string& pattern, std::string_view option) {
  Found found{{}, By::pattern};
  for (std::size_t i = 0; i < names.names().size(); ++i) {
    if (matches_pattern(pattern, names.names()[i])) found.columns.push_back(static_cast<std::int64_t>(i));
  }
  if (found.columns.empty() && names.unknown() == UnknownColumns::error) {
    refuse(names, pattern, option,
           "no column has a name like '" + pattern + "' (" + std::string(option) + ") among its " +
               counted(std::ssize(names.names()), "column") + nearest_pattern(pattern, names.names()));
  }
  return found;
}

// Numbers count in the first table alone, as they do elsewhere.
Found find_range(const ColumnNames& names, const std::string& text, Range range, std::string_view option) {
  Found found{{}, By::pattern};
  if (names.unknown() == UnknownColumns::skip) return found;
  const std::int64_t n = std::ssize(names.names());
  if (range.first < 1 || range.last > n || range.first > range.last) {
    refuse(names, text, option,
           "no columns " + text + " (" + std::string(option) + "): they are numbered from 1 to " + std::to_string(n));
  }
  for (std::int64_t i = range.first; i <= range.last; ++i) found.columns.push_back(i - 1);
  return found;
}

Found find_all(const ColumnNames& names, const std::string& text, std::string_view option) {
  if (!names.has(text)) {
    if (is_pattern(text)) return find_pattern(names, text, option);
    if (const std::optional<Range> range = range_of(text)) return find_range(names, text, *range, option);
  }
  Found found;
  const std::int64_t index = names.find(text, option);
  if (index >= 0) found.columns.push_back(index);
  return found;
}

// The columns of lists that contradict each other: each column is in one list at most.
class Lists {
 public:
  explicit Lists(const ColumnNames& names) : names_(names) {}

  /// Names that an entry of a list names itself, and columns with a role, have to be taken before all patterns.
  void take_names(const std::vector<std::string>& texts, std::string_view option, std::vector<std::int64_t>& columns) {
    for (const std::string& text : texts) {
      if (const std::int64_t column = names_.index_of(text); column >= 0) {
        if (take(column, text, option)) columns.push_back(column);
        continue;
      }
      const std::string_view said = option == "nominal" && text == id_ ? "id" : option;
      const Found found = find_all(names_, text, said);
      if (found.by == By::pattern) continue;
      for (const std::int64_t column : found.columns) {
        if (take(column, text, option)) columns.push_back(column);
      }
    }
  }

  void take_patterns(const std::vector<std::string>& texts, std::string_view option,
                     std::vector<std::int64_t>& columns) {
    for (const std::string& text : texts) {
      if (names_.has(text)) continue;
      const Found found = find_all(names_, text, option);
      if (found.by == By::name) continue;
      for (const std::int64_t column : found.columns) {
        if (by_pattern_.empty()) by_pattern_.resize(names_.names().size());
        if (has(column) && !by_pattern_[static_cast<std::size_t>(column)]) continue;
        by_pattern_[static_cast<std::size_t>(column)] = true;
        if (take(column, text, option)) columns.push_back(column);
      }
    }
  }

  void take_role(const std::string& text, std::string_view option) {
    const std::int64_t column = text.empty() ? -1 : names_.find(text, option);
    if (column >= 0) take(column, text, option);
  }

  bool has(std::int64_t column) const {
    return !options_.empty() && !options_[static_cast<std::size_t>(column)].empty();
  }
  void set_id(const std::string& id) { id_ = id; }

 private:
  // False if the column is in the list already.
  bool take(std::int64_t column, const std::string& text, std::string_view option) {
    if (options_.empty()) options_.resize(names_.names().size());
    std::string_view& taken = options_[static_cast<std::size_t>(column)];
    const bool is_new = taken.empty();
    if (is_new) taken = option;
    if (taken == option) return is_new;
    throw Error(ErrorCode::invalid_argument,
                "column '" + text + "' is named by both " + std::string(taken) + " and " + std::string(option),
                {.option = std::string(option), .feature = text});
  }

  const ColumnNames& names_;
  std::string id_;
  std::vector<std::string_view> options_;  // by column, empty where none has it; no entries before the first
  std::vector<bool> by_pattern_;           // likewise
};

// Columns that are to be ignored: `ignore`, and what `select` leaves out.
std::vector<std::int64_t> choose_ignored(const ColumnNames& names, const ReadOptions& options) {
  std::vector<std::int64_t> columns;
  Lists roles(names);
  roles.take_role(options.target, "target");
  roles.take_role(options.id, "id");
  roles.take_role(options.sample_weight, "sample_weight");
  roles.take_names(options.ignore, "ignore", columns);
  roles.take_patterns(options.ignore, "ignore", columns);
  if (options.select.empty()) return columns;
  std::vector<bool> selected(names.names().size());
  for (const std::string& text : options.select) {
    for (const std::int64_t column : find_all(names, text, "select").columns) {
      selected[static_cast<std::size_t>(column)] = true;
    }
  }
  for (std::int64_t i = 0; i < std::ssize(names.names()); ++i) {
    if (!selected[static_cast<std::size_t>(i)] && !roles.has(i)) columns.push_back(i);
  }
  return columns;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // Goes back to the last star alone: an earlier one could only take less, which helps nothing.
  std::size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      n = next_character(name, n);
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = from = next_character(name, from);
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

ColumnChoice choose_columns(const ColumnNames& names, const ReadOptions& options) {
  ColumnChoice choice;
  choice.ignore = choose_ignored(names, options);
  Lists types(names);
  types.set_id(options.id);
  types.take_names(options.nominal, "nominal", choice.nominal);
  types.take_names(options.numeric, "numeric", choice.numeric);
  types.take_names(options.date, "date", choice.date);
  types.take_patterns(options.nominal, "nominal", choice.nominal);
  types.take_patterns(options.numeric, "numeric", choice.numeric);
  types.take_patterns(options.date, "date", choice.date);
  return choice;
}

}  // namespace stope::io
