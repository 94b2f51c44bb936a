#include "io/csv/blanks.hpp"

#include <algorithm>

#include "base/memory.hpp"
#include "io/number.hpp"

namespace stope::io::csv {
namespace {

constexpr int kLines = 100;
constexpr std::string_view kBlanks = " \t", kLineEnds = "\n\r";

// Where a field that begins at `i` ends: at a blank or line end, for a quoted one behind its last quote.
std::size_t end_of_field(std::string_view text, std::size_t i) {
  if (text[i] == '"') {
    for (++i; i < text.size(); ++i) {
      if (text[i] != '"') continue;
      if (text.substr(i + 1, 1) != "\"") break;
      ++i;
    }
  }
  return std::min(text.find_first_of(" \t\n\r", i), text.size());
}

// Calls field(begin, end) for every field, and gap(begin, end, inner) for every run of blanks; `inner` ones lie between
// two fields of a line. Calls line() behind every line but comments, until it returns false.
template <class Field, class Gap, class Line>
void scan_lines(std::string_view text, char comment, const Field& field, const Gap& gap, const Line& line) {
  bool first = true;  // no field of this line was met
  for (std::size_t i = 0; i < text.size();) {
    const bool starts_line = i == 0 || kLineEnds.find(text[i - 1]) != std::string_view::npos;
    if (starts_line && comment != '\0' && text[i] == comment) {
      i = std::min(text.find_first_of(kLineEnds, i), text.size());
    } else if (kLineEnds.find(text[i]) != std::string_view::npos) {
      ++i;
      if (!first && !line()) return;
      first = true;
    } else if (kBlanks.find(text[i]) != std::string_view::npos) {
      const std::size_t end = std::min(text.find_first_not_of(kBlanks, i), text.size());
      const bool ends_line = end == text.size() || kLineEnds.find(text[end]) != std::string_view::npos;
      gap(i, end, !first && !ends_line);
      i = end;
    } else {
      const std::size_t end = end_of_field(text, i);
      field(i, end);
      first = false;
      i = end;
    }
  }
  if (!first) line();
}

}  // namespace

void join_blanks(Text& text, char comment, std::int64_t budget) {
  const auto size = static_cast<std::int64_t>(text.view.size());
  const bool is_copy = !text.converted.empty();
  if (!is_copy) {
    if (size > budget) refuse_memory("a copy of the text needs", size, budget, {text.name});
    text.converted = Buffer<char>(size);
    std::copy(text.view.begin(), text.view.end(), text.converted.data());
    text.view = {text.converted.data(), text.view.size()};
  }
  char* const bytes = text.converted.data() + (text.view.data() - text.converted.data());
  scan_lines(
      text.view, comment, [](std::size_t, std::size_t) {},
      [&](std::size_t begin, std::size_t end, bool inner) {
        std::fill(bytes + begin, bytes + end, '\t');
        if (inner) bytes[end - 1] = ' ';
      },
      [] { return true; });
}

std::int64_t fields_apart_by_blanks(const Text& text, char comment) {
  std::int64_t n_fields = 0, n_before = 0;
  int n_lines = 0;
  bool agree = true, numbers = false;
  scan_lines(
      text.view, comment,
      [&](std::size_t begin, std::size_t end) {
        double value = 0;
        numbers = numbers || parse_number(text.view.substr(begin, end - begin), value);
        ++n_fields;
      },
      [](std::size_t, std::size_t, bool) {},
      [&] {
        agree = n_lines++ == 0 || n_fields == n_before;
        n_before = n_fields;
        n_fields = 0;
        return agree && n_lines < kLines;
      });
  return agree && numbers && n_lines > 1 && n_before > 1 ? n_before : 0;
}

}  // namespace stope::io::csv
