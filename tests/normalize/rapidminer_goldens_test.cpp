// The Normalize runs of the real RapidMiner 5.3: every value is equal to the bit, and columns are in its order.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "knn/golden_files.hpp"
#include "stope/io.hpp"
#include "stope/normalize.hpp"

namespace stope {
namespace {

// Reads a golden result, which holds exactly the input's columns; its file says nothing about their types.
Table read_result(const std::filesystem::path& path, const Table& input) {
  ReadOptions options;
  options.missing = {""};
  options.header = Header::yes;
  for (const Column& column : input.columns) {
    (column.nominal() ? options.nominal : options.numeric).push_back(column.name);
  }
  return read_table(path.string(), options);
}

std::string text_at(const Column& column, std::int64_t row) {
  return column.missing(row) ? "" : column.values[static_cast<std::size_t>(column.codes()[row])];
}

// Returns how many values differ; missing equals only missing.
std::int64_t count_differences(const Column& actual, const Column& expected) {
  std::int64_t differences = 0;
  for (std::int64_t row = 0; row < expected.size(); ++row) {
    bool same = false;
    if (expected.nominal()) {
      same = text_at(actual, row) == text_at(expected, row);
    } else if (expected.missing(row)) {
      same = actual.missing(row);
    } else {
      same = actual.at(row) == expected.at(row) && std::signbit(actual.at(row)) == std::signbit(expected.at(row));
    }
    differences += same ? 0 : 1;
  }
  return differences;
}

TEST(RapidMinerGoldens, EveryNormalizeRunIsReproducedToTheBit) {
  const std::filesystem::path folder = goldens::folder();
  if (!goldens::present()) GTEST_SKIP() << "no golden runs at " << folder << "; set STOPE_SHARED";
  const nlohmann::json manifest = goldens::read_json(folder / "MANIFEST_OPS.json");
  std::int64_t n_runs = 0;
  std::int64_t n_values = 0;
  for (const auto& run : manifest.at("runs")) {
    if (run.at("operator") != "normalize") continue;
    ++n_runs;
    const std::string output = run.at("output");
    SCOPED_TRACE(output);
    const std::string name = run.at("inputs").at(0);
    const std::filesystem::path stem = folder / "ops" / "inputs" / name;
    ReadOptions read;
    read.schema = stem.string() + ".schema.json";
    const Table input = read_table(stem.string() + ".csv", read);

    const auto& parameters = run.at("parameters");
    NormalizeOptions options;
    options.compat = Compat::rapidminer;
    options.method = normalization(parameters.at("method").get<std::string>());
    if (parameters.contains("min")) options.min = std::stod(parameters.at("min").get<std::string>());
    if (parameters.contains("max")) options.max = std::stod(parameters.at("max").get<std::string>());
    const Table actual = Normalizer::fit(input, options).apply(input);

    const Table expected = read_result(folder / output, input);
    ASSERT_EQ(actual.n_rows, expected.n_rows);
    ASSERT_EQ(actual.columns.size(), expected.columns.size());
    for (std::size_t c = 0; c < expected.columns.size(); ++c) {
      ASSERT_EQ(actual.columns[c].name, expected.columns[c].name) << "column " << c;
      EXPECT_EQ(count_differences(actual.columns[c], expected.columns[c]), 0) << expected.columns[c].name;
      n_values += expected.n_rows;
    }
  }
  EXPECT_EQ(n_runs, 8);
  EXPECT_EQ(n_values, 4 * (150 * 5 + 40 * 17));
}

}  // namespace
}  // namespace stope
