// Handles for tests of the C ABI: freed at the end of a block, and calls that must succeed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "stope/stope.h"

namespace capi_test {

using Json = nlohmann::json;

inline void free_handle(stope_run* handle) {
  stope_run_free(handle);
}
inline void free_handle(stope_options* handle) {
  stope_options_free(handle);
}
inline void free_handle(stope_table* handle) {
  stope_table_free(handle);
}
inline void free_handle(stope_builder* handle) {
  stope_builder_free(handle);
}
inline void free_handle(stope_model* handle) {
  stope_model_free(handle);
}
inline void free_handle(stope_lists* handle) {
  stope_lists_free(handle);
}

template <class Handle>
class Held {
 public:
  Held() = default;
  ~Held() { free_handle(handle_); }
  Held(Held&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  operator Handle*() const { return handle_; }  // NOLINT(google-explicit-constructor): as a C caller has it
  /// For a call that fills it.
  Handle** out() {
    free_handle(std::exchange(handle_, nullptr));
    return &handle_;
  }

 private:
  Handle* handle_ = nullptr;
};
using JobRun = Held<stope_run>;
using Options = Held<stope_options>;
using Table = Held<stope_table>;
using Builder = Held<stope_builder>;
using Model = Held<stope_model>;
using Lists = Held<stope_lists>;

struct Failure : stope_error {
  Failure() : stope_error{} { size = sizeof(stope_error); }
};

/// A call that must succeed: EXPECT_OK(stope_run_new(run.out(), &failure)).
#define EXPECT_OK(call) EXPECT_EQ((call), STOPE_OK) << failure.message
#define EXPECT_REFUSED(call, wanted, part)                                                    \
  do {                                                                                        \
    EXPECT_EQ((call), wanted) << failure.message;                                             \
    EXPECT_NE(std::string(failure.message).find(part), std::string::npos) << failure.message; \
  } while (false)

inline Options options(const std::vector<std::pair<const char*, const char*>>& all) {
  Options made;
  Failure failure;
  EXPECT_OK(stope_options_new(made.out(), &failure));
  for (const auto& [name, value] : all) EXPECT_OK(stope_options_set(made, name, value, &failure));
  return made;
}

inline stope_array array_of(const double* data, std::int64_t n_rows, std::int64_t n_columns) {
  return {data, n_rows, n_columns, n_columns * 8, 8, STOPE_FLOAT64, -1, nullptr, nullptr};
}

struct ColumnOf {
  const char* name;
  int32_t role;
  const char* type;
  std::vector<const char*> values;
};

inline Table table_of(const std::vector<ColumnOf>& columns, const std::vector<double>& rows) {
  Builder builder;
  Failure failure;
  EXPECT_OK(stope_builder_new(0, nullptr, builder.out(), &failure));
  for (const ColumnOf& one : columns) {
    EXPECT_OK(stope_builder_column(builder, one.name, one.role, one.type, one.values.data(), std::ssize(one.values),
                                   &failure));
  }
  const auto n = std::ssize(columns);
  const stope_array block = array_of(rows.data(), std::ssize(rows) / n, n);
  EXPECT_OK(stope_builder_append(builder, &block, &failure));
  Table table;
  EXPECT_OK(stope_builder_finish(builder, table.out(), &failure));
  return table;
}

/// What stope_run_report() or stope_run_warnings() says.
inline Json told(stope_run* run, std::int64_t (*ask)(stope_run*, char*, std::int64_t)) {
  const std::int64_t size = ask(run, nullptr, 0);
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(size, 1)), '?');
  EXPECT_EQ(ask(run, text.data(), size), size);
  return Json::parse(text.c_str());
}

/// Column `column` of a table.
inline std::vector<double> column(const stope_table* table, std::int64_t column) {
  std::vector<double> values(static_cast<std::size_t>(stope_table_rows(table)));
  const stope_array to = array_of(values.data(), std::ssize(values), 1);
  Failure failure;
  EXPECT_OK(stope_table_copy(table, 0, column, &to, &failure));
  return values;
}

inline Json schema(const stope_table* table) {
  return Json::parse(stope_table_schema(table));
}

/// The number of the column of that name.
inline std::int64_t find(const stope_table* table, const std::string& name) {
  const Json columns = schema(table);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i]["name"] == name) return static_cast<std::int64_t>(i);
  }
  ADD_FAILURE() << "no column " << name;
  return 0;
}

}  // namespace capi_test
