// Generated tables have the same values whatever the parts and threads, and each kind is what it says.
#include "stope/generate.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

// Returns every value of a table as one number: FNV-1a of the bits.
std::uint64_t hash_of(const std::vector<Table>& parts) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t c = 0; c < parts.front().columns.size(); ++c) {
    for (const Table& part : parts) {
      for (std::int64_t row = 0; row < part.n_rows; ++row) {
        const double value = part.columns[c].at(row);
        const std::uint64_t bits = std::isnan(value) ? 1 : std::bit_cast<std::uint64_t>(value);
        for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3ULL;
      }
    }
  }
  return hash;
}

GenerateOptions options_of(const std::string& kind, std::int64_t n_columns, std::int64_t n_rows) {
  GenerateOptions options;
  options.kind = kind;
  options.n_columns = n_columns;
  options.n_rows = n_rows;
  options.seed = 11;
  return options;
}

TEST(Generate, PartsAndThreadsDoNotShow) {
  for (const GeneratedKind& kind : generated_kinds()) {
    for (const std::int64_t columns : {1, 2, 7, 300}) {
      const TableGenerator generator(options_of(kind.name, columns, 1000));
      const std::uint64_t whole = hash_of({generator.rows(0, 1000)});
      RunOptions run;
      run.threads = 3;
      EXPECT_EQ(hash_of({generator.rows(0, 1000, run)}), whole) << kind.name;
      EXPECT_EQ(hash_of({generator.rows(0, 1, run), generator.rows(1, 699), generator.rows(700, 300)}), whole)
          << kind.name;
      GenerateOptions other = options_of(kind.name, columns, 1000);
      other.seed = 12;
      EXPECT_NE(hash_of({TableGenerator(other).rows(0, 1000)}), whole) << kind.name;
      generator.rows(0, 10).validate();
    }
  }
}

// These values hold for all time and on every machine.
TEST(Generate, TheValuesAreThese) {
  const std::pair<const char*, std::uint64_t> wanted[] = {
      {"blobs", 1762210216142946192U},   {"mixed", 5154883091230112390U}, {"rules", 10874416902425378356U},
      {"linear", 15228330666640781618U}, {"wide", 1449039583029780390U},  {"fvecs", 16959147430458159514U}};
  for (const auto& [kind, hash] : wanted) {
    EXPECT_EQ(hash_of({TableGenerator(options_of(kind, 6, 500)).rows(0, 500)}), hash) << kind;
  }
}

double mean(const Column& column, std::int64_t n) {
  double sum = 0.0;
  for (std::int64_t row = 0; row < n; ++row) sum += column.at(row);
  return sum / static_cast<double>(n);
}

TEST(Generate, LinearIsLinear) {
  GenerateOptions options = options_of("linear", 4, 2000);
  options.noise = 0.0;
  const Table table = TableGenerator(options).rows(0, 2000);
  for (std::int64_t row = 0; row < 2000; ++row) {
    const auto x = [&](std::size_t j) { return table.columns[j].at(row); };
    EXPECT_NEAR(table.columns[4].at(row), 3.0 + x(0) - x(1) / 2.0 + x(2) / 3.0 - x(3) / 4.0, 0.6e-4);
  }
  EXPECT_NEAR(mean(table.columns[0], 2000), 0.0, 0.1);
}

TEST(Generate, RulesHold) {
  GenerateOptions options = options_of("rules", 5, 2000);
  options.noise = 0.0;
  const Table table = TableGenerator(options).rows(0, 2000);
  std::int64_t n_yes = 0;
  for (std::int64_t row = 0; row < 2000; ++row) {
    const bool yes =
        (table.columns[0].at(row) > 0.6 && table.columns[1].at(row) <= 1.0) || table.columns[2].at(row) <= 0.2;
    ASSERT_EQ(table.columns[5].at(row), yes ? 1.0 : 0.0) << row;
    n_yes += yes ? 1 : 0;
  }
  EXPECT_GT(n_yes, 500);
  EXPECT_LT(n_yes, 1000);
}

TEST(Generate, MixedLosesItsShare) {
  GenerateOptions options = options_of("mixed", 20, 2000);
  options.missing = 0.25;
  options.n_classes = 4;
  const Table table = TableGenerator(options).rows(0, 2000);
  std::int64_t missing = 0;
  for (const Column& column : table.columns) {
    for (std::int64_t row = 0; row < 2000; ++row) missing += column.missing(row) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(missing) / 40000.0, 0.25, 0.01);
  EXPECT_TRUE(table.columns[1].nominal());
  EXPECT_EQ(table.columns[3].values.size(), 4U);
  EXPECT_EQ(table.columns[20].values.size(), 4U);
}

TEST(Generate, BlobsLieWhereTheirClassIs) {
  GenerateOptions options = options_of("blobs", 3, 3000);
  options.n_classes = 5;
  options.noise = 0.01;
  const Table table = TableGenerator(options).rows(0, 3000);
  double first[5] = {};
  bool seen[5] = {};
  for (std::int64_t row = 0; row < 3000; ++row) {
    const auto of = static_cast<std::size_t>(table.columns[3].at(row));
    if (!seen[of]) first[of] = table.columns[0].at(row);
    seen[of] = true;
    ASSERT_NEAR(table.columns[0].at(row), first[of], 0.2);
  }
  for (const bool there : seen) EXPECT_TRUE(there);
}

void expect_refused(const GenerateOptions& options, const std::string& part) {
  try {
    TableGenerator{options};
    FAIL() << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Generate, RefusesWhatAKindDoesNotHave) {
  expect_refused(options_of("blob", 2, 2), "did you mean 'blobs'");
  expect_refused(options_of("blobs", 0, 2), "0 columns");
  expect_refused(options_of("blobs", 2, -1), "-1 rows");
  GenerateOptions options = options_of("linear", 2, 2);
  options.n_classes = 3;
  expect_refused(options, "no number of classes");
  options = options_of("blobs", 2, 2);
  options.missing = 0.1;
  expect_refused(options, "no missing values");
  options = options_of("mixed", 2, 2);
  options.missing = 1.0;
  expect_refused(options, "below 1");
  options.missing = std::nan("");
  expect_refused(options, "below 1");
  options = options_of("blobs", 2, 2);
  options.n_classes = -1;
  expect_refused(options, "-1 classes");
  const TableGenerator generator(options_of("blobs", 2, 5));
  expect_error(ErrorCode::invalid_argument, "rows 3 to 6 of a table of 5", [&] { generator.rows(3, 3); });
  expect_error(ErrorCode::invalid_argument, "rows -1 to 2 of a table of 5", [&] { generator.rows(-1, 3); });
}

}  // namespace
}  // namespace stope
