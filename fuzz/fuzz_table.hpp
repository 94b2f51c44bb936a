// Shared by the fuzz targets of table readers: a bounded run, "a valid table or a stope::Error", equality of tables.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <source_location>
#include <string>

#include "stope/error.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::fuzz {

/// Aborts where the condition does not hold, which the fuzzer reports with the input.
inline void require(bool condition, const std::source_location& where = std::source_location::current()) {
  if (condition) return;
  std::fprintf(stderr, "%s:%u: what is required does not hold\n", where.file_name(),
               static_cast<unsigned>(where.line()));
  std::abort();
}

inline RunOptions bounded_run(std::int64_t memory_limit = std::int64_t{1} << 26) {
  RunOptions run;
  run.threads = 1;
  run.memory_limit = memory_limit;
  return run;
}

/// The table `read` returns, valid, or nothing if it throws a stope::Error other than internal.
template <class Read>
std::optional<Table> table_or_error(const Read& read) {
  try {
    Table table = read();
    table.validate();
    return table;
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal && error.what()[0] != '\0');
    return std::nullopt;
  }
}

inline bool same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

/// Compares names, numbers to the bit, and nominal cells by code and by name.
inline void require_equal(const Table& a, const Table& b) {
  require(a.n_rows == b.n_rows && a.columns.size() == b.columns.size());
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    const Column& left = a.columns[c];
    const Column& right = b.columns[c];
    require(left.name == right.name && left.nominal() == right.nominal() && left.values == right.values);
    for (std::int64_t row = 0; row < a.n_rows; ++row) require(same_number(left.at(row), right.at(row)));
  }
}

}  // namespace stope::fuzz
