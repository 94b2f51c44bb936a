#include "io/csv/parse.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.hpp"
#include "io/number.hpp"

namespace stope::io::csv {

void make_tail(ParseJob& job, const Segment& last) {
  const std::string_view part = job.text.view.substr(static_cast<std::size_t>(last.begin));
  const auto n = static_cast<std::int64_t>(part.size());
  job.tail = Buffer<char>(checked::add(n, kPadding + 1));
  std::memcpy(job.tail.data(), part.data(), part.size());
  std::memset(job.tail.data() + n, 0, static_cast<std::size_t>(kPadding + 1));
  const bool ended = part.empty() || part.back() == '\n' || part.back() == '\r';
  if (!ended) job.tail.data()[n] = '\n';
  job.tail_begin = last.begin;
  job.tail_size = n + (ended ? 0 : 1);
}

void RaggedRecords::note_short(std::int64_t offset) {
  ++n_short;
  if (first_short < 0 || offset < first_short) first_short = offset;
}

void RaggedRecords::note_long(std::int64_t offset) {
  ++n_long;
  if (first_long < 0 || offset < first_long) first_long = offset;
}

void RaggedRecords::add(const RaggedRecords& other) {
  n_short += other.n_short;
  n_long += other.n_long;
  if (first_short < 0 || (other.first_short >= 0 && other.first_short < first_short)) first_short = other.first_short;
  if (first_long < 0 || (other.first_long >= 0 && other.first_long < first_long)) first_long = other.first_long;
}

Worker::Worker(ParseJob& job, MemoryMeter& meter)
    : job_(job),
      max_rows_(std::max<std::int64_t>(1, job.batch_fields / job.layout.n_columns)),
      columns_(job.plan.columns.size()) {
  const std::int64_t n_fields = checked::mul(max_rows_, job.layout.n_columns);
  // Entry 0 of ends_ stands for the separator before the first field: one before the batch.
  begins_.resize(static_cast<std::size_t>(n_fields));
  ends_.resize(static_cast<std::size_t>(n_fields + 1 + 64));
  rest_.resize(static_cast<std::size_t>(max_rows_));
  keys_.resize(static_cast<std::size_t>(max_rows_));
  for (const std::size_t c : job.columns) {
    const ColumnPlan& plan = job.plan.columns[c];
    if (plan.kind != Kind::nominal) continue;
    auto dictionary = std::make_unique<Dictionary>(meter);
    for (const std::string& token : job.plan.rules.tokens) dictionary->add_missing_token(token);
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
      dictionary->add_value(plan.values[i], plan.listed ? 0 : plan.first_rows[i]);
    }
    columns_[c].dictionary = std::move(dictionary);
  }
}

ParseStatus Worker::parse(const Segment& segment) {
  const bool tail = segment.begin >= job_.tail_begin;
  const char* base =
      tail ? job_.tail.data() + (segment.begin - job_.tail_begin) : job_.text.view.data() + segment.begin;
  const std::int64_t size = tail ? job_.tail_size - (segment.begin - job_.tail_begin) : segment.end - segment.begin;
  std::int64_t row = 0;
  for (std::int64_t at = 0; at < size;) {
    Batch batch{base + at, segment.begin + at, size - at, segment.first_row + row};
    if (!index(batch) || row + batch.n_rows > segment.n_rows) return ParseStatus::irregular;
    if (batch.suspicious) {
      const std::string_view part(batch.base, static_cast<std::size_t>(batch.consumed));
      if (part.find('\0') != std::string_view::npos || find_invalid_utf8(part) >= 0) return ParseStatus::irregular;
    }
    fill(batch);
    if (bad_value_.offset >= 0) return ParseStatus::bad_value;
    at += batch.consumed;
    row += batch.n_rows;
  }
  return row == segment.n_rows ? ParseStatus::done : ParseStatus::irregular;
}

bool Worker::index(Batch& batch) {
  return index_fast(batch) || index_by_grammar(batch);
}

bool Worker::index_fast(Batch& batch) {
  if (job_.layout.dialect.comment != '\0') return false;  // the grammar knows comments, the kernels do not
  const std::int64_t n_columns = job_.layout.n_columns;
  ends_[0] = std::numeric_limits<std::uint32_t>::max();  // + skip = 0
  std::uint32_t* ends = ends_.data() + 1;
  const FieldIndex index =
      job_.kernels.index_fields(batch.base, batch.size, job_.layout.dialect.separator, max_rows_ * n_columns, ends);
  batch.suspicious = index.suspicious;
  const std::int64_t n_rows = std::min(max_rows_, index.n_fields / n_columns);
  if (index.irregular || n_rows == 0) return false;
  // Every n_columns-th end is a line end, and there are no others.
  std::int64_t newlines = 0;
  for (std::int64_t r = 0; r < n_rows; ++r) newlines += batch.base[ends[r * n_columns + n_columns - 1]] == '\n' ? 1 : 0;
  if (newlines != n_rows) return false;
  for (std::int64_t i = n_rows * n_columns; i < index.n_fields; ++i) newlines += batch.base[ends[i]] == '\n' ? 1 : 0;
  if (newlines != index.n_newlines) return false;
  batch.n_rows = n_rows;
  batch.consumed = std::int64_t{ends[n_rows * n_columns - 1]} + 1;
  batch.begins = ends_.data();
  batch.ends = ends;
  batch.skip = 1;
  return true;
}

bool Worker::index_by_grammar(Batch& batch) {
  constexpr std::int64_t kFarthest = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t n_columns = job_.layout.n_columns;
  const std::string_view text(batch.base, static_cast<std::size_t>(batch.size));
  std::int64_t at = 0, row = 0;
  while (at < batch.size && row < max_rows_) {
    const std::int64_t first = row * n_columns, begin_of_record = at;
    std::int64_t i = 0;
    const Record record = scan_record(text, at, job_.layout.dialect, [&](std::int64_t begin, std::int64_t end) {
      if (i < n_columns) {
        begins_[static_cast<std::size_t>(first + i)] = static_cast<std::uint32_t>(begin);
        ends_[static_cast<std::size_t>(first + i)] = static_cast<std::uint32_t>(end);
      }
      ++i;
    });
    if (record.status != RecordStatus::complete) return false;
    if (record.next > kFarthest) {
      if (row > 0) break;  // the next batch begins with this record
      throw Error(ErrorCode::unsupported, "a record of more than 4 GB", {job_.text.name});
    }
    at = record.next;
    if (is_skipped(record, n_columns)) continue;
    if (record.n_fields != n_columns && !fit_record(batch, record, begin_of_record, row)) return false;
    ++row;
  }
  batch.n_rows = row;
  batch.consumed = at;
  batch.begins = begins_.data();
  batch.ends = ends_.data();
  batch.skip = 0;
  batch.suspicious = true;  // the index may have stopped before it saw all of these bytes
  return true;
}

// Fills a record that is too short with empty fields; of one that is too long the surplus fields are not indexed.
bool Worker::fit_record(const Batch& batch, const Record& record, std::int64_t at, std::int64_t row) {
  if (!job_.layout.ragged) return false;
  const std::int64_t n_columns = job_.layout.n_columns;
  const std::int64_t offset = batch.text_offset + at;
  if (record.n_fields > n_columns) {
    ragged_.note_long(offset);
    return true;
  }
  ragged_.note_short(offset);
  const std::size_t first = static_cast<std::size_t>(row * n_columns + record.n_fields);
  const auto n = static_cast<std::ptrdiff_t>(n_columns - record.n_fields);
  const std::uint32_t end = ends_[first - 1];
  std::fill_n(begins_.begin() + static_cast<std::ptrdiff_t>(first), n, end);
  std::fill_n(ends_.begin() + static_cast<std::ptrdiff_t>(first), n, end);
  return true;
}

void Worker::fill(const Batch& batch) {
  for (const std::size_t column : job_.columns) {
    const auto c = static_cast<std::int64_t>(column);
    const ColumnSlice slice{batch.base,
                            batch.begins + c,
                            batch.ends + c,
                            batch.skip,
                            job_.layout.n_columns,
                            batch.n_rows,
                            c + 1 == job_.layout.n_columns && batch.skip == 1};
    switch (job_.plan.columns[column].kind) {
      case Kind::numeric: fill_numbers(batch, slice, column); break;
      case Kind::date: fill_dates(batch, slice, column); break;
      case Kind::nominal: fill_codes(batch, slice, column); break;
    }
  }
}

void Worker::fill_numbers(const Batch& batch, const ColumnSlice& slice, std::size_t column) {
  if (job_.misfits[column].load(std::memory_order_relaxed)) return;
  const FieldRules& rules = job_.plan.rules;
  const char decimal = job_.plan.columns[column].decimal;
  double* out = job_.outputs[column].numbers + batch.row;
  PlainNumbers plain;
  if (rules.numeric_tokens) {
    plain.n_rest = slice.n_rows;
    for (std::int64_t r = 0; r < slice.n_rows; ++r) rest_[static_cast<std::size_t>(r)] = static_cast<std::uint32_t>(r);
  } else {
    plain = job_.kernels.plain_numbers(slice, decimal, out, rest_.data());
    if (plain.leading_zeros && !take_leading_zeros(batch, slice, column)) return;
  }
  for (std::int64_t i = 0; i < plain.n_rest; ++i) {
    const std::uint32_t r = rest_[static_cast<std::size_t>(i)];
    // Numbers with too many digits or an exponent are tried first: values in full precision fill whole columns.
    if (!rules.numeric_tokens && parse_number(slice.field(r), out[r], decimal)) {
      if (loses_digits(slice.field(r)) && !take_number(batch, column, slice.field(r))) return;
      note_rounding(batch, column, slice.field(r), out[r]);
      continue;
    }
    const std::string_view field = trim(slice.field(r), rules.dialect.separator);
    const Meaning meaning = rules.number(field, decimal, out[r]);
    if (meaning == Meaning::other) return refuse(batch, column, field);
    if (meaning == Meaning::missing) continue;
    if (!rules.keeps_digits(field) && !take_number(batch, column, field)) return;
    note_rounding(batch, column, field, out[r]);
  }
  note_numbers(column, out, slice.n_rows, plain);
}

// The kernel met numbers such as 01234 and does not say where.
bool Worker::take_leading_zeros(const Batch& batch, const ColumnSlice& slice, std::size_t column) {
  if (columns_[column].lost_digits.offset >= 0) return true;
  for (std::int64_t r = 0; r < slice.n_rows; ++r) {
    if (loses_digits(slice.field(r))) return take_number(batch, column, slice.field(r));
  }
  return true;
}

// A number whose digits would be lost makes a column text, unless it was declared numeric. False if it does.
bool Worker::take_number(const Batch& batch, std::size_t column, std::string_view field) {
  if (job_.plan.columns[column].declared) {
    columns_[column].lost_digits.note(offset_of(batch, field), field);
    return true;
  }
  refuse(batch, column, field);
  return false;
}

void Worker::note_rounding(const Batch& batch, std::size_t column, std::string_view field, double value) {
  if (is_rounded_off(field, value)) columns_[column].lost_digits.note(offset_of(batch, field), field);
}

void Worker::fill_dates(const Batch& batch, const ColumnSlice& slice, std::size_t column) {
  if (job_.misfits[column].load(std::memory_order_relaxed)) return;
  const FieldRules& rules = job_.plan.rules;
  const bool declared = job_.plan.columns[column].declared;
  double* out = job_.outputs[column].numbers + batch.row;
  for (std::int64_t r = 0; r < slice.n_rows; ++r) {
    const std::string_view field = trim(slice.field(r), rules.dialect.separator);
    IsoDate date;
    const Meaning meaning = rules.date(field, date);
    if (meaning == Meaning::other || !(date.exact || declared)) return refuse(batch, column, field);
    if (date.offset) columns_[column].offset_time.note(offset_of(batch, field), field);
    out[r] = date.days;
  }
}

// A field that does not fit its column: the next reading is tried, or it is an error.
void Worker::refuse(const Batch& batch, std::size_t column, std::string_view field) {
  if (job_.plan.columns[column].left == 0) return note_bad(batch, column, field);
  job_.misfits[column].store(true, std::memory_order_relaxed);
}

// The code of a field that is quoted or has blanks around it, or seems to.
std::int32_t Worker::code_of(std::string_view field, Dictionary& dictionary, std::int64_t row) {
  field = trim(field, job_.layout.dialect.separator);
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

void Worker::fill_codes(const Batch& batch, const ColumnSlice& slice, std::size_t column) {
  const ColumnPlan& plan = job_.plan.columns[column];
  Dictionary& dictionary = *columns_[column].dictionary;
  std::int32_t* out = job_.outputs[column].codes + batch.row;
  const ColumnSlice c = slice;  // a copy: its members then stay in registers across the stores
  // Walks over the rows twice: a dictionary of many values lies in a farther cache, which answers all requests of a
  // batch in the time of a few.
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    Dictionary::Key& key = keys_[static_cast<std::size_t>(r)];
    key = Dictionary::key_of(c.field(r));
    dictionary.prefetch(key);
  }
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    const std::string_view field = c.field(r);
    if (field.empty()) {
      out[r] = kMissingCode;
      continue;
    }
    // The quote and the blanks are the lowest characters that text has, but for '!' and control characters.
    const bool simple =
        static_cast<unsigned char>(field.front()) > '"' && static_cast<unsigned char>(field.back()) > ' ';
    out[r] = simple ? std::max(dictionary.find_or_add(keys_[static_cast<std::size_t>(r)], field, batch.row + r),
                               kMissingCode)
                    : code_of(field, dictionary, batch.row + r);
  }
  if (!plan.listed) return;
  const auto n_listed = static_cast<std::int32_t>(plan.values.size());
  if (dictionary.size() == n_listed) return;
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    if (out[r] < n_listed) continue;
    note_bad(batch, column, trim(c.field(r), job_.layout.dialect.separator));
    return;
  }
}

void Worker::note_numbers(std::size_t column, const double* values, std::int64_t n, const PlainNumbers& plain) {
  constexpr double kLimit = 9007199254740992.0;  // 2^53: beyond it some whole numbers have no double
  ColumnState& state = columns_[column];
  if (!state.all_whole && state.any_present) return;
  if (!plain.points && plain.n_rest == 0) {  // only digits, and below the limit: no need to check each
    state.any_present = state.any_present || plain.n_empty < n;
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    state.any_present = true;
    if (std::fabs(value) < kLimit && static_cast<double>(static_cast<std::int64_t>(value)) == value) continue;
    state.all_whole = false;
    return;
  }
}

// The first bad value of a batch in file order, whichever column is filled first.
void Worker::note_bad(const Batch& batch, std::size_t column, std::string_view field) {
  const std::int64_t offset = offset_of(batch, field);
  if (bad_value_.offset >= 0 && bad_value_.offset <= offset) return;
  bad_value_ = {offset, static_cast<std::int64_t>(column), std::string(field)};
}

}  // namespace stope::io::csv
