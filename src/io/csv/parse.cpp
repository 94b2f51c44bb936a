#include "io/csv/parse.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "io/csv/nominal_values.hpp"

namespace stope::io::csv {

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
      meter_(meter),
      max_rows_(std::max<std::int64_t>(1, job.batch_fields / job.layout.n_columns)),
      columns_(job.plan.columns.size()),
      parser_(job.plan.rules, job.kernels, max_rows_) {
  const std::int64_t n_fields = checked::mul(max_rows_, job.layout.n_columns);
  // Entry 0 of ends_ stands for the separator before the first field: one before the batch.
  begins_.resize(static_cast<std::size_t>(n_fields));
  ends_.resize(static_cast<std::size_t>(n_fields + 1 + 64));
  for (const std::size_t c : job.columns) {
    const ColumnPlan& plan = job.plan.columns[c];
    if (plan.kind != Kind::nominal) continue;
    auto dictionary = std::make_unique<Dictionary>(meter);
    for (const std::string& token : job.plan.rules.tokens) dictionary->add_missing_token(token);
    add_known_values(*dictionary, plan);
    columns_[c].dictionary = std::move(dictionary);
  }
}

ParseStatus Worker::parse(const Segment& segment) {
  const char* const base = job_.padded.at(segment.begin);
  const std::int64_t size = job_.padded.end_of(segment) - segment.begin;
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
      job_.kernels.index_fields(batch.base, batch.size, job_.layout.dialect.separator, max_rows_ * n_columns, 0, ends);
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
    if (job_.misfits[column].load(std::memory_order_relaxed)) continue;
    const auto c = static_cast<std::int64_t>(column);
    const ColumnSlice slice{batch.base,
                            batch.begins + c,
                            batch.ends + c,
                            batch.skip,
                            job_.layout.n_columns,
                            batch.n_rows,
                            c + 1 == job_.layout.n_columns && batch.skip == 1};
    const Fit fit = fill_column(batch, {slice, batch.text_offset}, column);
    if (fit == Fit::no) job_.misfits[column].store(true, std::memory_order_relaxed);
    if (fit == Fit::bad) note_bad(column);
  }
}

Fit Worker::fill_column(const Batch& batch, const Fields& fields, std::size_t column) {
  const ColumnPlan& plan = job_.plan.columns[column];
  const ColumnOutput& output = job_.outputs[column];
  ColumnState& state = columns_[column];
  switch (plan.kind) {
    case Kind::numeric: return parser_.numbers(fields, plan, output.numbers + batch.row, state.notes);
    case Kind::date: return parser_.dates(fields, plan, output.numbers + batch.row, state.notes);
    case Kind::nominal: break;
  }
  return fill_codes(batch, fields, column);
}

Fit Worker::fill_codes(const Batch& batch, const Fields& fields, std::size_t column) {
  const ColumnPlan& plan = job_.plan.columns[column];
  ColumnState& state = columns_[column];
  std::int32_t* const codes = job_.outputs[column].codes + batch.row;
  Dictionary& dictionary = *state.dictionary;
  if (state.texts != nullptr) {
    parser_.texts(fields, batch.row, dictionary, state.texts + batch.row, codes);
    return Fit::yes;
  }
  const Fit fit = parser_.codes(fields, plan, batch.row, std::ssize(plan.values()), dictionary, codes);
  state.n_hashed += batch.n_rows;
  if (!plan.listed && job_.row_texts.suits(dictionary.size(), state.n_hashed)) {
    state.texts = job_.row_texts.begin(column, meter_);
  }
  return fit;
}

// The first bad value of a batch in file order, whichever column is filled first.
void Worker::note_bad(std::size_t column) {
  const FirstField& field = parser_.misfit();
  if (bad_value_.offset >= 0 && bad_value_.offset <= field.offset) return;
  bad_value_ = {field.offset, static_cast<std::int64_t>(column), field.text};
}

}  // namespace stope::io::csv
