// export_arrow: a table becomes structures of the Arrow C interfaces that share its memory (stope/arrow.hpp). Every
// structure has a state of its own, so that a consumer may move columns out of a batch and release them one by one.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "base/thread_pool.hpp"
#include "io/arrow/export_column.hpp"
#include "io/arrow/owned.hpp"
#include "stope/arrow.hpp"
#include "stope/error.hpp"

namespace stope::io::arrow {
namespace {

using ColumnPtr = std::shared_ptr<const ExportedColumn>;
using Columns = std::vector<ColumnPtr>;

// Values for which another thread pays, as for import.
constexpr std::int64_t kThreadValues = std::int64_t{1} << 19;

Columns prepare(const Table& table, const RunOptions& run) {
  table.validate();
  for (const Column& column : table.columns) {
    if (column.name.find('\0') == std::string::npos) continue;
    throw Error(ErrorCode::unsupported, "a column's name has a NUL byte, which ends a name in Arrow's C interface",
                {.feature = column.name});
  }
  const auto n_columns = static_cast<std::int64_t>(table.columns.size());
  Columns columns(table.columns.size());
  const std::int64_t most = run.threads > 0 ? run.threads : available_threads();
  const std::int64_t wanted =
      static_cast<std::int64_t>(static_cast<double>(n_columns) * static_cast<double>(table.n_rows) / kThreadValues);
  ThreadPool pool(static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most)));
  pool.parallel_for(n_columns, run.cancel, [&](std::int64_t c, int) {
    const auto i = static_cast<std::size_t>(c);
    columns[i] = std::make_shared<const ExportedColumn>(export_column(table.columns[i], run.cancel));
  });
  return columns;
}

// ---- schemas ----

struct SchemaState {
  std::string format, name, metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

// For both kinds of structures: releases what the consumer has not moved out, then the state.
template <class Structure, class State>
void release(Structure* structure) {
  std::unique_ptr<State> state(static_cast<State*>(structure->private_data));
  for (Structure& child : state->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (state->dictionary.release != nullptr) state->dictionary.release(&state->dictionary);
  structure->release = nullptr;
}

// Makes children that are released with the state, also if it is never finished.
template <class Structure>
void add_children(std::vector<Structure>& children, std::vector<Structure*>& pointers, std::size_t n) {
  children.resize(n);
  for (Structure& child : children) pointers.push_back(&child);
}

void fill_schema(ArrowSchema& to, std::unique_ptr<SchemaState> state, std::int64_t flags) {
  to.format = state->format.c_str();
  to.name = state->name.c_str();
  to.metadata = state->metadata.empty() ? nullptr : state->metadata.data();
  to.flags = flags;
  to.n_children = static_cast<std::int64_t>(state->children.size());
  to.children = state->pointers.empty() ? nullptr : state->pointers.data();
  to.dictionary = state->dictionary.release == nullptr ? nullptr : &state->dictionary;
  to.release = &release<ArrowSchema, SchemaState>;
  to.private_data = state.release();
}

void fill_column_schema(ArrowSchema& to, const ExportedColumn& column) {
  auto state = std::make_unique<SchemaState>();
  state->format = column.format;
  state->name = column.column.name;
  state->metadata = column.metadata;
  if (column.has_dictionary()) {
    auto dictionary = std::make_unique<SchemaState>();
    dictionary->format = "u";
    fill_schema(state->dictionary, std::move(dictionary), ARROW_FLAG_NULLABLE);
  }
  // A dictionary's order is that of its codes, which decides ties between classes. It does not rank the values: Arrow's
  // flag of an ordered dictionary stays unset.
  fill_schema(to, std::move(state), ARROW_FLAG_NULLABLE);
}

Owned<ArrowSchema> make_schema(const Columns& columns) {
  Owned<ArrowSchema> schema;
  auto state = std::make_unique<SchemaState>();
  state->format = "+s";
  add_children(state->children, state->pointers, columns.size());
  fill_schema(*schema.get(), std::move(state), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) fill_column_schema(*schema->children[c], *columns[c]);
  return schema;
}

// ---- arrays ----

struct ArrayState {
  ColumnPtr column;  // keeps what the buffers point into
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

void fill_array(ArrowArray& to, std::unique_ptr<ArrayState> state, std::int64_t length, std::int64_t offset,
                std::int64_t null_count) {
  to.length = length;
  to.null_count = null_count;
  to.offset = offset;
  to.n_buffers = static_cast<std::int64_t>(state->buffers.size());
  to.n_children = static_cast<std::int64_t>(state->children.size());
  to.buffers = state->buffers.data();
  to.children = state->pointers.empty() ? nullptr : state->pointers.data();
  to.dictionary = state->dictionary.release == nullptr ? nullptr : &state->dictionary;
  to.release = &release<ArrowArray, ArrayState>;
  to.private_data = state.release();
}

void fill_column(ArrowArray& to, const ColumnPtr& column, std::int64_t first, std::int64_t length) {
  auto state = std::make_unique<ArrayState>();
  state->column = column;
  state->buffers = {column->validity.empty() ? nullptr : column->validity.data(), column->values};
  if (column->has_dictionary()) {
    auto dictionary = std::make_unique<ArrayState>();
    dictionary->column = column;
    dictionary->buffers = {nullptr, column->offsets.data(), column->text.data()};
    fill_array(state->dictionary, std::move(dictionary), column->offsets.size() - 1, 0, 0);
  }
  const bool whole = length == column->column.size();
  const std::int64_t null_count = column->null_count == 0 ? 0 : whole ? column->null_count : -1;  // -1: not counted
  fill_array(to, std::move(state), length, first, null_count);
}

Owned<ArrowArray> make_batch(const Columns& columns, std::int64_t first, std::int64_t length) {
  Owned<ArrowArray> batch;
  auto state = std::make_unique<ArrayState>();
  state->buffers = {nullptr};
  add_children(state->children, state->pointers, columns.size());
  fill_array(*batch.get(), std::move(state), length, 0, 0);
  for (std::size_t c = 0; c < columns.size(); ++c) fill_column(*batch->children[c], columns[c], first, length);
  return batch;
}

template <class Structure>
void give(Owned<Structure> from, Structure* to) {
  *to = *from;
  from.get()->release = nullptr;
}

// ---- streams ----

struct StreamState {
  Columns columns;
  std::int64_t n_rows = 0, batch_rows = 0, next = 0;
  bool begun = false;  // a table without rows gives one batch, whose dictionaries have its values
  std::string last_error;
};

StreamState& state_of(ArrowArrayStream* stream) {
  return *static_cast<StreamState*>(stream->private_data);
}

// Runs a callback's work: no exception may pass into the consumer's code.
template <class Work>
int guarded(ArrowArrayStream* stream, const Work& work) noexcept {
  try {
    work(state_of(stream));
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    try {
      state_of(stream).last_error = error.what();
    } catch (...) {
      return ENOMEM;
    }
    return EIO;
  }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
  return guarded(stream, [&](StreamState& state) { give(make_schema(state.columns), out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
  return guarded(stream, [&](StreamState& state) {
    if (state.begun && state.next >= state.n_rows) {
      *out = ArrowArray{};  // the end
      return;
    }
    const std::int64_t length = std::min(state.batch_rows, state.n_rows - state.next);
    give(make_batch(state.columns, state.next, length), out);
    state.next += length;
    state.begun = true;
  });
}

const char* stream_error(ArrowArrayStream* stream) noexcept {
  const std::string& error = state_of(stream).last_error;
  return error.empty() ? nullptr : error.c_str();
}

void stream_release(ArrowArrayStream* stream) noexcept {
  const std::unique_ptr<StreamState> ended(static_cast<StreamState*>(stream->private_data));
  stream->release = nullptr;
}

}  // namespace
}  // namespace stope::io::arrow

namespace stope {

void export_arrow(const Table& table, ArrowSchema* schema, ArrowArray* batch, const RunOptions& run) try {
  if (schema != nullptr) *schema = ArrowSchema{};
  if (batch != nullptr) *batch = ArrowArray{};
  if (schema == nullptr || batch == nullptr) {
    throw Error(ErrorCode::invalid_argument, "export_arrow: the schema or the batch is a null pointer");
  }
  const auto columns = io::arrow::prepare(table, run);
  auto made_schema = io::arrow::make_schema(columns);
  auto made_batch = io::arrow::make_batch(columns, 0, table.n_rows);
  io::arrow::give(std::move(made_schema), schema);
  io::arrow::give(std::move(made_batch), batch);
} catch (...) {
  rethrow_as_error();
}

void export_arrow(const Table& table, ArrowArrayStream* stream, std::int64_t batch_rows, const RunOptions& run) try {
  if (stream == nullptr) throw Error(ErrorCode::invalid_argument, "export_arrow: the stream is a null pointer");
  *stream = ArrowArrayStream{};
  if (batch_rows < 0) {
    throw Error(ErrorCode::invalid_argument,
                "export_arrow: batches of " + std::to_string(batch_rows) + " rows; 0 makes one batch of all rows");
  }
  auto state = std::make_unique<io::arrow::StreamState>();
  state->columns = io::arrow::prepare(table, run);
  state->n_rows = table.n_rows;
  state->batch_rows = batch_rows == 0 ? table.n_rows : batch_rows;
  *stream = {&io::arrow::stream_schema, &io::arrow::stream_next, &io::arrow::stream_error, &io::arrow::stream_release,
             state.release()};
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
