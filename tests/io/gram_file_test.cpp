// Gram files are read as they were written, and a file that lies is refused with the place.
#include "io/gram_file.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "expect_error.hpp"
#include "io/temporary_folder.hpp"

namespace stope {
namespace {

std::string file_of(std::int32_t columns, std::int32_t rows, int n_floats, char third = '\0') {
  std::string text(16, '\0');
  std::memcpy(text.data(), &columns, 4);
  std::memcpy(text.data() + 4, &rows, 4);
  text[11] = third;
  for (int i = 0; i < n_floats; ++i) {
    const auto value = static_cast<float>(i);
    text.append(reinterpret_cast<const char*>(&value), 4);
  }
  return text;
}

class GramFileTest : public TemporaryFolder {
 protected:
  void expect_refused(const std::string& text, const std::string& part) {
    const std::string path = put("a.gram", text);
    try {
      read_gram_file(path);
      FAIL() << "no error about " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_data);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("a.gram"), std::string::npos) << error.what();
    }
  }
};

TEST_F(GramFileTest, ReadsColumnsRowsAndVector) {
  const GramFile file = read_gram_file(put("a.gram", file_of(3, 2, 9)));
  EXPECT_EQ(file.n_columns, 3);
  EXPECT_EQ(file.n_rows, 2);
  ASSERT_EQ(file.values.size(), 6U);
  EXPECT_EQ(file.values[4], 4.0F);  // row 1, column 1
  ASSERT_EQ(file.vector.size(), 3U);
  EXPECT_EQ(file.vector[0], 6.0F);
}

TEST_F(GramFileTest, RefusesFilesThatLie) {
  expect_refused("", "header");
  expect_refused(std::string(15, '\0'), "needs 16 bytes, 15 are left");
  expect_refused(file_of(0, 1, 1), "0 columns");
  expect_refused(file_of(2, -5, 1), "-5 rows");
  expect_refused(file_of(1, 1, 2, '\1'), "byte 11 of the header is not zero");
  expect_refused(file_of(3, 2, 0), "it ends in row 0");
  expect_refused(file_of(3, 2, 5), "it ends in row 1");
  expect_refused(file_of(3, 2, 6), "the vector is cut off");
  expect_refused(file_of(3, 2, 8), "the vector is cut off");
  expect_refused(file_of(3, 2, 9).substr(0, 16 + 35), "the vector is cut off");
  expect_refused(file_of(3, 2, 10), "the last 4 belong to nothing");
  expect_refused(file_of(2147483647, 2147483647, 9), "it ends in row 0");
}

TEST_F(GramFileTest, ResultsHaveOneRowAndNoVector) {
  const std::string path = put("a.gram", file_of(4, 1, 4));
  EXPECT_EQ(read_gram_result(path), (std::vector<float>{0.0F, 1.0F, 2.0F, 3.0F}));
  expect_error(ErrorCode::invalid_data, "4 columns and 2 rows, a result has one row",
               [&] { read_gram_result(put("a.gram", file_of(4, 2, 8))); });
  expect_error(ErrorCode::invalid_data, "it ends in row 0", [&] { read_gram_result(put("a.gram", file_of(4, 1, 3))); });
  expect_error(ErrorCode::invalid_data, "the last 4 belong to nothing",
               [&] { read_gram_result(put("a.gram", file_of(4, 1, 5))); });
  const std::string back = at("z.gram");
  OutputFile file(back);
  const std::vector<float> numbers = {1.5F, -2.0F};
  write_gram_result(file, numbers);
  file.commit();
  EXPECT_EQ(read_gram_result(back), numbers);
}

TEST_F(GramFileTest, RandomFilesAreTheSameWithAnyNumberOfThreads) {
  for (const auto& [columns, rows] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {512, 768}, {1000, 1313}}) {
    std::string first;
    for (const int threads : {1, 2, 5}) {
      const std::string path = at("r.gram");
      OutputFile out(path);
      RunOptions run;
      run.threads = threads;
      write_random_gram_file(out, columns, rows, 7, run);
      out.commit();
      const std::string text = content("r.gram");
      if (first.empty()) first = text;
      EXPECT_EQ(text, first) << threads << " threads";
    }
    const GramFile file = read_gram_file(at("r.gram"));
    EXPECT_EQ(file.n_columns, columns);
    EXPECT_EQ(file.n_rows, rows);
    double sum = 0.0;
    for (const float v : file.values) {
      ASSERT_GE(v, -1.0F);
      ASSERT_LT(v, 1.0F);
      sum += static_cast<double>(v);
    }
    if (rows > 1) {
      EXPECT_NEAR(sum / static_cast<double>(file.values.size()), 0.0, 0.01);
    }
  }
  // These are the first bytes for seed 7, for all time.
  const GramFile file = read_gram_file(at("r.gram"));
  EXPECT_EQ(file.values[0], 0.2187889814376831F);
  EXPECT_EQ(file.values[70000], -0.8707458972930908F);
}

TEST_F(GramFileTest, RefusesSizesThatNoHeaderHolds) {
  OutputFile out(at("x.gram"));
  expect_error(ErrorCode::invalid_argument, "(columns) 0: a gram file has 1 to 2147483647",
               [&] { write_random_gram_file(out, 0, 5, 1); });
  expect_error(ErrorCode::invalid_argument, "2147483648: a gram file has 1 to 2147483647",
               [&] { write_random_gram_file(out, 5, std::int64_t{1} << 31, 1); });
}

}  // namespace
}  // namespace stope
