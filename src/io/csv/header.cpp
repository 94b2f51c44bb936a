#include "io/csv/header.hpp"

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/name_index.hpp"
#include "io/csv/readings.hpp"

namespace stope::io::csv {
namespace {

// What the first record's field in one column says, compared with the fields below it.
struct Evidence {
  bool present = false;  // it is not missing
  bool number = false;   // a number or a date that stands there like those below: not quoted above unquoted ones
  bool typed = false;    // below are numbers, dates or truth values, and nothing else
  bool fits = false;     // typed, and it is one, too
  bool recurs = false;   // its text occurs again in its column
};

Evidence evidence_of(const Text& text, const Head& below, const HeadField& first, std::size_t column,
                     std::size_t n_columns, const FieldRules& rules) {
  const std::string_view field = field_text(text, first);
  const std::string inside = is_quoted(field) ? content_of(field) : "";
  const std::string_view content = is_quoted(field) ? std::string_view(inside) : field;
  unsigned readings = kAnyReading;
  bool any = false, truth = true, quoted = false, recurs = false;
  visit_column(text, below, column, n_columns, [&](std::string_view other, std::int64_t) {
    const unsigned of_this = readings_of(other, rules);
    if (of_this == kAnyReading) return;
    any = true;
    quoted = quoted || is_quoted(other);
    readings &= of_this;
    truth = truth && is_truth_value(other);
    recurs = recurs || (is_quoted(other) ? content_of(other) == content : other == content);
  });
  Evidence evidence;
  const unsigned of_first = readings_of(field, rules);
  // Our own writer, R and others quote names, but no number: "2019" above 1.5 is a name.
  const bool named = is_quoted(field) && !content.empty() && !quoted;
  if (of_first == kAnyReading && !named) return evidence;
  evidence.present = true;
  evidence.number = of_first != kText && !named;
  evidence.typed = any && (readings != kText || truth);
  evidence.fits =
      evidence.typed && !named && ((readings & of_first & ~unsigned{kText}) != 0 || (truth && is_truth_value(field)));
  evidence.recurs = recurs && !named;
  return evidence;
}

// Names such as 0,1,2 or 2018,2019,2020: at least three whole numbers, each one more than the one before.
bool counts_up(const Text& text, const HeadRecord& record, const std::vector<Evidence>& columns,
               const FieldRules& rules) {
  std::int64_t n = 0;
  double last = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].fits) continue;
    double value = 0;
    if (rules.number(field_text(text, record.fields[c]), rules.dialect.decimal, value) != Meaning::number) return false;
    if (value != std::floor(value) || (n > 0 && value != last + 1)) return false;
    last = value;
    ++n;
  }
  return n >= 3;
}

// Whether at least half of the fields are names of the first table's columns. A row of the numbers 1, 2, ... is data,
// although columns without names have these names.
bool names_the_same(const Text& text, const HeadRecord& first, const std::vector<std::string>& first_names,
                    const FieldRules& rules) {
  NameIndex names(first_names.size());
  names.add_all(first_names, [](const std::string& name) -> std::string_view { return name; });
  bool numbers = true;
  std::size_t n_known = 0;
  for (const HeadField& field : first.fields) {
    const std::string_view trimmed = field_text(text, field);
    n_known += names.contains(content_of(trimmed)) ? 1 : 0;
    double value = 0;
    numbers = numbers && !is_quoted(trimmed) && rules.number(trimmed, rules.dialect.decimal, value) == Meaning::number;
  }
  return !numbers && 2 * n_known >= first.fields.size();
}

bool are_positions(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != std::to_string(i + 1)) return false;
  }
  return !names.empty();
}

std::string fields_of(std::size_t n, std::size_t all) {
  return std::to_string(n) + " of its " + counted(all, "field");
}

// Counts of the first record's fields, and the decision that follows from them.
class Decider {
 public:
  Decider(const Text& text, const Head& head, const HeadRecord& first, const FieldRules& rules)
      : text_(text), first_(first), rules_(rules) {
    for (const HeadRecord& record : head) {
      if (record.begin > first.begin) below_.push_back(record);
    }
    const auto is_record = [](const HeadRecord& record) { return !record.blank; };
    has_rows_ = std::any_of(below_.begin(), below_.end(), is_record);
    columns_.reserve(first.fields.size());
    for (std::size_t c = 0; c < first.fields.size(); ++c) {
      columns_.push_back(evidence_of(text, below_, first.fields[c], c, first.fields.size(), rules));
      const Evidence& column = columns_.back();
      present_ += column.present ? 1 : 0;
      numbers_ += column.number ? 1 : 0;
      fits_ += column.fits ? 1 : 0;
      misfits_ += column.present && column.typed && !column.fits ? 1 : 0;
      texts_ += column.present && !column.typed ? 1 : 0;
      recurring_ += column.present && !column.typed && column.recurs ? 1 : 0;
    }
  }

  bool has_misfits() const { return misfits_ > 0; }
  bool has_misfits_alone() const { return misfits_ > 0 && fits_ == 0; }

  HeaderDecision decide() const {
    if (!has_rows_) return alone();
    if (misfits_ > 0) {
      return names(fits_ == 0 ? "" : fields_of(fits_, columns_.size()) + " would fit the columns below as data");
    }
    if (fits_ > 0) return fitting();
    return texts();
  }

 private:
  static HeaderDecision names(const std::string& although) {
    return {true, true, although.empty() ? "" : "the first record is taken as names, though " + although};
  }
  static HeaderDecision data(const std::string& although) {
    return {false, true, although.empty() ? "" : "the first record is taken as data, though " + although};
  }

  // No record follows. Numbers are no names, unless they are quoted as our own writer does.
  HeaderDecision alone() const {
    if (present_ == 0) return data("");
    if (numbers_ == 0) return names("");
    return data(numbers_ == present_ ? "" : fields_of(present_ - numbers_, columns_.size()) + " may be names");
  }

  // Every number, date or truth value stands above others of its kind.
  HeaderDecision fitting() const {
    const HeadRecord* second = first_record(below_);
    const bool same_shape = second != nullptr && second->fields.size() == columns_.size();
    if (counts_up(text_, first_, columns_, rules_) && !(same_shape && counts_up(text_, *second, columns_, rules_))) {
      return names("its numbers, which only count up, would fit the columns below as data");
    }
    const bool unlike = texts_ > 0 && recurring_ == 0;
    return data(unlike ? "none of its texts occurs again in its column" : "");
  }

  // Nothing but text, or nothing to compare with.
  HeaderDecision texts() const {
    if (numbers_ == present_) return data("");  // numbers above text, or all missing
    if (recurring_ == texts_) return data(columns_.size() > 1 ? "" : "it may be a name");
    return names(2 * recurring_ < texts_ ? ""
                                         : fields_of(recurring_, columns_.size()) + " occur again in their columns");
  }

  const Text& text_;
  const HeadRecord& first_;
  const FieldRules& rules_;
  Head below_;
  bool has_rows_ = false;
  std::vector<Evidence> columns_;
  std::size_t present_ = 0, numbers_ = 0, fits_ = 0, misfits_ = 0, texts_ = 0, recurring_ = 0;
};

}  // namespace

// If the caller gives names, the file has no header, as in pandas. Names are rarely given for a file with a header, and
// otherwise the first row of a file without one would be lost.
HeaderDecision decide_header(const Text& text, const Head& head, const FieldRules& rules, const ReadOptions& options) {
  const HeadRecord& first = *first_record(head);
  if (options.header != Header::automatic) return {options.header == Header::yes, false, ""};
  if (!options.names.empty()) {
    const bool doubt = Decider(text, head, first, rules).has_misfits();
    return {false, true,
            doubt ? "the first record is taken as data, because names are given, though it does not fit" : ""};
  }
  if (!options.first_names.empty()) {
    if (names_the_same(text, first, options.first_names, rules)) return {true, true, ""};
    if (are_positions(options.first_names)) return {false, true, ""};
  }
  return Decider(text, head, first, rules).decide();
}

bool looks_like_names(const Text& text, const Head& head, const FieldRules& rules,
                      const std::vector<std::string>& names) {
  const HeadRecord* first = first_record(head);
  if (first == nullptr) return false;
  return names_the_same(text, *first, names, rules) || Decider(text, head, *first, rules).has_misfits_alone();
}

}  // namespace stope::io::csv
