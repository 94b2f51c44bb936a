// Compares the CSV reader with an independent slow reader, over random files. Chunks are so short that every kind of
// record meets every kind of boundary.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/random.hpp"
#include "effort.hpp"
#include "io/csv/reader.hpp"
#include "oracle/csv_oracle.hpp"

namespace stope::io {
namespace {

struct Shape {
  char separator = ',';
  const char* line_end = "\n";
  int quoting = 0;   // percent
  int oddities = 0;  // percent: blanks, literal quotes, empty lines, lone CRs
};

std::string random_number(Random& random) {
  std::string text;
  if (random.below(3) == 0) text += random.below(4) == 0 ? "+" : "-";
  // Digits that a double loses make a whole column text, so they are rare.
  const std::uint64_t n_whole = random.below(random.below(150) == 0 ? 22 : 8);
  const bool zeros = random.below(150) == 0;
  for (std::uint64_t i = 0; i < n_whole; ++i) {
    text += static_cast<char>(i == 0 && !zeros && n_whole > 1 ? '1' + random.below(9) : '0' + random.below(10));
  }
  if (random.below(2) == 0) {
    text += '.';
    const std::uint64_t n_fraction = random.below(random.below(8) == 0 ? 25 : 7);
    for (std::uint64_t i = 0; i < n_fraction; ++i) text += static_cast<char>('0' + random.below(10));
  }
  if (random.below(6) == 0) text += "e" + std::to_string(static_cast<int>(random.below(700)) - 350);
  if (random.below(40) == 0) text = random.below(2) == 0 ? "Infinity" : "-inf";
  return text;
}

std::string random_date(Random& random) {
  const auto two = [&](std::uint64_t n) { return std::to_string(100 + random.below(n)).substr(1); };
  std::string text = std::to_string(random.below(20) == 0 ? 1000 + random.below(9000) : 1950 + random.below(150));
  text +=
      "-" + std::to_string(101 + random.below(12)).substr(1) + "-" + std::to_string(101 + random.below(28)).substr(1);
  if (random.below(400) == 0) return "2023-02-29";
  if (random.below(2) == 0) return text;
  text += (random.below(2) == 0 ? "T" : " ") + two(24) + ":" + two(60);
  if (random.below(4) != 0) text += ":" + two(60);
  if (random.below(4) == 0 && text.size() > 16)
    text += "." + std::to_string(random.below(random.below(99) == 0 ? 99999999 : 9999));
  if (random.below(8) == 0) text += random.below(2) == 0 ? "Z" : random.below(2) == 0 ? "+05:30" : "-08";
  return text;
}

std::string random_word(Random& random) {
  static const char* const kWords[] = {"a",
                                       "b",
                                       "NA",
                                       "?",
                                       "naïve",
                                       "x\"y",
                                       "two words",
                                       "New\nline",
                                       "a,b;c",
                                       "ß",
                                       "",
                                       "exactly8",
                                       "exactly-sixteen!",
                                       "seventeen letters",
                                       "NaN",
                                       "-",
                                       ".",
                                       "+",
                                       "e5",
                                       "1e",
                                       "--1",
                                       "1.2.3",
                                       "0x1F",
                                       "1 2",
                                       "inf",
                                       "Sammy's",
                                       "\"",
                                       "\"\"",
                                       "\t",
                                       "1,5",
                                       "carriage\rreturn"};
  if (random.below(5) == 0) return "v" + std::to_string(random.below(3000));
  return kWords[random.below(std::size(kWords))];
}

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    if (c == '"') result += c;
  }
  return result + "\"";
}

enum class Filling { words, numbers, comma_numbers, dates };

std::string random_field(Random& random, const Shape& shape, Filling filling) {
  std::string text;
  if (random.below(8) == 0) {
    text = random.below(2) == 0 ? "" : random.below(2) == 0 ? "?" : "NA";
  } else {
    text = filling == Filling::words   ? random_word(random)
           : filling == Filling::dates ? random_date(random)
                                       : random_number(random);
    if (filling == Filling::comma_numbers) std::replace(text.begin(), text.end(), '.', ',');
  }
  const bool odd = random.below(100) < static_cast<std::uint64_t>(shape.oddities);
  const bool must = text.find_first_of(std::string("\n\r") + shape.separator) != std::string::npos ||
                    (!odd && text.find('"') != std::string::npos);
  if (must || random.below(100) < static_cast<std::uint64_t>(shape.quoting)) text = quote(text);
  if (odd && random.below(3) == 0) text = " " + text + (random.below(2) == 0 ? "  " : "");
  return text;
}

std::string random_csv(Random& random, const Shape& shape) {
  const std::uint64_t n_columns = 1 + random.below(6);
  const std::uint64_t n_rows = random.below(60);
  std::vector<Filling> fillings;
  std::string text;
  for (std::uint64_t c = 0; c < n_columns; ++c) {
    fillings.push_back(static_cast<Filling>(random.below(4)));
    text += (c > 0 ? std::string(1, shape.separator) : "") + "col" + std::to_string(c);
  }
  text += shape.line_end;
  for (std::uint64_t r = 0; r < n_rows; ++r) {
    const bool odd = random.below(400) < static_cast<std::uint64_t>(shape.oddities);
    if (odd && random.below(2) == 0) text += random.below(2) == 0 ? "  " : "";
    if (odd && random.below(2) == 0) text += random.below(2) == 0 ? shape.line_end : "\r";
    const std::uint64_t ragged = odd && random.below(20) == 0 ? 1 : 0;
    for (std::uint64_t c = 0; c < n_columns + ragged; ++c) {
      if (c > 0) text += shape.separator;
      text += random_field(random, shape,
                           c < n_columns && (r < 50 || random.below(30) != 0) ? fillings[c] : Filling::words);
    }
    if (r + 1 < n_rows || random.below(3) != 0) text += shape.line_end;
  }
  if (random.below(300) < static_cast<std::uint64_t>(shape.oddities)) text += "\"";
  return text;
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_equal(const Table& table, const oracle::CsvTable& expected, const std::string& text) {
  ASSERT_EQ(table.columns.size(), expected.columns.size()) << text;
  ASSERT_EQ(table.n_rows, static_cast<std::int64_t>(expected.n_rows)) << text;
  table.validate();
  for (std::size_t c = 0; c < expected.columns.size(); ++c) {
    const Column& column = table.columns[c];
    const oracle::CsvColumn& wanted = expected.columns[c];
    ASSERT_EQ(column.name, wanted.name);
    ASSERT_EQ(column.nominal(), !wanted.numeric) << wanted.name << "\n" << text;
    ASSERT_EQ(column.type == ValueType::date, wanted.dates) << wanted.name << "\n" << text;
    if (column.nominal()) {
      ASSERT_EQ(column.values, wanted.sorted_values) << text;
    }
    for (std::size_t r = 0; r < expected.n_rows; ++r) {
      const auto row = static_cast<std::int64_t>(r);
      if (!column.nominal()) {
        ASSERT_TRUE(same_bits(column.at(row), wanted.numbers[r]))
            << wanted.name << " row " << r << ": " << column.at(row) << " != " << wanted.numbers[r] << "\n"
            << text;
      } else if (!wanted.values[r].has_value()) {
        ASSERT_EQ(column.codes()[row], kMissingCode) << wanted.name << " row " << r << "\n" << text;
      } else {
        const std::int32_t code = column.codes()[row];
        ASSERT_TRUE(code >= 0 && column.values[static_cast<std::size_t>(code)] == *wanted.values[r])
            << wanted.name << " row " << r << " code " << code << "\n"
            << text;
      }
    }
  }
}

void compare(const std::string& text, const ReadOptions& options, const oracle::CsvTable& expected, int threads,
             const csv::Tuning& tuning) {
  RunOptions run;
  run.threads = threads;
  const Bytes bytes{text, nullptr, "random.csv", 0};
  try {
    const Table table = csv::read(bytes, options, nullptr, run, tuning);
    ASSERT_FALSE(expected.malformed) << text;
    expect_equal(table, expected, text);
  } catch (const Error& error) {
    ASSERT_TRUE(expected.malformed) << error.what() << "\n" << text;
    ASSERT_EQ(error.code(), ErrorCode::invalid_data) << error.what();
    ASSERT_GT(error.line(), 0) << error.what();
  }
}

class CsvProperty : public testing::TestWithParam<Shape> {};

TEST_P(CsvProperty, EqualsTheOracleForAnyChunksThreadsAndKernels) {
  Random random(20260101 + static_cast<std::uint64_t>(GetParam().oddities) * 7 +
                static_cast<std::uint64_t>(GetParam().separator));
  int n_kernels = 0;
  const csv::Kernels* const* kernels = csv::available_kernels(&n_kernels);
  int n_read = 0;
  const int rounds = repeated(600, 120);
  for (int round = 0; round < rounds; ++round) {
    const std::string text = random_csv(random, GetParam());
    ReadOptions options;
    options.separator = GetParam().separator;
    options.header = Header::yes;
    if (random.below(4) == 0) options.decimal = '.';
    const bool commas = options.separator == ';' && options.decimal == '\0';
    const oracle::CsvTable expected = oracle::read_csv(text, {options.separator, true, '.', commas});
    n_read += expected.malformed ? 0 : 1;
    for (int k = 0; k < n_kernels; ++k) {
      csv::Tuning tuning;
      tuning.kernels = kernels[k];
      tuning.chunk_bytes = 1 + static_cast<std::int64_t>(random.below(300));
      tuning.batch_fields = 1 + static_cast<std::int64_t>(random.below(40));
      tuning.kept_texts = random.below(2) == 0 ? 0 : 1 + static_cast<std::int64_t>(random.below(3));
      tuning.tile_width = random.below(2) == 0 ? -1 : 1 + static_cast<std::int64_t>(random.below(7));
      compare(text, options, expected, 1 + static_cast<int>(random.below(8)), tuning);
      if (testing::Test::HasFatalFailure()) return;
    }
    compare(text, options, expected, 2, {});
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(n_read, rounds / 6);  // the generator must not make mostly errors
}

INSTANTIATE_TEST_SUITE_P(Shapes, CsvProperty,
                         testing::Values(Shape{',', "\n", 0, 0}, Shape{',', "\n", 20, 0}, Shape{';', "\r\n", 20, 0},
                                         Shape{'\t', "\n", 10, 10}, Shape{'|', "\r", 20, 5}, Shape{',', "\r\n", 50, 30},
                                         Shape{',', "\n", 30, 60}));

}  // namespace
}  // namespace stope::io
