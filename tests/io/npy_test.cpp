// The NPY reader: versions, orders, types, and headers that lie.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

std::string npy(const std::string& dict, const std::string& body, int version = 1, std::int64_t length = -1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  const std::uint64_t size = length >= 0 ? static_cast<std::uint64_t>(length) : dict.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(size >> (8 * i) & 0xFF);
  return text + dict + body;
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }   \n";
}

template <class T>
std::string bytes_of_values(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Table read(const std::string& file, const RunOptions& run = {}) {
  // An exact-size copy on the heap: the address sanitizer sees any step beyond the file.
  const std::vector<char> copy(file.begin(), file.end());
  return read_npy({{copy.data(), copy.size()}, nullptr, "a.npy"}, run);
}

void expect_fault(const std::string& file, ErrorCode code, const std::string& part) {
  try {
    read(file);
    ADD_FAILURE() << "no error, expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("a.npy"), 0U) << error.what();
  }
}

template <class T>
void expect_type(const std::string& descr, ValueType type, bool single) {
  const std::vector<T> values = {T(1), T(2), T(3), T(4), T(100), T(6)};
  for (const std::string order : {"False", "True"}) {
    const Table table = read(npy(header(descr, order, "3, 2"), bytes_of_values(values)));
    table.validate();
    ASSERT_EQ(table.n_rows, 3);
    ASSERT_EQ(table.columns.size(), 2U);
    EXPECT_EQ(table.columns[0].name, "1");
    EXPECT_EQ(table.columns[1].name, "2");
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 2; ++c) {
        const T expected = order == "True" ? values[c * 3 + r] : values[r * 2 + c];
        EXPECT_EQ(table.columns[c].at(static_cast<std::int64_t>(r)), static_cast<double>(expected)) << descr << order;
        EXPECT_EQ(table.columns[c].type, type);
        EXPECT_EQ(std::holds_alternative<Buffer<float>>(table.columns[c].data), single) << descr;
      }
    }
  }
}

TEST(Npy, TypesAndOrders) {
  expect_type<float>("<f4", ValueType::real, true);
  expect_type<double>("<f8", ValueType::real, false);
  expect_type<std::int8_t>("|i1", ValueType::integer, true);
  expect_type<std::int16_t>("<i2", ValueType::integer, true);
  expect_type<std::int32_t>("<i4", ValueType::integer, false);
  expect_type<std::int64_t>("<i8", ValueType::integer, false);
  expect_type<std::uint8_t>("|u1", ValueType::integer, true);
  expect_type<std::uint16_t>("<u2", ValueType::integer, true);
  expect_type<std::uint32_t>("<u4", ValueType::integer, false);
  expect_type<std::uint8_t>("|b1", ValueType::integer, true);
}

TEST(Npy, SpecialValuesKeepTheirBits) {
  const std::vector<double> values = {-0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 5e-324, 1.7976931348623157e308, 0.1};
  const Table table = read(npy(header("<f8", "False", "7,"), bytes_of_values(values)));
  ASSERT_EQ(table.n_rows, 7);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double got = table.columns[0].at(static_cast<std::int64_t>(i));
    EXPECT_EQ(std::memcmp(&got, &values[i], sizeof got), 0) << i;
  }
}

TEST(Npy, VersionsAndSpellings) {
  const std::string body = bytes_of_values<double>({1, 2});
  for (int version = 1; version <= 3; ++version) {
    EXPECT_EQ(read(npy(header("<f8", "False", "2,"), body, version)).n_rows, 2);
  }
  EXPECT_EQ(read(npy("{\"shape\":(2L,1L),\"fortran_order\":True,\"descr\":\"<f8\"}", body)).n_rows, 2);
  EXPECT_EQ(read(npy(header("<f8", "False", "2"), body)).n_rows, 2) << "(2) is written by hand only, but clear";
  EXPECT_EQ(read(npy(header("f8", "False", "2,"), body)).n_rows, 2);
  EXPECT_EQ(read(npy(header("<f8", "False", "1, 2"), body)).columns.size(), 2U);
}

TEST(Npy, TilesAndTasks) {
  // Sizes around the transposition's tile (64 x 16) and its task (2^20 elements), both orders, one and many threads.
  for (const std::int64_t columns : {1, 15, 16, 17, 33, 1000}) {
    for (const std::int64_t rows : {1, 63, 64, 65, 129, 1100}) {
      std::vector<std::int32_t> values(static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * 7);
      for (const std::string order : {"False", "True"}) {
        RunOptions run;
        run.threads = rows > 1000 ? 3 : 1;
        const Table table = read(
            npy(header("<i4", order, std::to_string(rows) + "," + std::to_string(columns)), bytes_of_values(values)),
            run);
        std::int64_t wrong = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < columns; ++c) {
            const std::int64_t at = order == "True" ? c * rows + r : r * columns + c;
            wrong += table.columns[static_cast<std::size_t>(c)].at(r) != static_cast<double>(at * 7) ? 1 : 0;
          }
        }
        EXPECT_EQ(wrong, 0) << rows << "x" << columns << " " << order;
      }
    }
  }
}

TEST(Npy, Int64BeyondDoubles) {
  const std::int64_t limit = std::int64_t{1} << 53;
  const Table table = read(npy(header("<i8", "False", "2,"), bytes_of_values<std::int64_t>({limit, -limit})));
  EXPECT_EQ(table.columns[0].at(0), 0x1p53);
  expect_fault(npy(header("<i8", "False", "2, 2"), bytes_of_values<std::int64_t>({1, 2, 3, limit + 1})),
               ErrorCode::unsupported, "row 1, column 2: the int64 9007199254740993");
  expect_fault(npy(header("<i8", "False", "1,"), bytes_of_values<std::int64_t>({INT64_MIN})), ErrorCode::unsupported,
               "row 0, column 1");
}

TEST(Npy, NoRows) {
  const Table table = read(npy(header("<f8", "False", "0, 4"), ""));
  EXPECT_EQ(table.n_rows, 0);
  EXPECT_EQ(table.columns.size(), 4U);
  expect_fault(npy(header("<f8", "False", "0, 1000000000000"), ""), ErrorCode::invalid_data, "holds no data");
  expect_fault(npy(header("<f8", "False", "1000000000000, 0"), ""), ErrorCode::invalid_data, "holds no data");
}

TEST(Npy, LyingShapes) {
  const std::string body(64, '\1');
  for (const char* shape :
       {"1000, 1000", "8, 2", "9,", "7,", "4611686018427387904, 8", "4611686018427387904, 4611686018427387904",
        "9223372036854775807,", "1, 9223372036854775807", "2305843009213693952, 8"}) {
    expect_fault(npy(header("<f8", "False", shape), body), ErrorCode::invalid_data, "does not fit the 64 bytes");
  }
  expect_fault(npy(header("<f8", "False", "8,"), body + "x"), ErrorCode::invalid_data, "does not fit the 65 bytes");
  expect_fault(npy(header("<f8", "False", "-1, 8"), body), ErrorCode::invalid_data, "a size of the shape");
  expect_fault(npy(header("<f8", "False", "9223372036854775808,"), body), ErrorCode::invalid_data,
               "a size of the shape");
  expect_fault(npy(header("<f8", "False", "x"), body), ErrorCode::invalid_data, "a size of the shape");
  expect_fault(npy(header("<f8", "False", ""), body), ErrorCode::unsupported, "shape () is not a table");
  expect_fault(npy(header("<f8", "False", "2, 2, 2"), body), ErrorCode::unsupported, "shape (2, 2, 2) is not a table");
}

TEST(Npy, BadHeaders) {
  const std::string body(32, '\0');
  expect_fault("", ErrorCode::invalid_data, "not an NPY file");
  expect_fault("\x93NUMPZ\x01", ErrorCode::invalid_data, "not an NPY file");
  expect_fault("\x93NUMPY", ErrorCode::invalid_data, "the version");
  expect_fault("\x93NUMPY\x01", ErrorCode::invalid_data, "the version");
  expect_fault(npy("{", "", 2, INT64_C(1) << 31), ErrorCode::invalid_data, "a header of 2147483648 bytes");
  expect_fault(npy("{", "", 1, 5000), ErrorCode::invalid_data, "the header at byte 10 needs 5000 bytes, 1 are left");
  expect_fault(npy(header("<f8", "False", "4,"), body, 9), ErrorCode::unsupported, "NPY version 9.0");
  expect_fault(npy("hello\n", body), ErrorCode::invalid_data, "header at byte 10: expected '{'");
  expect_fault(npy("{'descr': '<f8'}", body), ErrorCode::invalid_data, "is not there");
  expect_fault(npy("{'descr': '<f8', 'descr': '<f8'}", body), ErrorCode::invalid_data, "repeated");
  expect_fault(npy("{'other': 1}", body), ErrorCode::invalid_data, "the key 'other'");
  expect_fault(npy(header("<f8", "Maybe", "4,"), body), ErrorCode::invalid_data, "neither True nor False");
  expect_fault(npy(header("<f8", "False", "4,") + "x", body), ErrorCode::invalid_data, "text after the dict");
  expect_fault(npy("{'descr': '<f8", body), ErrorCode::invalid_data, "unterminated");
  expect_fault(npy("{'descr': '<f8", ""), ErrorCode::invalid_data, "unterminated");
  expect_fault(npy("{'des\x1b': '<f8'}", ""), ErrorCode::invalid_data, "unexpected character");
  expect_fault(npy(header("|O", "False", "4,"), body), ErrorCode::unsupported, "dtype '|O'");
  expect_fault(npy(header(">f8", "False", "4,"), body), ErrorCode::unsupported, "big-endian");
  expect_fault(npy(header("<f2", "False", "4,"), body), ErrorCode::unsupported, "'<f2'");
  expect_fault(npy(header("<c16", "False", "2,"), body), ErrorCode::unsupported, "'<c16'");
  expect_fault(npy("{'descr': '<f8', 'fortran_order': False}", body), ErrorCode::invalid_data, "is not there");
  expect_fault(npy("{'shape': (4,), 'shape': (4,)}", body), ErrorCode::invalid_data, "repeated");
  expect_fault(npy("{'fortran_order': True, 'fortran_order': True}", body), ErrorCode::invalid_data, "repeated");
  for (const char* odd : {"{'a\\b': 1}", "{'a\x7f': 1}"}) {
    expect_fault(npy(odd, body), ErrorCode::invalid_data, "unexpected character");
  }
  std::string minor = npy(header("<f8", "False", "4,"), body);
  minor[7] = 1;
  expect_fault(minor, ErrorCode::unsupported, "NPY version 1.1");
  expect_fault(npy(header("<f8", "False", "1, 1, 1, 1, 1, 1, 1, 1, 4"), body), ErrorCode::unsupported, ", ...)");
  expect_fault(npy("{'descr': [('x', '<f8')], }", body), ErrorCode::unsupported, "structured");
}

TEST(Npy, EveryCutIsAnError) {
  const std::string file = npy(header("<f4", "True", "3, 2"), bytes_of_values<float>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read(file).n_rows, 3);
  for (std::size_t n = 0; n < file.size(); ++n)
    expect_error(ErrorCode::invalid_data, n < 6 ? "not an NPY file" : "a.npy: ", [&] { read(file.substr(0, n)); });
}

TEST(Npy, MemoryLimitAndCancellation) {
  const std::string file = npy(header("<f8", "False", "1000, 10"), std::string(80000, '\0'));
  RunOptions run;
  run.memory_limit = 159999;  // the table exceeds half of it
  EXPECT_EQ(read(file, run).bytes_in_memory(), 0);
  run.memory_limit = 160000;
  EXPECT_EQ(read(file, run).bytes_in_memory(), 80000);
  run.memory_limit = 1000;  // the cost of ten columns apart from their values
  try {
    read(file, run);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
  }
  run.cancel.cancel();
  expect_error(ErrorCode::out_of_memory, "the table needs at least 12000 bytes, but the memory limit leaves 1000",
               [&] { read(file, run); });
}

}  // namespace
}  // namespace stope::io
