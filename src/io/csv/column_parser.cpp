#include "io/csv/column_parser.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "io/csv/row_texts.hpp"
#include "io/number.hpp"

namespace stope::io::csv {
namespace {

void note_rounding(const Fields& fields, std::string_view field, double value, ColumnNotes& notes) {
  if (is_rounded_off(field, value)) notes.lost_digits.note(fields.offset_of(field), field);
}

void note_numbers(const double* values, std::int64_t n, const PlainNumbers& plain, ColumnNotes& notes) {
  constexpr double kLimit = 9007199254740992.0;  // 2^53: beyond it some whole numbers have no double
  if (!notes.all_whole && notes.any_present) return;
  if (!plain.points && plain.n_rest == 0) {  // only digits, and below the limit: no need to check each
    notes.any_present = notes.any_present || plain.n_empty < n;
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    notes.any_present = true;
    if (std::fabs(value) < kLimit && static_cast<double>(static_cast<std::int64_t>(value)) == value) continue;
    notes.all_whole = false;
    return;
  }
}

// What is between the quotes of a field that begins and ends with one; another field as it is.
std::string_view inside_quotes(std::string_view field) {
  const std::size_t quotes = field.size() > 2 && field.front() == '"' && field.back() == '"' ? 1 : 0;
  return {field.data() + quotes, field.size() - 2 * quotes};
}

// Whether a field has quotes around it, which leave `inside`, and none inside.
bool is_plainly_quoted(std::string_view field, std::string_view inside) {
  return inside.size() != field.size() && std::memchr(inside.data(), '"', inside.size()) == nullptr;
}

// Whether a field needs neither trimming nor unquoting. The quote and the blanks are the lowest characters that text
// has, but for '!' and control characters.
bool is_simple(std::string_view field) {
  return static_cast<unsigned char>(field.front()) > '"' && static_cast<unsigned char>(field.back()) > ' ';
}

}  // namespace

ColumnParser::ColumnParser(const FieldRules& rules, const Kernels& kernels, std::int64_t max_rows)
    : rules_(rules),
      kernels_(kernels),
      rest_(static_cast<std::size_t>(max_rows)),
      keys_(static_cast<std::size_t>(max_rows)) {}

Fit ColumnParser::numbers(const Fields& fields, const ColumnReading& reading, double* out, ColumnNotes& notes) {
  const ColumnSlice& slice = fields.slice;
  const char decimal = reading.decimal;
  PlainNumbers plain;
  if (rules_.numeric_tokens) {
    plain.n_rest = slice.n_rows;
    std::iota(rest_.begin(), rest_.begin() + slice.n_rows, std::uint32_t{0});
  } else {
    plain = kernels_.plain_numbers(slice, decimal, out, rest_.data());
    const Fit fit = plain.leading_zeros ? take_leading_zeros(fields, reading, notes) : Fit::yes;
    if (fit != Fit::yes) return fit;
  }
  for (std::int64_t i = 0; i < plain.n_rest; ++i) {
    const std::uint32_t r = rest_[static_cast<std::size_t>(i)];
    std::string_view field = slice.field(r);
    bool keeps = true;
    // Numbers with too many digits or an exponent are tried first: values in full precision fill whole columns.
    if (!rules_.numeric_tokens && parse_number(field, out[r], decimal)) {
      keeps = !loses_digits(field);
    } else {
      field = trim(field, rules_.dialect.separator);
      const Meaning meaning = rules_.number(field, decimal, out[r]);
      if (meaning == Meaning::other) return refuse(fields, reading, field);
      if (meaning == Meaning::missing) continue;
      keeps = rules_.keeps_digits(field);
    }
    const Fit fit = keeps ? Fit::yes : take_number(fields, reading, field, notes);
    if (fit != Fit::yes) return fit;
    note_rounding(fields, field, out[r], notes);
  }
  note_numbers(out, slice.n_rows, plain, notes);
  return Fit::yes;
}

// The kernel met numbers such as 01234 and does not say where.
Fit ColumnParser::take_leading_zeros(const Fields& fields, const ColumnReading& reading, ColumnNotes& notes) {
  // A declared column names its first such number alone. What was noted may be a number of too many digits, which says
  // nothing of the type of any other column.
  if (reading.declared && notes.lost_digits.offset >= 0) return Fit::yes;
  for (std::int64_t r = 0; r < fields.slice.n_rows; ++r) {
    const std::string_view field = fields.slice.field(r);
    if (loses_digits(field)) return take_number(fields, reading, field, notes);
  }
  return Fit::yes;
}

// A number whose digits would be lost makes a column text, unless it was declared numeric.
Fit ColumnParser::take_number(const Fields& fields, const ColumnReading& reading, std::string_view field,
                              ColumnNotes& notes) {
  if (!reading.declared) return refuse(fields, reading, field);
  notes.lost_digits.note(fields.offset_of(field), field);
  return Fit::yes;
}

Fit ColumnParser::dates(const Fields& fields, const ColumnReading& reading, double* out, ColumnNotes& notes) {
  for (std::int64_t r = 0; r < fields.slice.n_rows; ++r) {
    const std::string_view field = trim(fields.slice.field(r), rules_.dialect.separator);
    IsoDate date;
    const Meaning meaning = rules_.date(field, date);
    if (meaning == Meaning::other || !(date.exact || reading.declared)) return refuse(fields, reading, field);
    if (date.offset) notes.offset_time.note(fields.offset_of(field), field);
    out[r] = date.days;
  }
  return Fit::yes;
}

// A field that does not fit its column: the next reading is tried, or it is an error.
Fit ColumnParser::refuse(const Fields& fields, const ColumnReading& reading, std::string_view field) {
  if (reading.left != 0) return Fit::no;
  misfit_ = {fields.offset_of(field), std::string(field)};
  return Fit::bad;
}

// The code of a field that is quoted or has blanks around it, or seems to.
std::int32_t ColumnParser::code_of(std::string_view field, Dictionary& dictionary, std::int64_t row) {
  field = trim(field, rules_.dialect.separator);
  if (field.empty()) return kMissingCode;
  if (field.front() != '"')
    return std::max(dictionary.find_or_add(Dictionary::key_of(field), field, row), kMissingCode);
  std::string_view content = field.substr(1, field.size() - 2);
  if (content.empty()) return kMissingCode;
  if (std::memchr(content.data(), '"', content.size()) != nullptr) {
    unquote(field, scratch_);
    const std::size_t size = scratch_.size();
    scratch_.append(16, '\0');  // a look-up reads 16 bytes
    content = std::string_view(scratch_).substr(0, size);
  }
  return dictionary.find_or_add_quoted(content, row);
}

Fit ColumnParser::codes(const Fields& fields, const ColumnReading& reading, std::int64_t row, std::int64_t n_listed,
                        Dictionary& dictionary, std::int32_t* out) {
  const ColumnSlice c = fields.slice;  // a copy: its members then stay in registers across the stores
  // Walks over the rows twice: a dictionary of many values lies in a farther cache, which answers all requests of a
  // batch in the time of a few.
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    Dictionary::Key& key = keys_[static_cast<std::size_t>(r)];
    key = Dictionary::key_of(inside_quotes(c.field(r)));
    dictionary.prefetch(key);
  }
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    const std::string_view field = c.field(r);
    if (field.empty()) {
      out[r] = kMissingCode;
      continue;
    }
    const std::string_view inside = inside_quotes(field);
    if (is_plainly_quoted(field, inside)) {
      out[r] = dictionary.find_or_add_quoted(keys_[static_cast<std::size_t>(r)], inside, row + r);
      continue;
    }
    out[r] = is_simple(field)
                 ? std::max(dictionary.find_or_add(keys_[static_cast<std::size_t>(r)], field, row + r), kMissingCode)
                 : code_of(field, dictionary, row + r);
  }
  if (!reading.listed || dictionary.size() == n_listed) return Fit::yes;
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    if (out[r] < n_listed) continue;
    const std::string_view field = trim(c.field(r), rules_.dialect.separator);
    misfit_ = {fields.offset_of(field), std::string(field)};
    return Fit::bad;
  }
  return Fit::yes;
}

void ColumnParser::texts(const Fields& fields, std::int64_t row, Dictionary& dictionary, std::string_view* texts,
                         std::int32_t* out) {
  const ColumnSlice c = fields.slice;  // a copy: its members then stay in registers across the stores
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    const std::string_view field = c.field(r);
    if (field.empty()) {
      out[r] = kMissingCode;
      continue;
    }
    const std::string_view inside = inside_quotes(field);
    const bool quoted = is_plainly_quoted(field, inside);
    if (!quoted && !is_simple(field)) {
      out[r] = code_of(field, dictionary, row + r);
    } else if (!quoted && dictionary.is_missing_token(field)) {
      out[r] = kMissingCode;
    } else {
      texts[r] = inside;
      out[r] = kKeptText;
    }
  }
}

}  // namespace stope::io::csv
