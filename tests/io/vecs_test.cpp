// fvecs, bvecs, ivecs: rows with their length in front.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

template <class T>
std::string row(std::int32_t length, const std::vector<T>& values) {
  std::string bytes(sizeof length + values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  if (!values.empty()) std::memcpy(bytes.data() + sizeof length, values.data(), values.size() * sizeof(T));
  return bytes;
}

Table read(const std::string& file, Format format, const RunOptions& run = {}) {
  const std::vector<char> copy(file.begin(), file.end());
  return read_vecs({{copy.data(), copy.size()}, nullptr, "x.vecs"}, format, run);
}

void expect_fault(const std::string& file, Format format, const std::string& part) {
  try {
    read(file, format);
    ADD_FAILURE() << "no error, expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), "invalid_data") << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("x.vecs"), 0U) << error.what();
  }
}

TEST(Vecs, Floats) {
  const Table table = read(row<float>(3, {1, -0.0F, 0.1F}) + row<float>(3, {4, 5, 6}), Format::fvecs);
  table.validate();
  ASSERT_EQ(table.n_rows, 2);
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[2].name, "3");
  EXPECT_EQ(table.columns[2].type, ValueType::real);
  EXPECT_TRUE(std::holds_alternative<Buffer<float>>(table.columns[0].data));
  EXPECT_EQ(table.columns[2].at(0), static_cast<double>(0.1F));
  EXPECT_TRUE(std::signbit(table.columns[1].at(0)));
  EXPECT_EQ(table.columns[0].at(1), 4);
}

TEST(Vecs, BytesAndIntegers) {
  const Table bytes = read(row<std::uint8_t>(2, {0, 255}) + row<std::uint8_t>(2, {7, 8}), Format::bvecs);
  EXPECT_EQ(bytes.columns[1].at(0), 255);
  EXPECT_EQ(bytes.columns[0].at(1), 7);
  EXPECT_EQ(bytes.columns[0].type, ValueType::integer);
  EXPECT_TRUE(std::holds_alternative<Buffer<float>>(bytes.columns[0].data));
  const Table integers = read(row<std::int32_t>(1, {INT32_MIN}) + row<std::int32_t>(1, {16777217}), Format::ivecs);
  EXPECT_EQ(integers.columns[0].at(0), INT32_MIN);
  EXPECT_EQ(integers.columns[0].at(1), 16777217) << "no float32: it would be rounded";
  EXPECT_EQ(integers.columns[0].type, ValueType::integer);
}

TEST(Vecs, BadRows) {
  for (const Format format : {Format::fvecs, Format::bvecs, Format::ivecs}) {
    expect_fault("", format, "empty");
    expect_fault("abc", format, "row 0 at byte 0 has 3 bytes");
    expect_fault(row<float>(-2, {1, 2}), format, "row 0 at byte 0 has the impossible length -2");
    expect_fault(row<float>(0, {}), format, "impossible length 0");
    expect_fault(row<float>(INT32_MAX, {1, 2}), format, "row 0 at byte 0 is cut off: 2147483647 values need");
  }
  expect_fault(row<float>(2, {1, 2}) + row<float>(3, {1, 2, 3}), Format::fvecs,
               "row 1 at byte 12 has 3 values, the first row has 2");
  expect_fault(row<float>(2, {1, 2}) + row<float>(2, {1}), Format::fvecs,
               "row 1 at byte 12 is cut off: 2 values need 8 bytes, 4 are left");
  expect_fault(row<std::uint8_t>(2, {1, 2}) + "xyz", Format::bvecs, "row 1 at byte 6 has 3 bytes");
}

TEST(Vecs, ManyRowsAndLimits) {
  for (const int rows : {1, 63, 64, 65, 1000}) {
    std::string file;
    for (int r = 0; r < rows; ++r) file += row<std::uint8_t>(3, {static_cast<std::uint8_t>(r), 1, 2});
    const Table table = read(file, Format::bvecs);
    ASSERT_EQ(table.n_rows, rows);
    for (int r = 0; r < rows; ++r) ASSERT_EQ(table.columns[0].at(r), r % 256);
    RunOptions run;
    run.memory_limit = 10;
    expect_error(ErrorCode::out_of_memory, "the table needs at least 3600 bytes",
                 [&] { read(file, Format::bvecs, run); });
    run.memory_limit = 0;
    run.cancel.cancel();
    expect_error(ErrorCode::cancelled, "cancelled", [&] { read(file, Format::bvecs, run); });
  }
}

}  // namespace
}  // namespace stope::io
