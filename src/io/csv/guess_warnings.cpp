#include "io/csv/guess_warnings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/counted.hpp"
#include "io/csv/blanks.hpp"
#include "io/csv/head.hpp"
#include "io/csv/near_numbers.hpp"
#include "io/number.hpp"
#include "stope/warning.hpp"

namespace stope::io::csv {
namespace {

constexpr std::size_t kShownCells = 3;
constexpr std::size_t kShownNames = 3;  // besides the first
constexpr std::size_t kShownBytes = 40;
constexpr std::int64_t kTasksPerThread = 16, kMostAtOnce = 4096;  // columns that are looked at in one task
constexpr std::int64_t kShare = 20;  // a column is nearly numeric if at most every 20th cell is something else

// What a value of a nominal column could be in a column of another type.
enum ValueClass : std::uint8_t {
  kNumber,
  kPointNumber,
  kCommaNumber,
  kSpelledNumber,
  kDate,
  kNoValue,
  kWord,
  kClasses
};

constexpr std::size_t kLongestMissing = 7;

// Spellings of "missing" that many programs write, and that a table of names may hold as names.
bool means_missing(std::string_view value) {
  if (value.size() > kLongestMissing) return false;
  constexpr std::array<std::string_view, 16> kSpellings = {"n/a",  "na",      "n.a.",    "null", "none", "nil",
                                                           "-",    "--",      "---",     ".",    "..",   "nan",
                                                           "#n/a", "missing", "unknown", "\\n"};
  std::string lower(value);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(kSpellings.begin(), kSpellings.end(), lower) != kSpellings.end();
}

ValueClass class_of(const std::string& value, const FieldRules& rules) {
  if (value.size() > kLongestMissing && begins_word(value.front())) return kWord;
  double number = 0;
  const bool point = rules.parse(value, rules.dialect.decimal, number);
  const bool comma = rules.commas && rules.parse(value, ',', number);
  if (point || comma) {
    if (loses_digits(value)) return kSpelledNumber;
    return !rules.commas || (point && comma) ? kNumber : point ? kPointNumber : kCommaNumber;
  }
  if (parse_iso_date(value).has_value()) return kDate;
  return means_missing(value) ? kNoValue : kWord;
}

struct NominalCells {
  std::vector<ValueClass> classes;             // by value
  std::array<std::int64_t, kClasses> cells{};  // by class
  std::int64_t present = 0;
};

NominalCells classify(const Column& column, const FieldRules& rules) {
  NominalCells result;
  result.classes.reserve(column.values.size());
  bool any = false;
  for (const std::string& value : column.values) {
    result.classes.push_back(class_of(value, rules));
    any = any || result.classes.back() < kNoValue;
  }
  if (!any) return result;  // words alone, the usual case: no cell needs to be counted
  for (const std::int32_t code : column.codes()) {
    if (code < 0) continue;
    ++result.cells[result.classes[static_cast<std::size_t>(code)]];
    ++result.present;
  }
  return result;
}

// The classes that do not fit what most cells are, where the column would be numeric but for a few cells.
struct Exceptions {
  std::vector<bool> classes = std::vector<bool>(kClasses);
  std::int64_t regular = 0;
  bool dates = false;
};

bool find_exceptions(const NominalCells& column, Exceptions& found) {
  const auto& cells = column.cells;
  const bool commas = cells[kCommaNumber] > cells[kPointNumber];
  const std::int64_t numbers = cells[kNumber] + cells[commas ? kCommaNumber : kPointNumber];
  found.dates = cells[kDate] > numbers;
  found.regular = found.dates ? cells[kDate] : numbers;
  std::fill(found.classes.begin(), found.classes.end(), true);
  if (found.dates) {
    found.classes[kDate] = false;
  } else {
    found.classes[kNumber] = found.classes[commas ? kCommaNumber : kPointNumber] = false;
  }
  const std::int64_t others = column.present - found.regular;
  if (others == 0 || found.regular < 2) return false;
  const bool few = others <= std::max<std::int64_t>(1, column.present / kShare) && found.regular >= 3 * others;
  return few || others == cells[kNoValue];
}

class Warnings {
 public:
  Warnings(const ReadFile& file, const ReadOptions& options, const RunOptions& run)
      : file_(file), options_(options), run_(run) {}

  void tell() {
    if (!file_.plan.header_doubt.empty()) {
      run_.warn(warning::kHeaderGuessed, file_.text.name + ": " + file_.plan.header_doubt);
    }
    if (!file_.plan.title_doubt.empty()) run_.warn(warning::kTitle, file_.text.name + ": " + file_.plan.title_doubt);
    tell_ragged();
    if (file_.plan.columns.size() == 1 && options_.separator == '\0') look_for_blanks();
    look_at_columns();
    for (const Message& message : messages_) {
      if (message.columns.empty()) continue;
      run_.warn(message.code, message.text + others(message));
    }
  }

 private:
  struct Message {
    std::string_view code;
    std::string_view others;  // between the text about the first column and the names of the others
    std::string text = {};    // about the first column
    std::vector<std::size_t> columns = {};
  };
  enum Kinds : std::size_t { kSpelled, kNearly, kUnread, kThousands, kSigns, kCommas, kLost, kOffsets, kNoValues };
  static constexpr std::size_t kKinds = 9;
  static constexpr unsigned bit(Kinds kind) { return 1U << kind; }

  // Value lists that wide tables share, and what follows from the values of the last one alone.
  struct LastList {
    Values values = {};
    unsigned kinds = 0;
  };

  // Which of the messages about numbers that no reading takes; each has an option of its own that helps.
  static Kinds kind_of(unsigned ways) {
    if ((ways & (kPercent | kCurrency)) != 0) return kSigns;
    if ((ways & (kCommaThousands | kPointThousands)) != 0) return kThousands;
    return (ways & kDecimalComma) != 0 ? kUnread : kSigns;
  }

  void tell_ragged() {
    const RaggedRecords& ragged = file_.ragged;
    if (ragged.n_short + ragged.n_long == 0) return;
    std::string text;
    if (ragged.n_short > 0) {
      text = counted(ragged.n_short, "record") + " with fewer fields than the first one " +
             (ragged.n_short == 1 ? "was" : "were") + " filled with missing values, from " +
             line_of(ragged.first_short);
    }
    if (ragged.n_long > 0) {
      text += (text.empty() ? "" : "; ") + counted(ragged.n_long, "record") + " with more fields lost them, from " +
              line_of(ragged.first_long);
    }
    run_.warn(warning::kRaggedRecords, text);
  }

  std::string line_of(std::int64_t offset) const {
    const Place place = place_of(file_.text, offset);
    return "line " + std::to_string(place.line) + " of " + place.file;
  }

  void look_for_blanks() {
    const std::int64_t n_fields = fields_apart_by_blanks(file_.text, options_.comment);
    if (n_fields == 0) return;
    run_.warn(warning::kOneColumn, file_.text.name + ": read as one column, although every line has " +
                                       std::to_string(n_fields) + " fields apart by blanks");
  }

  // All threads look at the columns. Then the messages are written in their order.
  void look_at_columns() {
    const std::int64_t n = std::ssize(file_.plan.columns);
    const std::int64_t some = std::clamp<std::int64_t>(n / (kTasksPerThread * file_.pool.size()), 1, kMostAtOnce);
    std::vector<std::uint16_t> kinds(static_cast<std::size_t>(n));
    file_.pool.parallel_for((n + some - 1) / some, run_.cancel, [&](std::int64_t task, int) {
      LastList last;
      for (std::int64_t c = task * some; c < std::min(n, (task + 1) * some); ++c) {
        const auto at = static_cast<std::size_t>(c);
        kinds[at] = static_cast<std::uint16_t>(kinds_of(at, last));
      }
    });
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      for (std::size_t kind = 0; kinds[c] >> kind != 0; ++kind) {
        if ((kinds[c] >> kind & 1) == 0) continue;
        messages_[kind].columns.push_back(c);
        if (messages_[kind].columns.size() == 1) messages_[kind].text = text_of(static_cast<Kinds>(kind), c);
      }
    }
  }

  // The kinds of messages that a column belongs to, as bits.
  unsigned kinds_of(std::size_t c, LastList& last) const {
    const ColumnPlan& plan = file_.plan.columns[c];
    if (plan.ignored) return 0;
    if (plan.kind == Kind::nominal) return plan.declared ? 0 : kinds_of_values(c, last);
    if (!plan.declared && has_no_value(c)) return bit(kNoValues);
    const bool comma = plan.kind == Kind::numeric && plan.decimal != file_.plan.rules.dialect.decimal;
    return (comma ? bit(kCommas) : 0) | (file_.odd.lost_digits.contains(c) ? bit(kLost) : 0) |
           (file_.odd.offset_times.contains(c) ? bit(kOffsets) : 0);
  }

  unsigned kinds_of_values(std::size_t c, LastList& last) const {
    const Column& column = file_.table.columns[c];
    if (!column.values.empty() && column.values.begin() == last.values.begin()) return last.kinds;
    const NominalCells cells = classify(column, file_.plan.rules);
    if (cells.present == 0) {  // no value is a number or a date
      last = {column.values, kinds_of_spellings(column)};
      return last.kinds;
    }
    if (is_spelled(cells)) return bit(kSpelled);
    Exceptions exceptions;
    return find_exceptions(cells, exceptions) ? bit(kNearly) : kinds_of_spellings(column);
  }

  // Numbers that are spelled as a double would not give them back, and nothing else.
  static bool is_spelled(const NominalCells& cells) {
    return cells.cells[kSpelledNumber] > 0 && cells.cells[kDate] + cells.cells[kNoValue] + cells.cells[kWord] == 0;
  }

  // The ways in which all values are spelled alike, and that nobody reads.
  static unsigned ways_of(const Column& column) {
    unsigned ways = kAnyNearNumber;
    for (const std::string& value : column.values) {
      if (!means_missing(value)) ways &= near_numbers_of(value);
      if (ways == 0) break;
    }
    return ways == kAnyNearNumber ? 0 : ways;
  }

  static unsigned kinds_of_spellings(const Column& column) {
    const unsigned ways = ways_of(column);
    return ways == 0 ? 0 : bit(kind_of(ways));
  }

  // The text about the first column of a message.
  std::string text_of(Kinds kind, std::size_t c) const {
    const ColumnPlan& plan = file_.plan.columns[c];
    const Column& column = file_.table.columns[c];
    switch (kind) {
      case kSpelled: {
        const NominalCells cells = classify(column, file_.plan.rules);
        std::vector<bool> classes(kClasses);
        classes[kSpelledNumber] = true;
        return named(c) + " is nominal, so that its numbers stay as they are spelled: " +
               cell_of_row(c, first_rows(c, cells, classes, 1).front());
      }
      case kNearly: {
        const NominalCells cells = classify(column, file_.plan.rules);
        Exceptions exceptions;
        find_exceptions(cells, exceptions);
        return named(c) + " is nominal, but " + std::to_string(exceptions.regular) + " of its " +
               std::to_string(cells.present) + " values are " + (exceptions.dates ? "dates" : "numbers") + "; " +
               lines_of(c, cells, exceptions.classes);
      }
      case kUnread:
      case kThousands:
      case kSigns: {
        const Buffer<std::int32_t>& codes = column.codes();
        const auto first = std::find_if(codes.begin(), codes.end(), [&](std::int32_t code) {
          return code >= 0 && !means_missing(column.values[code]);
        });
        return named(c) + " is nominal and stays text, but its values look like " +
               std::string(name_of_near_numbers(ways_of(column))) + ": " + cell_of_row(c, first - codes.begin());
      }
      case kCommas: return file_.text.name + ": the comma is taken as the decimal mark of " + named(c);
      case kLost: {
        const FirstField& lost = file_.odd.lost_digits.at(c);
        double value = 0;
        std::string number;
        if (parse_number(content_of(lost.text), value, plan.decimal)) append_number(number, value);
        return named(c) + " is numeric" + (plan.declared ? " as declared" : "") + ", which changes " +
               cell(lost.offset, lost.text) + " to " + number;
      }
      case kOffsets: {
        const FirstField& time = file_.odd.offset_times.at(c);
        return "the times of " + named(c) + " were converted to UTC: " + cell(time.offset, time.text);
      }
      case kNoValues: break;
    }
    return named(c) + " has no value in any row";
  }

  bool has_no_value(std::size_t c) const {
    const Buffer<double>& values = std::get<Buffer<double>>(file_.table.columns[c].data);
    return !values.empty() && std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  }

  std::string named(std::size_t c) const { return "column '" + file_.plan.columns[c].name + "'"; }

  std::string others(const Message& message) const {
    std::string text;
    for (std::size_t i = 1; i < message.columns.size() && i <= kShownNames; ++i) {
      text += (i == 1 ? std::string(message.others) : ",") + " '" + file_.plan.columns[message.columns[i]].name + "'";
    }
    if (message.columns.size() <= kShownNames + 1) return text;
    return text + " and " + std::to_string(message.columns.size() - kShownNames - 1) + " more";
  }

  static std::string shown(std::string_view field) {
    std::string text = content_of(field);
    if (text.size() > kShownBytes) {
      std::size_t end = kShownBytes;
      while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not within a character
      text = text.substr(0, end) + "...";
    }
    return "'" + text + "'";
  }

  std::string cell(std::int64_t offset, std::string_view field) const {
    const Place place = place_of(file_.text, offset);
    return shown(field) + " (" + place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
           ")";
  }

  // The rows where the first different values of some classes occur first.
  std::vector<std::int64_t> first_rows(std::size_t c, const NominalCells& cells, const std::vector<bool>& classes,
                                       std::size_t n) const {
    std::vector<std::int64_t> rows;
    const Buffer<std::int32_t>& codes = file_.table.columns[c].codes();
    for (std::int64_t row = 0; row < codes.size() && rows.size() < n; ++row) {
      if (codes[row] < 0 || !classes[cells.classes[static_cast<std::size_t>(codes[row])]]) continue;
      const bool is_new =
          std::none_of(rows.begin(), rows.end(), [&](std::int64_t r) { return codes[r] == codes[row]; });
      if (is_new) rows.push_back(row);
    }
    return rows;
  }

  // "line 4 of t.csv has 'N/A', line 9 has '-'"
  std::string lines_of(std::size_t c, const NominalCells& cells, const std::vector<bool>& classes) const {
    std::string text, file;  // the file of the line before: several may be parts of one table
    for (const std::int64_t row : first_rows(c, cells, classes, kShownCells)) {
      const HeadField field = field_of_row(c, row);
      const Place place = place_of(file_.text, field.begin);
      text += (text.empty() ? "line " : ", line ") + std::to_string(place.line) +
              (place.file != file ? " of " + place.file : "") + " has " + shown(field_text(file_.text, field));
      file = place.file;
    }
    return text;
  }

  std::string cell_of_row(std::size_t c, std::int64_t row) const {
    const HeadField field = field_of_row(c, row);
    return cell(field.begin, field_text(file_.text, field));
  }

  HeadField field_of_row(std::size_t c, std::int64_t row) const {
    const auto after = std::upper_bound(file_.segments.begin(), file_.segments.end(), row,
                                        [](std::int64_t r, const Segment& s) { return r < s.first_row; });
    const Segment& segment = *(after - 1);
    std::int64_t at = segment.begin;
    HeadField field{segment.begin, segment.begin};
    for (std::int64_t r = segment.first_row; at < segment.end;) {
      std::size_t index = 0;
      const Record record =
          scan_record(file_.text.view, at, file_.layout.dialect, [&](std::int64_t begin, std::int64_t end) {
            if (index++ == c) field = {begin, end};
          });
      at = record.next;
      if (is_skipped(record, file_.layout.n_columns)) continue;
      if (r++ == row) break;
    }
    return field;
  }

  const ReadFile& file_;
  const ReadOptions& options_;
  const RunOptions& run_;
  std::array<Message, kKinds> messages_ = {{{warning::kKeptAsSpelled, "; so are"},
                                            {warning::kNearlyNumeric, "; much the same holds for"},
                                            {warning::kNearlyNumeric, "; much the same holds for"},
                                            {warning::kThousandsMarks, "; much the same holds for"},
                                            {warning::kUnreadSigns, "; much the same holds for"},
                                            {warning::kDecimalCommas, ", and of"},
                                            {warning::kDigitsLost, "; the same happens in"},
                                            {warning::kOffsetsDropped, "; so were those of"},
                                            {warning::kNoValues, "; neither has"}}};
};

}  // namespace

void warn_of_guesses(const ReadFile& file, const ReadOptions& options, const RunOptions& run) {
  Warnings(file, options, run).tell();
}

}  // namespace stope::io::csv
