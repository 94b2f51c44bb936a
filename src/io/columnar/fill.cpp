#include "io/columnar/fill.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "io/arrow/chunk.hpp"
#include "io/arrow/numbers.hpp"
#include "io/arrow/part_names.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::io::columnar {
namespace {

using arrow::Field;

// 256 KiB of doubles: what a batch decodes stays in a core's cache until it has been copied.
constexpr std::int64_t kBatchRows = std::int64_t{1} << 15;
// Values that a task should have at least: opening a reader takes some 10 us.
constexpr std::int64_t kTaskValues = std::int64_t{1} << 16;
constexpr std::int64_t kMostTasks = 20'000;
// The plug-in's reader of a column of Parquet takes 11 KB, however few rows there are. A read of so many columns takes
// 11 MB; where there are more than 64 such blocks they are larger, as every read looks at all columns.
constexpr std::int64_t kTaskColumns = 1024, kColumnBlocks = 64;

// Consecutive groups that one task reads.
struct Span {
  std::int64_t first_group, n_groups, row0, n_rows;
};

class Filling {
 public:
  Filling(const PluginFile& file, const Selection& selection, const StopeFilesFacts& facts, NominalOrder order,
          const RunOptions& run)
      : file_(file),
        selection_(selection),
        order_(order),
        run_(run),
        budget_(memory_budget(run)),
        meter_(budget_, file.name()) {
    make_spans();
    make_columns();
    const std::int64_t n_columns = std::ssize(selection.fields);
    const std::int64_t n_spans = std::max<std::int64_t>(std::ssize(spans_), 1);
    const std::int64_t rows = std::max<std::int64_t>(1, table_.n_rows / n_spans);
    const std::int64_t most = std::max(kTaskColumns, checked::ceil_div(n_columns, kColumnBlocks));
    columns_per_task_ = std::clamp<std::int64_t>(
        std::max(std::min(kTaskValues / rows, most), checked::ceil_div(n_columns * n_spans, kMostTasks)), 1,
        std::max<std::int64_t>(n_columns, 1));
    const std::int64_t batch = std::min(kBatchRows, rows) * 32;
    const std::int64_t held = checked::add(facts.held_bytes, batch);
    n_threads_ = threads_within(held > INT64_MAX / columns_per_task_ ? INT64_MAX : held * columns_per_task_, run);
  }

  Table table() {
    read_all();
    join_all();
    return std::move(table_);
  }

 private:
  void make_spans() {
    for (std::int64_t group = 0; group < file_.n_groups(); ++group) {
      const std::int64_t n = file_.rows_of(group);
      if (spans_.empty() || spans_.back().n_rows >= kTaskValues) spans_.push_back({group, 0, table_.n_rows, 0});
      ++spans_.back().n_groups;
      spans_.back().n_rows += n;
      table_.n_rows = checked::add(table_.n_rows, n);
    }
  }

  void make_columns() {
    table_.source = file_.name();
    std::int64_t row_bytes = 0;
    for (const Field& field : selection_.fields) {
      row_bytes += field.nominal() || arrow::is_narrow(field.type.kind) ? 4 : 8;
      table_.columns.push_back({field.name, field.value_type, field.role, {}, {}});
    }
    const Storage storage = storage_within(checked::mul(row_bytes, table_.n_rows), budget_);
    ColumnMemory memory(storage, table_.n_rows, std::ssize(selection_.fields), row_bytes);
    for (std::size_t c = 0; c < selection_.fields.size(); ++c) {
      const Field& field = selection_.fields[c];
      Column& column = table_.columns[c];
      if (field.nominal()) {
        column.data = memory.take<std::int32_t>();
      } else if (arrow::is_narrow(field.type.kind)) {
        column.data = memory.take<float>();
      } else {
        column.data = memory.take<double>();
      }
    }
    parts_.resize(selection_.fields.size());
    for (std::size_t c = 0; c < parts_.size(); ++c) {
      if (selection_.fields[c].nominal()) parts_[c].resize(spans_.size());
    }
  }

  void read_all() {
    const std::int64_t n_columns = std::ssize(selection_.fields);
    const std::int64_t n_blocks = checked::ceil_div(n_columns, columns_per_task_);
    const std::int64_t n_tasks = checked::mul(std::ssize(spans_), n_blocks);
    PhaseProgress progress(run_, "columns", checked::mul(table_.n_rows, n_columns));
    ThreadPool pool(n_threads_);
    pool.parallel_for(
        n_tasks, run_.cancel,
        [&](std::int64_t task, int) {
          const std::int64_t first = task % n_blocks * columns_per_task_;
          read_span(static_cast<std::size_t>(task / n_blocks), first, std::min(first + columns_per_task_, n_columns),
                    progress);
        },
        &progress);
  }

  // Reads columns [first, last) of the selection in one span.
  void read_span(std::size_t number, std::int64_t first, std::int64_t last, PhaseProgress& progress) {
    const Span& span = spans_[number];
    const std::vector<std::int64_t> columns(selection_.columns.begin() + first, selection_.columns.begin() + last);
    Rows rows = file_.read(span.first_group, span.n_groups, columns, kBatchRows);
    const std::vector<Field> fields = arrow::fields_of(*file_.schema_of(rows), file_.name());
    check_fields(fields, first);
    for (std::int64_t c = first; c < last; ++c) {
      const auto at = static_cast<std::size_t>(c);
      if (!selection_.fields[at].nominal()) continue;
      parts_[at][number] = std::make_unique<arrow::PartNames>(selection_.fields[at], meter_);
    }
    arrow::Owned<ArrowArray> before;  // keeps the buffers that a part remembers by their address
    std::int64_t done = 0;
    for (;;) {
      run_.cancel.check();
      arrow::Owned<ArrowArray> batch = file_.next(rows);
      if (!batch) break;
      const std::vector<arrow::Chunk> chunks = arrow::chunks_of(*batch, fields, file_.name());
      if (batch->length > span.n_rows - done) fail_rows(span, "more");
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        copy(number, static_cast<std::size_t>(first) + i, fields[i], chunks[i], span.row0 + done);
      }
      done += batch->length;
      progress.add(batch->length * (last - first));
      before = std::move(batch);
    }
    if (done != span.n_rows) fail_rows(span, "fewer");
  }

  void copy(std::size_t span, std::size_t column, const Field& field, const arrow::Chunk& chunk, std::int64_t row0) {
    Column& to = table_.columns[column];
    if (!field.nominal()) {
      arrow::copy_numbers(field, {&chunk, row0, 0, chunk.length}, to);
      return;
    }
    std::int32_t* const codes = std::get<Buffer<std::int32_t>>(to.data).data() + row0;
    parts_[column][span]->read(field, chunk, row0, run_.cancel, codes);
  }

  // The batches come as what the columns were made for.
  void check_fields(const std::vector<Field>& fields, std::int64_t first) const {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& declared = selection_.fields[static_cast<std::size_t>(first) + i];
      if (fields[i].nominal() == declared.nominal() &&
          arrow::is_narrow(fields[i].type.kind) == arrow::is_narrow(declared.type.kind)) {
        continue;
      }
      throw Error(ErrorCode::internal, declared.where() + ": it comes as another type than its file declares",
                  declared.place());
    }
  }

  [[noreturn]] void fail_rows(const Span& span, const char* what) const {
    throw Error(ErrorCode::invalid_data,
                "a group of " + std::to_string(span.n_rows) + " rows has " + what + " of them than it declares",
                {file_.name()});
  }

  // The values of all nominal columns, and then their codes.
  void join_all() {
    std::vector<std::size_t> nominal;
    for (std::size_t c = 0; c < selection_.fields.size(); ++c) {
      if (selection_.fields[c].nominal()) nominal.push_back(c);
    }
    std::vector<arrow::JoinedNames> joined(nominal.size());
    ThreadPool pool(n_threads_);
    pool.parallel_for(std::ssize(nominal), run_.cancel, [&](std::int64_t task, int) {
      const auto i = static_cast<std::size_t>(task);
      joined[i] = join(nominal[i]);
    });
    const std::int64_t n_spans = std::ssize(spans_);
    pool.parallel_for(checked::mul(std::ssize(nominal), n_spans), run_.cancel, [&](std::int64_t task, int) {
      const auto i = static_cast<std::size_t>(task / n_spans), number = static_cast<std::size_t>(task % n_spans);
      const std::vector<std::int32_t>& map = joined[i].maps[number];
      if (map.empty()) return;
      const Span& span = spans_[number];
      std::int32_t* const codes = std::get<Buffer<std::int32_t>>(table_.columns[nominal[i]].data).data();
      for (std::int64_t row = span.row0; row < span.row0 + span.n_rows; ++row) {
        if (codes[row] >= 0) codes[row] = map[static_cast<std::size_t>(codes[row])];
      }
    });
  }

  arrow::JoinedNames join(std::size_t c) {
    const Field& field = selection_.fields[c];
    const bool truth = field.type.kind == arrow::Kind::boolean;
    arrow::ValueOrder order;
    order.listed = field.values.has_value() ? &*field.values : nullptr;
    const bool text = !field.codes.has_value() && !truth;
    order.sorted = (text && order_ == NominalOrder::sorted) || field.sorted_values;
    arrow::JoinedNames joined = arrow::join_names(parts_[c], order, meter_, run_.cancel);
    Column& column = table_.columns[c];
    if (truth && joined.values.empty()) joined.values = {"false", "true"};
    column.values = std::move(joined.values);
    if (column.type == ValueType::binominal && column.values.size() > 2) column.type = ValueType::polynominal;
    parts_[c].clear();
    return joined;
  }

  const PluginFile& file_;
  const Selection& selection_;
  NominalOrder order_;
  const RunOptions& run_;
  std::int64_t budget_;
  csv::MemoryMeter meter_;
  std::vector<Span> spans_;
  std::vector<std::vector<std::unique_ptr<arrow::PartNames>>> parts_;  // of nominal columns: one a span
  std::int64_t columns_per_task_ = 1;
  int n_threads_ = 1;
  Table table_;
};

}  // namespace

Table fill(const PluginFile& file, const Selection& selection, const StopeFilesFacts& facts, NominalOrder order,
           const RunOptions& run) {
  return Filling(file, selection, facts, order, run).table();
}

}  // namespace stope::io::columnar
