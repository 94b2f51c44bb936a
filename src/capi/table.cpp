// Tables in and out (src/capi/table.hpp).
#include "capi/table.hpp"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "capi/array.hpp"
#include "capi/guarded.hpp"
#include "capi/options.hpp"
#include "capi/run.hpp"
#include "io/arrow/owned.hpp"
#include "jobs/job_options.hpp"
#include "jobs/json.hpp"
#include "stope/arrow.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/nearest_name.hpp"
#include "stope/table_builder.hpp"

namespace stope::capi {
namespace {

static_assert(STOPE_REGULAR == static_cast<int>(Role::regular));
static_assert(STOPE_LABEL == static_cast<int>(Role::label));
static_assert(STOPE_ID == static_cast<int>(Role::id));
static_assert(STOPE_WEIGHT == static_cast<int>(Role::weight));
static_assert(STOPE_IGNORE == static_cast<int>(Role::ignore));

using io::arrow::Owned;

ArrowOptions arrow_options(const stope_options* options) {
  return read_options<jobs::ArrowJob>(options, "an Arrow table").arrow;
}

// What stope_table_copy() writes: where element (r, c) lies, and in which type.
struct Target {
  char* data;
  std::int64_t row_bytes, column_bytes;
  template <class To>
  To& at(std::int64_t row, std::int64_t column) const {
    return *reinterpret_cast<To*>(data + row * row_bytes + column * column_bytes);
  }
};

template <class To>
void copy_column(const Column& column, std::int64_t first, std::int64_t n, const Target& to, std::int64_t c) {
  for (std::int64_t r = 0; r < n; ++r) {
    if constexpr (std::is_same_v<To, std::int32_t>) {
      to.at<To>(r, c) = column.codes()[first + r];
    } else {
      to.at<To>(r, c) = static_cast<To>(column.at(first + r));
    }
  }
}

void check_range(std::int64_t first, std::int64_t n, std::int64_t size, const char* what) {
  if (first >= 0 && n >= 0 && first <= size - n) return;
  throw Error(ErrorCode::invalid_argument,
              "the table has no " + std::to_string(n) + " " + what + " from " + std::to_string(first) + " on: it has " +
                  std::to_string(size),
              {.option = what});
}

void copy_out(const Table& table, std::int64_t first, std::int64_t first_column, const stope_array* out) {
  const ArrayView view = view_of(out, "out");
  if (view.gpu >= 0)
    throw Error(ErrorCode::unsupported, "a table is copied to the host's memory only", {.option = "out"});
  check_range(first, view.n_rows, table.n_rows, "rows");
  check_range(first_column, view.n_columns, std::ssize(table.columns), "columns");
  if (view.n_rows > 0 && view.n_columns > 0) required(view.data, "out");
  const ArrayView checked = checked_array(view, "out");
  const std::int64_t size = size_of(view.type);
  const Target to{static_cast<char*>(const_cast<void*>(view.data)), checked.row_stride * size,
                  checked.column_stride * size};
  for (std::int64_t c = 0; c < view.n_columns; ++c) {
    const Column& column = table.columns[static_cast<std::size_t>(first_column + c)];
    if (view.type == ElementType::float64) {
      copy_column<double>(column, first, view.n_rows, to, c);
    } else if (view.type == ElementType::float32) {
      copy_column<float>(column, first, view.n_rows, to, c);
    } else if (view.type == ElementType::int32 && column.nominal()) {
      copy_column<std::int32_t>(column, first, view.n_rows, to, c);
    } else {
      throw Error(ErrorCode::unsupported,
                  "column '" + column.name + "' cannot be copied as " + std::string(to_string(view.type)) +
                      ": float64 and float32 take any column, int32 takes nominal ones",
                  {.option = "out", .feature = column.name});
    }
  }
}

const Column* column_at(const Table& table, std::int64_t column) {
  return column >= 0 && column < std::ssize(table.columns) ? &table.columns[static_cast<std::size_t>(column)] : nullptr;
}

}  // namespace

Role role_of(std::int32_t role) {
  if (role >= STOPE_REGULAR && role <= STOPE_IGNORE) return static_cast<Role>(role);
  throw Error(ErrorCode::invalid_argument, std::to_string(role) + " is no role", {.option = "role"});
}

void require_role_free(Role taken, const std::string& by, Role wanted, const std::string& name) {
  if (taken != wanted || wanted == Role::regular || wanted == Role::ignore) return;
  throw Error(ErrorCode::invalid_argument,
              "column '" + name + "' cannot have the role " + std::string(to_string(wanted)) + ": '" + by + "' has it",
              {.option = "role", .feature = name});
}

}  // namespace stope::capi

using namespace stope::capi;
using stope::Error;
using stope::ErrorCode;

// Whatever goes wrong, the structures of Arrow are released: the owners take them before anything can fail.
stope_code stope_table_from_arrow(ArrowArrayStream* stream, const stope_options* options, stope_run* run,
                                  stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    Owned<ArrowArrayStream> owned(stream);
    begin_out(out);
    required(stream, "stream");
    const auto arrow = arrow_options(options);
    const JobRun job(run);
    *out = give_table(stope::import_arrow(owned.get(), arrow, job.options()));
  });
}

stope_code stope_table_from_arrow_array(ArrowSchema* schema, ArrowArray* batch, const stope_options* options,
                                        stope_run* run, stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    Owned<ArrowSchema> owned_schema(schema);
    Owned<ArrowArray> owned(batch);
    begin_out(out);
    required(schema, "schema");
    required(batch, "batch");
    const auto arrow = arrow_options(options);
    const JobRun job(run);
    *out = give_table(stope::import_arrow(owned_schema.get(), owned.get(), arrow, job.options()));
  });
}

stope_code stope_table_from_arrow_device(ArrowSchema* schema, ArrowDeviceArray* batch, const stope_options* options,
                                         stope_run* run, stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    Owned<ArrowSchema> owned_schema(schema);
    Owned<ArrowArray> owned(batch == nullptr ? nullptr : &batch->array);
    begin_out(out);
    required(schema, "schema");
    required(batch, "batch");
    const auto arrow = arrow_options(options);
    const JobRun job(run);
    ArrowDeviceArray whole = *batch;
    whole.array = *owned;
    owned.get()->release = nullptr;
    *out = give_table(stope::import_arrow(owned_schema.get(), &whole, arrow, job.options()));
  });
}

stope_code stope_table_from_array(const stope_array* values, const char* const* names, void (*release)(void*),
                                  void* context, stope_run* run, stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    const auto owner = owner_of(release, context);
    begin_out(out);
    auto view = view_of(values, "values");
    view.owner = owner;
    stope::jobs::Names given;
    for (std::int64_t i = 0; names != nullptr && i < view.n_columns; ++i) {
      given.emplace_back(required(names[i], "names"));
    }
    const JobRun job(run);
    auto table = stope::table_of(view, given, job.options());
    *out = give_table(std::move(table));
  });
}

stope_code stope_table_from_file(const char* path, const stope_options* options, stope_run* run, stope_table** out,
                                 stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const std::string file = required(path, "path");
    const auto read = read_options<stope::jobs::ReadJob>(options, "a table file").read;
    const JobRun job(run);
    *out = give_table(stope::read_table(file, read, job.options()));
  });
}

stope_code stope_table_with_role(const stope_table* table, const char* column, int32_t role, stope_table** out,
                                 stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    stope::Table changed = at<HeldTable>(table)->table;
    const auto wanted = role_of(role);
    const std::int64_t found = changed.find(required(column, "column"));
    if (found < 0) {
      stope::jobs::Names names;
      for (const stope::Column& one : changed.columns) names.push_back(one.name);
      throw Error(ErrorCode::invalid_argument,
                  "the table has no column '" + std::string(column) + "'" + stope::did_you_mean(column, names),
                  {.option = "column", .feature = column});
    }
    for (const stope::Column& one : changed.columns) {
      if (one.name != column) require_role_free(one.role, one.name, wanted, column);
    }
    changed.columns[static_cast<std::size_t>(found)].role = wanted;
    *out = give_table(std::move(changed));
  });
}

int64_t stope_table_rows(const stope_table* table) {
  const auto held = find<HeldTable>(table);
  return held == nullptr ? -1 : held->table.n_rows;
}

int64_t stope_table_columns(const stope_table* table) {
  const auto held = find<HeldTable>(table);
  return held == nullptr ? -1 : std::ssize(held->table.columns);
}

const char* stope_table_column_name(const stope_table* table, int64_t column) {
  const auto held = find<HeldTable>(table);
  const stope::Column* const of = held == nullptr ? nullptr : column_at(held->table, column);
  return of == nullptr ? nullptr : of->name.c_str();
}

const char* stope_table_value(const stope_table* table, int64_t column, int64_t code) {
  const auto held = find<HeldTable>(table);
  const stope::Column* const of = held == nullptr ? nullptr : column_at(held->table, column);
  if (of == nullptr || code < 0 || code >= static_cast<std::int64_t>(of->values.size())) return nullptr;
  return of->values[code].c_str();
}

const char* stope_table_schema(const stope_table* table) {
  const auto held = find<HeldTable>(table);
  return held == nullptr
             ? nullptr
             : held->schema.get([&] { return stope::jobs::json_text(stope::jobs::columns_json(held->table)); });
}

stope_code stope_table_to_arrow(const stope_table* table, ArrowSchema* schema, ArrowArray* batch, stope_error* error) {
  return guarded(error, [&] {
    if (schema != nullptr) schema->release = nullptr;
    if (batch != nullptr) batch->release = nullptr;
    required(schema, "schema");
    required(batch, "batch");
    stope::export_arrow(at<HeldTable>(table)->table, schema, batch);
  });
}

stope_code stope_table_copy(const stope_table* table, int64_t first, int64_t column, const stope_array* out,
                            stope_error* error) {
  return guarded(error, [&] { copy_out(at<HeldTable>(table)->table, first, column, out); });
}

stope_code stope_table_to_file(const stope_table* table, const char* path, stope_run* run, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<HeldTable>(table);
    const std::string file = required(path, "path");
    const JobRun job(run);
    stope::write_table(file, held->table, {}, job.options());
  });
}

void stope_table_free(stope_table* table) {
  remove_handle(table, Kind::table);
}
