// Tables as arrays of numbers: NPY, fvecs/bvecs/ivecs, raw. Rows are gathered a block at a time.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "io/number.hpp"
#include "io/write_table_formats.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;

[[noreturn]] void fail_cell(const Column& column, std::int64_t row, const std::string& what) {
  std::string text;
  append_number(text, column.at(row));
  throw Error(ErrorCode::unsupported,
              "column '" + column.name + "', row " + std::to_string(row) + ": " + text + " " + what,
              {.feature = column.name, .row = row});
}

/// Converts `value` to T. Floating types round to nearest. Values that would round to infinity are refused, as are
/// values that a whole-number type cannot hold exactly.
template <class T>
T converted(double value, const Column& column, std::int64_t row, const char* dtype) {
  if constexpr (std::is_same_v<T, float>) {
    // Half a unit in the last place above the largest float: the first value that would round to infinity.
    constexpr double kOverflow = 0x1.ffffffp127;
    if (std::isfinite(value) && std::fabs(value) >= kOverflow) fail_cell(column, row, "is beyond float32");
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto kLowest = static_cast<double>(std::numeric_limits<T>::min());
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);  // max + 1, exact also for int64
    if (!(value >= kLowest && value < above) || value != std::floor(value)) {
      fail_cell(column, row, std::string("is not of type ") + dtype);
    }
  }
  return static_cast<T>(value);
}

template <class T>
void fill_column(const Column& column, std::int64_t row0, std::int64_t row1, std::int64_t stride, char* to,
                 const char* dtype) {
  std::visit(
      [&](const auto& buffer) {
        for (std::int64_t row = row0; row < row1; ++row) {
          const T value = converted<T>(static_cast<double>(buffer[row]), column, row, dtype);
          std::memcpy(to + (row - row0) * stride, &value, sizeof value);
        }
      },
      column.data);
}

/// Writes all rows, with `prefix` in front of each.
template <class T>
void write_rows(const Table& table, std::string_view prefix, const char* dtype, const RunOptions& run,
                const ByteSink& sink) {
  for (const Column& column : table.columns) {
    if (!column.nominal()) continue;
    throw Error(ErrorCode::unsupported,
                "column '" + column.name +
                    "' is nominal, and an array holds numbers only: ignore the column, or write csv or arff",
                {.option = "ignore", .feature = column.name});
  }
  const auto width = static_cast<std::int64_t>(table.columns.size());
  const std::int64_t row_bytes = checked::add(checked::mul(width, sizeof(T)), static_cast<std::int64_t>(prefix.size()));
  const std::int64_t block_rows = std::max<std::int64_t>(1, kBlockBytes / row_bytes);
  std::string block;
  for (std::int64_t row = 0; row < table.n_rows; row += block_rows) {
    run.cancel.check();
    tell_progress(run, "write", row, table.n_rows);
    const std::int64_t end = std::min(table.n_rows, row + block_rows);
    block.resize(static_cast<std::size_t>((end - row) * row_bytes));
    for (std::int64_t r = 0; r < end - row; ++r) {
      std::copy(prefix.begin(), prefix.end(), block.begin() + r * row_bytes);
    }
    char* to = block.data() + prefix.size();
    for (const Column& column : table.columns) {
      fill_column<T>(column, row, end, row_bytes, to, dtype);
      to += sizeof(T);
    }
    sink(block);
  }
  tell_progress(run, "write", table.n_rows, table.n_rows);
}

void write_rows(const Table& table, const std::string& dtype, const RunOptions& run, const ByteSink& sink) {
  if (dtype == "float32") return write_rows<float>(table, {}, "float32", run, sink);
  if (dtype == "float64") return write_rows<double>(table, {}, "float64", run, sink);
  if (dtype == "int32") return write_rows<std::int32_t>(table, {}, "int32", run, sink);
  if (dtype == "int64") return write_rows<std::int64_t>(table, {}, "int64", run, sink);
  write_rows<std::uint8_t>(table, {}, "uint8", run, sink);
}

std::string npy_code(const std::string& dtype) {
  if (dtype == "float32") return "<f4";
  if (dtype == "float64") return "<f8";
  if (dtype == "int32") return "<i4";
  return dtype == "int64" ? "<i8" : "|u1";
}

void require_dtype(const std::string& dtype) {
  for (const char* known : {"float32", "float64", "int32", "int64", "uint8"}) {
    if (dtype == known) return;
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown dtype '" + dtype + "', use float32, float64, int32, int64 or uint8" +
                  did_you_mean(dtype, {"float32", "float64", "int32", "int64", "uint8"}),
              {.option = "dtype"});
}

}  // namespace

void write_npy(const Table& table, const std::string& dtype, const RunOptions& run, const ByteSink& sink) {
  sink(npy_header(dtype, table.n_rows, static_cast<std::int64_t>(table.columns.size())));
  write_rows(table, dtype, run, sink);
}

void write_vecs(const Table& table, Format format, const RunOptions& run, const ByteSink& sink) {
  if (table.n_rows == 0) {
    throw Error(ErrorCode::unsupported, "a table without rows has no fvecs, bvecs or ivecs form");
  }
  if (table.columns.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorCode::unsupported, std::to_string(table.columns.size()) + " columns are too many for fvecs");
  }
  const auto length = static_cast<std::int32_t>(table.columns.size());
  const std::string_view prefix(reinterpret_cast<const char*>(&length), sizeof length);
  if (format == Format::bvecs) return write_rows<std::uint8_t>(table, prefix, "uint8 (bvecs)", run, sink);
  if (format == Format::ivecs) return write_rows<std::int32_t>(table, prefix, "int32 (ivecs)", run, sink);
  write_rows<float>(table, prefix, "float32", run, sink);
}

void write_raw(const Table& table, const std::string& dtype, const RunOptions& run, const ByteSink& sink) {
  require_dtype(dtype);
  write_rows(table, dtype, run, sink);
}

}  // namespace stope::io

namespace stope {
namespace {

// A header for elements that `descr` describes in Python's words, in an array of that shape.
std::string header_of(const std::string& descr, const std::string& shape) {
  std::string dict = "{'descr': " + descr + ", 'fortran_order': False, 'shape': (" + shape + "), }";
  // Magic, version and length take 10 bytes; the format wants the data to begin at a multiple of 64.
  constexpr std::size_t kFixed = 10;
  constexpr std::size_t kAlignment = 64;
  dict.append(kAlignment - (kFixed + dict.size() + 1) % kAlignment, ' ');
  dict += '\n';
  std::string header = "\x93NUMPY";
  header += '\x01';
  header += '\0';
  header += static_cast<char>(dict.size() & 0xFF);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

}  // namespace

std::string npy_header(const std::string& dtype, std::int64_t n_rows, std::int64_t n_columns) try {
  io::require_dtype(dtype);
  return header_of("'" + io::npy_code(dtype) + "'", std::to_string(n_rows) + ", " + std::to_string(n_columns));
} catch (...) {
  rethrow_as_error();
}

std::string npy_header_of_lists(std::int64_t n_queries, std::int64_t width) try {
  const std::string k = std::to_string(width);
  return header_of("[('index', '<i8', (" + k + ",)), ('distance', '<f8', (" + k + ",))]",
                   std::to_string(n_queries) + ",");
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
