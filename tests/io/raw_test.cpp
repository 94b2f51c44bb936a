// Raw arrays must have a size of whole rows.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "io/readers.hpp"

namespace stope::io {
namespace {

template <class T>
Table read(const std::vector<T>& values, std::int64_t n_features, const std::string& dtype) {
  ReadOptions options;
  options.n_features = n_features;
  options.dtype = dtype;
  const std::string_view view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return read_raw({view, nullptr, "x.raw"}, options, {});
}

template <class F>
void expect_error(ErrorCode code, const std::string& part, F&& call) {
  try {
    call();
    ADD_FAILURE() << "no error, expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Raw, Types) {
  const Table f4 = read<float>({1, 2, 3, 4, 5, 0.1F}, 3, "float32");
  ASSERT_EQ(f4.n_rows, 2);
  EXPECT_EQ(f4.columns[2].at(1), static_cast<double>(0.1F));
  EXPECT_TRUE(std::holds_alternative<Buffer<float>>(f4.columns[0].data));
  EXPECT_EQ(read<double>({1, 0.1}, 1, "float64").columns[0].at(1), 0.1);
  EXPECT_EQ(read<std::int32_t>({1, -7}, 2, "int32").columns[1].at(0), -7);
  EXPECT_EQ(read<std::int64_t>({1, -7}, 2, "int64").columns[1].type, ValueType::integer);
  EXPECT_EQ(read<std::uint8_t>({1, 255}, 2, "uint8").columns[1].at(0), 255);
}

TEST(Raw, SizesAndOptions) {
  EXPECT_EQ(read<float>({}, 3, "float32").n_rows, 0);
  expect_error(ErrorCode::invalid_data, "x.raw: 16 bytes are not a whole number of rows of 3 x float32 (12 bytes each)",
               [] { read<float>({1, 2, 3, 4}, 3, "float32"); });
  expect_error(ErrorCode::invalid_argument, "n_features), got 0", [] { read<float>({1}, 0, "float32"); });
  expect_error(ErrorCode::invalid_argument, "got -3", [] { read<float>({1}, -3, "float32"); });
  expect_error(ErrorCode::invalid_argument, "'float16'", [] { read<float>({1}, 1, "float16"); });
  expect_error(ErrorCode::invalid_argument, "did you mean 'float32'", [] { read<float>({1}, 1, "flaot32"); });
  expect_error(ErrorCode::out_of_memory, "exceeds", [] { read<float>({1}, INT64_MAX, "float32"); });
  expect_error(ErrorCode::out_of_memory, "memory limit", [] { read<float>({}, INT64_MAX / 4096, "float32"); });
  expect_error(ErrorCode::unsupported, "row 1, column 1", [] { read<std::int64_t>({1, INT64_MAX}, 1, "int64"); });
}

}  // namespace
}  // namespace stope::io
