// Tables filled from a plug-in that a test plays (io/columnar/fill.hpp): what it gives and what it declared may differ,
// and the pipe that it reads may fail.
#include "io/columnar/fill.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "expect_error.hpp"
#include "io/arrow/producer.hpp"
#include "io/arrow/schema.hpp"
#include "io/columnar/plugin_file.hpp"

// What the test's plug-in has open.
struct StopeFilesFile {
  std::vector<stope::arrow_test::Data> declared, given;  // the columns, and as what their batches come
  std::vector<std::vector<stope::arrow_test::Data>> batches;
  std::vector<std::int64_t> rows_of_groups;
  stope::arrow_test::Released* released = nullptr;
  StopeFilesSource source{};
};

namespace stope::io::columnar {
namespace {

using arrow_test::coded;
using arrow_test::Data;
using arrow_test::numbers;
using arrow_test::Released;
using arrow_test::strings;

StopeFilesFile to_open;  // the next file

// Nothing reads a pipe here but to see it fail.
std::int32_t read_pipe(const StopeFilesFile& file, StopeFilesFailure* failure) {
  std::uint8_t byte = 0;
  if (file.source.read == nullptr || file.source.read(file.source.context, &byte, 1) >= 0) return kStopeFilesOk;
  *failure = {kStopeFilesStopped, "stopped"};
  return kStopeFilesStopped;
}

StopeFilesFunctions played() {
  StopeFilesFunctions functions{};
  functions.open = [](std::int32_t, StopeFilesBytes bytes, StopeFilesFile** file, StopeFilesFailure*) -> std::int32_t {
    bytes.release(bytes.owner);
    *file = new StopeFilesFile(to_open);
    return kStopeFilesOk;
  };
  functions.open_source = [](StopeFilesSource source, StopeFilesFile** file, StopeFilesFailure*) -> std::int32_t {
    *file = new StopeFilesFile(to_open);
    (*file)->source = source;
    return kStopeFilesOk;
  };
  functions.close = [](StopeFilesFile* file) { delete file; };
  functions.schema = [](const StopeFilesFile* file, ArrowSchema* schema, StopeFilesFailure* failure) -> std::int32_t {
    if (read_pipe(*file, failure) != kStopeFilesOk) return kStopeFilesStopped;
    *schema = arrow_test::schema_of(file->declared, *file->released);
    return kStopeFilesOk;
  };
  functions.n_groups = [](const StopeFilesFile* file) -> std::int64_t { return std::ssize(file->rows_of_groups); };
  functions.rows_of = [](const StopeFilesFile* file, std::int64_t group) -> std::int64_t {
    return file->rows_of_groups[static_cast<std::size_t>(group)];
  };
  functions.read = [](const StopeFilesFile* file, std::int64_t, std::int64_t, const std::int64_t*, std::int64_t,
                      std::int64_t, ArrowArrayStream* rows, StopeFilesFailure*) -> std::int32_t {
    *rows = arrow_test::stream_of(file->batches, file->given, *file->released);
    return kStopeFilesOk;
  };
  return functions;
}

class Fill : public testing::Test {
 protected:
  // A file of one group, whose rows come in these batches.
  PluginFile open(std::vector<Data> declared, std::vector<std::vector<Data>> batches, std::int64_t n_rows) {
    std::vector<Data> given = batches.empty() ? declared : batches.front();
    to_open = {std::move(declared), std::move(given), std::move(batches), {n_rows}, &released_, {}};
    return {functions_, kStopeFilesParquet, Bytes{"", nullptr, "t.parquet"}};
  }

  Table fill_all(const PluginFile& file, NominalOrder order = NominalOrder::appearance) {
    const ArrowSchemaPtr schema = file.schema();
    Selection selection{{}, arrow::fields_of(*schema, file.name())};
    for (std::int64_t c = 0; c < schema->n_children; ++c) selection.columns.push_back(c);
    return fill(file, selection, {}, order, {});
  }

  Table table_of(std::vector<Data> declared, std::vector<std::vector<Data>> batches, std::int64_t n_rows) {
    return fill_all(open(std::move(declared), std::move(batches), n_rows));
  }

  const StopeFilesFunctions functions_ = played();
  Released released_;
};

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> texts;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::int32_t code = table.columns[0].codes()[row];
    texts.push_back(code < 0 ? "?" : std::string(table.columns[0].values[code]));
  }
  return texts;
}

TEST_F(Fill, AGroupWithOtherRowsThanItDeclaresIsRefused) {
  const std::vector<Data> x = {numbers<double>("x", "g", {1, 2, 3})};
  EXPECT_EQ(table_of(x, {x}, 3).columns[0].at(2), 3);
  expect_error(ErrorCode::invalid_data, "t.parquet: a group of 2 rows has more of them than it declares",
               [&] { table_of(x, {x}, 2); });
  expect_error(ErrorCode::invalid_data, "t.parquet: a group of 4 rows has fewer of them than it declares",
               [&] { table_of(x, {x}, 4); });
}

TEST_F(Fill, ABatchOfAnotherTypeThanTheFileDeclaresIsRefused) {
  const Data wide = numbers<double>("x", "g", {1}), narrow = numbers<float>("x", "f", {1}),
             text = strings("x", "u", {"a"});
  for (const auto& [declared, given] : {std::pair{wide, narrow}, {narrow, wide}, {wide, text}, {text, narrow}}) {
    expect_error(ErrorCode::internal, "column 'x': it comes as another type than its file declares",
                 [&, &d = declared, &g = given] { table_of({d}, {{g}}, 1); });
  }
}

template <class Index>
Data indices(const std::string& format, const std::vector<Index>& values, const std::vector<std::string>& dictionary) {
  return coded<Index>("c", format, values, strings("", "u", dictionary));
}

TEST_F(Fill, IndicesOfEveryWidthNameTheirValues) {
  const auto read_as = [this]<class Index>(Index, const std::string& format) {
    const Data first = indices<Index>(format, {1, 0}, {"a", "b"});
    return names(table_of({first}, {{first}, {indices<Index>(format, {0, 2}, {"x", "a", "b"})}}, 4));
  };
  const std::vector<std::string> wanted = {"b", "a", "x", "b"};
  EXPECT_EQ(read_as(std::int8_t{}, "c"), wanted);
  EXPECT_EQ(read_as(std::uint8_t{}, "C"), wanted);
  EXPECT_EQ(read_as(std::int16_t{}, "s"), wanted);
  EXPECT_EQ(read_as(std::uint16_t{}, "S"), wanted);
  EXPECT_EQ(read_as(std::int32_t{}, "i"), wanted);
  EXPECT_EQ(read_as(std::uint32_t{}, "I"), wanted);
  EXPECT_EQ(read_as(std::int64_t{}, "l"), wanted);
  EXPECT_EQ(read_as(std::uint64_t{}, "L"), wanted);
}

TEST_F(Fill, AnIndexOutsideItsDictionaryIsRefusedWithItsRow) {
  const Data good = indices<std::int8_t>("c", {0, 1}, {"a", "b"});
  for (const std::int8_t wrong : {std::int8_t{2}, std::int8_t{-1}}) {
    const Data bad = indices<std::int8_t>("c", {0, wrong}, {"a", "b"});
    expect_error(ErrorCode::invalid_data,
                 "row 3: index " + std::to_string(wrong) + " is outside its dictionary of 2 values",
                 [&] { table_of({good}, {{good}, {bad}}, 4); });
  }
  Data none = indices<std::int8_t>("c", {0}, {});
  expect_error(ErrorCode::invalid_data, "index 0 is outside its dictionary of 0 values",
               [&] { table_of({good}, {{none}}, 1); });
}

TEST_F(Fill, AMissingValueOfADictionaryIsAMissingValueOfItsRows) {
  const Data gap = coded<std::int32_t>("c", "i", {0, 1, 2, 1}, strings("", "u", {"a", "?", "b"}, "101"));
  const std::vector<std::string> wanted = {"a", "?", "b", "?"};
  EXPECT_EQ(names(table_of({gap}, {{gap}}, 4)), wanted);
  // The file declares texts, and a reader brings them as indices: only the values that rows have count.
  const Table table = table_of({strings("c", "u", {"a"})}, {{gap}}, 4);
  EXPECT_EQ(names(table), wanted);
  EXPECT_EQ(table.columns[0].values.names(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Fill, BatchesWithoutRowsGiveNothing) {
  const Data text = strings("c", "u", {}), index = indices<std::int32_t>("i", {}, {"a"});
  Data truth{"c", "b", 0, {std::nullopt, arrow_test::bits("0")}};
  for (const Data& column : {text, index, truth}) {
    EXPECT_EQ(table_of({column}, {{column}, {column}}, 0).n_rows, 0) << column.format;
  }
  // Without any batch a column of truth values still has both.
  const Table none = table_of({truth}, {}, 0);
  EXPECT_EQ(none.columns[0].values.names(), (std::vector<std::string>{"false", "true"}));
}

TEST_F(Fill, TruthValuesComeInSeveralBatches) {
  const Data first{"c", "b", 3, {std::nullopt, arrow_test::bits("101")}};
  const Data second{"c", "b", 2, {arrow_test::bits("10"), arrow_test::bits("11")}, -1};
  EXPECT_EQ(names(table_of({first}, {{first}, {second}}, 5)),
            (std::vector<std::string>{"true", "false", "true", "true", "?"}));
}

TEST_F(Fill, AColumnDeclaredBinominalWithThreeValuesIsPolynominal) {
  Data three = strings("c", "u", {"a", "b", "c"});
  three.metadata = arrow::encode_metadata({{arrow::kTypeKey, "binominal"}});
  EXPECT_EQ(table_of({three}, {{three}}, 3).columns[0].type, ValueType::polynominal);
  Data two = strings("c", "u", {"a", "b", "a"});
  two.metadata = three.metadata;
  EXPECT_EQ(table_of({two}, {{two}}, 3).columns[0].type, ValueType::binominal);
}

struct PipeBroke : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_F(Fill, WhatAPipeThrowsComesThroughThePlugIn) {
  const std::vector<Data> x = {numbers<double>("x", "g", {1})};
  to_open = {x, x, {x}, {1}, &released_, {}};
  bool broken = false;
  const PluginFile file(
      functions_,
      [&](char*, std::int64_t) -> std::int64_t {
        if (broken) throw PipeBroke("the pipe broke");
        return 0;
      },
      "<stdin>");
  EXPECT_EQ(fill_all(file).n_rows, 1);
  const Error said(ErrorCode::io, "External error: 3|too large");
  expect_error(ErrorCode::out_of_memory, "<stdin>: too large", [&] { file.explain(said); });
  expect_error(ErrorCode::cancelled, "stopped", [&] { file.explain(Error(ErrorCode::cancelled, "stopped")); });
  broken = true;
  EXPECT_THROW(file.schema(), PipeBroke);
  EXPECT_THROW(file.explain(said), PipeBroke);
  // A stream of rows fails by its code alone.
  Rows rows = file.read(0, 1, {0}, 1);
  rows.get()->get_next = [](ArrowArrayStream*, ArrowArray*) { return EIO; };
  EXPECT_THROW(file.next(rows), PipeBroke);
}

TEST_F(Fill, AStreamThatFailsWithoutAWordIsRefused) {
  const std::vector<Data> x = {numbers<double>("x", "g", {1})};
  const PluginFile file = open(x, {x}, 1);
  Rows rows = file.read(0, 1, {0}, 1);
  rows.get()->get_next = [](ArrowArrayStream*, ArrowArray*) { return EIO; };
  rows.get()->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  expect_error(ErrorCode::invalid_data, "t.parquet: its reader does not say what is wrong", [&] { file.next(rows); });
  rows.get()->get_last_error = [](ArrowArrayStream*) { return "|without a code"; };
  expect_error(ErrorCode::invalid_data, "t.parquet: |without a code", [&] { file.next(rows); });
  rows.get()->get_last_error = [](ArrowArrayStream*) { return "External error: 5|a defect"; };
  expect_error(ErrorCode::internal, "t.parquet: a defect", [&] { file.next(rows); });
}

}  // namespace
}  // namespace stope::io::columnar
