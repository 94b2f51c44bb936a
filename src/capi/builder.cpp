// Builders of the C ABI: rows of numbers that come in blocks.
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capi/array.hpp"
#include "capi/guarded.hpp"
#include "capi/handles.hpp"
#include "capi/model.hpp"
#include "capi/run.hpp"
#include "capi/table.hpp"
#include "stope/error.hpp"
#include "stope/table_builder.hpp"

namespace stope::capi {
namespace {

// Columns are added until the first rows come; then the core's builder takes over. The mutex makes a caller's mistake
// harmless: a builder belongs to one thread at a time.
struct Builder {
  std::mutex mutex;
  Schema columns;
  std::int64_t n_rows_expected = 0;
  LastingRun run;
  std::optional<TableBuilder> rows;

  TableBuilder& begun() {
    if (!rows) rows.emplace(columns, n_rows_expected, run.options);
    return *rows;
  }
};

// Throws invalid_argument for a name that another column has, and for a second label, id or weight.
void require_new(const Schema& columns, const ColumnSpec& added) {
  for (const ColumnSpec& one : columns.columns) {
    if (one.name == added.name) {
      throw Error(ErrorCode::invalid_argument, "two columns have the name '" + added.name + "'",
                  {.option = "name", .feature = added.name});
    }
    require_role_free(one.role, one.name, added.role, added.name);
  }
}

// The names of a column's codes. Throws invalid_argument for one that repeats.
Values values_of(const char* const* values, std::int64_t n) {
  if (n < 0) {
    throw Error(ErrorCode::invalid_argument, "n_values is " + std::to_string(n), {.option = "n_values"});
  }
  if (n > 0) required(values, "values");
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (std::int64_t i = 0; i < n; ++i) {
    names.emplace_back(required(values[i], "values"));
    if (seen.insert(values[i]).second) continue;
    throw Error(ErrorCode::invalid_argument, "the value '" + names.back() + "' has two codes", {.option = "values"});
  }
  return names;
}

std::shared_ptr<Builder> make_builder(std::int64_t n_rows_expected, stope_run* run) {
  if (n_rows_expected < 0) {
    throw Error(ErrorCode::invalid_argument, "n_rows_expected is " + std::to_string(n_rows_expected),
                {.option = "n_rows_expected"});
  }
  auto builder = std::make_shared<Builder>();
  builder->n_rows_expected = n_rows_expected;
  builder->run = lasting_run(run);
  return builder;
}

}  // namespace

template <>
struct KindOf<Builder> {
  static constexpr Kind value = Kind::builder;
};

}  // namespace stope::capi

using namespace stope::capi;

stope_code stope_builder_new(int64_t n_rows_expected, stope_run* run, stope_builder** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    *out = give<stope_builder>(make_builder(n_rows_expected, run));
  });
}

stope_code stope_builder_for_model(const stope_model* model, int64_t n_rows_expected, stope_run* run,
                                   stope_builder** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const auto held = at<HeldModel>(model);
    auto builder = make_builder(n_rows_expected, run);
    for (const stope::Column& column : held->features().columns) {
      builder->columns.columns.push_back({column.name, column.type, column.role, column.values});
    }
    *out = give<stope_builder>(std::move(builder));
  });
}

stope_code stope_builder_column(stope_builder* builder, const char* name, int32_t role, const char* type,
                                const char* const* values, int64_t n_values, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<Builder>(builder);
    const stope::ColumnSpec column{required(name, "name"), stope::value_type(required(type, "type")), role_of(role),
                                   values_of(values, n_values)};
    if (!stope::is_nominal(column.type) && !column.values.empty()) {
      throw stope::Error(stope::ErrorCode::invalid_argument, "column '" + column.name + "' of numbers has values",
                         {.option = "values", .feature = column.name});
    }
    const std::lock_guard lock(held->mutex);
    if (held->rows) {
      throw stope::Error(stope::ErrorCode::invalid_argument,
                         "the builder has taken rows already: column '" + column.name + "' comes too late",
                         {.feature = column.name});
    }
    require_new(held->columns, column);
    held->columns.columns.push_back(column);
  });
}

stope_code stope_builder_append(stope_builder* builder, const stope_array* rows, stope_error* error) {
  return guarded(error, [&] {
    const auto held = at<Builder>(builder);
    const auto view = view_of(rows, "rows");
    const std::lock_guard lock(held->mutex);
    held->begun().append(view);
  });
}

stope_code stope_builder_finish(stope_builder* builder, stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const auto held = at<Builder>(builder);
    const std::lock_guard lock(held->mutex);
    *out = give_table(held->begun().finish());
  });
}

void stope_builder_free(stope_builder* builder) {
  remove_handle(builder, Kind::builder);
}
