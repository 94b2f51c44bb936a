// export_arrow: shared memory, nulls, dictionaries, dates, roles; and tables that come back as they went.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "effort.hpp"
#include "expect_error.hpp"
#include "stope/arrow.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Both structures of an exported table, released at the end.
struct Exported {
  explicit Exported(const Table& table) { export_arrow(table, &schema, &batch); }
  ~Exported() {
    if (schema.release != nullptr) schema.release(&schema);
    if (batch.release != nullptr) batch.release(&batch);
  }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;
  std::string format(int column = 0) const { return schema.children[column]->format; }

  ArrowSchema schema{};
  ArrowArray batch{};
};

Table table_of(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.empty() ? 0 : columns[0].size();
  table.columns = std::move(columns);
  return table;
}

Column floats(const std::string& name, const std::vector<float>& values) {
  Buffer<float> buffer(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), buffer.begin());
  return {name, ValueType::real, Role::regular, std::move(buffer), {}};
}

// Compares names, types, roles, value lists, and numbers to the bit.
void expect_equal(const Table& a, const Table& b) {
  ASSERT_EQ(a.columns.size(), b.columns.size());
  ASSERT_EQ(a.n_rows, b.n_rows);
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    const Column& left = a.columns[c];
    const Column& right = b.columns[c];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.type, right.type) << left.name;
    EXPECT_EQ(left.role, right.role) << left.name;
    EXPECT_TRUE(left.values == right.values) << left.name;
    for (std::int64_t row = 0; row < a.n_rows; ++row) {
      const double x = left.at(row);
      const double y = right.at(row);
      ASSERT_TRUE((std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof x) == 0)
          << left.name << " row " << row << ": " << x << " " << y;
    }
  }
}

TEST(ExportArrow, SharesNumbersAndCodesAndMarksMissingValuesAsNulls) {
  const Table table =
      table_of({make_numeric("g", {1, kNaN, 3, 4, 5, 6, 7, 8, kNaN}), floats("f", {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                make_nominal("n", {1, 0, -1, 1, 1, 1, 1, 1, 0}, {"a", "bc"})});
  const Exported exported(table);
  EXPECT_STREQ(exported.schema.format, "+s");
  ASSERT_EQ(exported.batch.n_children, 3);
  EXPECT_EQ(exported.batch.length, 9);
  for (std::size_t c = 0; c < 3; ++c) {
    const ArrowArray& array = *exported.batch.children[c];
    std::visit([&](const auto& buffer) { EXPECT_EQ(array.buffers[1], buffer.data()); }, table.columns[c].data);
    EXPECT_STREQ(exported.schema.children[c]->name, table.columns[c].name.c_str());
  }
  EXPECT_EQ(exported.format(0), "g");
  EXPECT_EQ(exported.format(1), "f");
  EXPECT_EQ(exported.format(2), "i");
  const auto bitmap = [&](int c) { return static_cast<const std::uint8_t*>(exported.batch.children[c]->buffers[0]); };
  EXPECT_EQ(exported.batch.children[0]->null_count, 2);
  EXPECT_EQ(bitmap(0)[0], 0b11111101);
  EXPECT_EQ(bitmap(0)[1], 0);
  EXPECT_EQ(exported.batch.children[1]->null_count, 0);
  EXPECT_EQ(bitmap(1), nullptr);
  EXPECT_EQ(exported.batch.children[2]->null_count, 1);
  EXPECT_EQ(bitmap(2)[0], 0b11111011);
  EXPECT_EQ(bitmap(2)[1], 1);
  const ArrowArray& dictionary = *exported.batch.children[2]->dictionary;
  EXPECT_STREQ(exported.schema.children[2]->dictionary->format, "u");
  EXPECT_EQ(dictionary.length, 2);
  EXPECT_EQ(std::memcmp(dictionary.buffers[2], "abc", 3), 0);
}

TEST(ExportArrow, CopiesMemoryThatTheTableBorrowsWithoutAnOwner) {
  std::vector<double> numbers = {1, 2, 3};
  std::vector<std::int32_t> codes = {0, 1, 0};
  Table table = table_of({column_of("x", Buffer<double>::borrow(numbers.data(), 3, nullptr)),
                          column_of("c", Buffer<std::int32_t>::borrow(codes.data(), 3, nullptr), {"a", "b"})});
  const Exported exported(table);
  numbers.assign(3, 0.0);
  codes.assign(3, 1);
  EXPECT_EQ(static_cast<const double*>(exported.batch.children[0]->buffers[1])[2], 3.0);
  EXPECT_EQ(static_cast<const std::int32_t*>(exported.batch.children[1]->buffers[1])[2], 0);
}

TEST(ExportArrow, RefusesNamesThatArrowWouldCut) {
  const Table table = table_of({make_numeric(std::string("a\0b", 3), {1}), make_numeric(std::string("a\0c", 3), {1})});
  ArrowSchema schema{};
  ArrowArray batch{};
  try {
    export_arrow(table, &schema, &batch);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
  }
  EXPECT_EQ(schema.release, nullptr);
}

TEST(ExportArrow, KeepsAColumnThatIsMovedOutOfItsBatchAfterAllElseIsGone) {
  Column moved = make_nominal("n", {1, 0}, {"a", "bc"});
  ArrowArray kept{};
  {
    const Exported exported(table_of({make_numeric("g", {1, 2}), moved}));
    kept = *exported.batch.children[1];
    exported.batch.children[1]->release = nullptr;
  }
  moved = {};
  EXPECT_EQ(static_cast<const std::int32_t*>(kept.buffers[1])[0], 1);
  EXPECT_EQ(std::memcmp(kept.dictionary->buffers[2], "abc", 3), 0);
  kept.release(&kept);
  EXPECT_EQ(kept.release, nullptr);
}

TEST(ExportArrow, WritesDatesInTheCoarsestUnitThatReadsBackToTheBit) {
  const auto dates = [](const std::vector<double>& days) {
    return table_of({make_numeric("d", days, ValueType::date)});
  };
  const double second = 1.0 / 86400;
  const double micro = 20000 + 1717243501.123456 / 86400 / 1e9;
  const std::vector<std::pair<Table, std::string>> cases = {
      {dates({1, -5, kNaN}), "tdD"},
      {dates({1 + second, -second, kNaN}), "tss:"},
      {dates({86400001.0 / 86400000, kNaN}), "tsm:"},
      {dates({86400000001.0 / 86400000000}), "tsu:"},
      {dates({1e-13 * 864}), "g"},
      {dates({std::numeric_limits<double>::infinity(), 1}), "g"},
      {dates({-0.0, 1}), "g"},
      {dates({1e300}), "g"},
      {dates({3e9}), "tss:"},
      {dates({micro}), "tsn:"},
  };
  for (const auto& [table, format] : cases) {
    Exported exported(table);
    EXPECT_EQ(exported.format(), format);
    expect_equal(table, import_arrow(&exported.schema, &exported.batch));
  }
}

TEST(ExportArrow, RefusesCodesWithoutANameAndTablesThatAreNotValid) {
  const auto expect_refused = [](const Table& table, const std::string& text) {
    ArrowSchema schema{};
    ArrowArray batch{};
    schema.format = "left over";
    try {
      export_arrow(table, &schema, &batch);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
    EXPECT_EQ(schema.release, nullptr);
    EXPECT_EQ(batch.release, nullptr);
  };
  for (const std::int32_t code : {kUnseenCode, 2, INT32_MIN}) {
    Table table = table_of({make_nominal("n", {0, 1, 0}, {"a", "b"})});
    std::get<Buffer<std::int32_t>>(table.columns[0].data)[1] = code;
    expect_refused(table, "code " + std::to_string(code));
  }
  expect_refused(table_of({make_numeric("x", {1}), make_numeric("x", {1})}), "named 'x'");
  expect_error(ErrorCode::invalid_argument, "the schema or the batch is a null pointer",
               [&] { export_arrow(Table{}, nullptr, nullptr); });
  ArrowSchema alone{};
  expect_error(ErrorCode::invalid_argument, "the schema or the batch is a null pointer",
               [&] { export_arrow(Table{}, &alone, nullptr); });
  expect_error(ErrorCode::invalid_argument, "the stream is a null pointer", [&] { export_arrow(Table{}, nullptr); });
  ArrowArrayStream stream{};
  expect_error(ErrorCode::invalid_argument, "batches of -1 rows", [&] { export_arrow(Table{}, &stream, -1); });
}

TEST(ExportArrow, AStreamThatDidNotFailHasNoError) {
  ArrowArrayStream stream{};
  export_arrow(table_of({make_numeric("x", {1, 2, 3})}), &stream, 2);
  ArrowArray batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  EXPECT_EQ(batch.length, 2);
  batch.release(&batch);
  EXPECT_EQ(stream.get_last_error(&stream), nullptr);
  stream.release(&stream);
}

TEST(ExportArrow, ADayThatNo32BitsHoldIsAnInstant) {
  for (const double day : {3e9, -3e9}) {
    const Table table = table_of({make_numeric("x", {day}, ValueType::date)});
    Exported exported(table);
    EXPECT_EQ(exported.format(), "tss:") << day;
    expect_equal(table, import_arrow(&exported.schema, &exported.batch));
  }
}

// A table of random columns of all types, roles and lengths.
Table random_table(std::mt19937_64& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const std::int64_t n_rows = below(3) == 0 ? below(3) : below(200);
  const std::int64_t n_columns = below(8);
  std::vector<Column> columns;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const std::string name = "column " + std::to_string(c);
    const bool has_missing = below(2) == 0;
    const std::int64_t kind = below(6);
    if (kind < 4) {
      std::vector<double> values;
      for (std::int64_t row = 0; row < n_rows; ++row) {
        double value = static_cast<double>(below(2001) - 1000);
        if (kind == 0) value /= 7;
        if (kind == 3) value += static_cast<double>(below(86400)) / 86400;
        values.push_back(has_missing && below(4) == 0 ? kNaN : value);
      }
      constexpr ValueType kTypes[] = {ValueType::real, ValueType::integer, ValueType::date, ValueType::date};
      columns.push_back(make_numeric(name, values, kTypes[kind]));
    } else {
      std::vector<std::string> names;
      const std::int64_t n_values = kind == 5 ? 2 : 1 + below(20);
      for (std::int64_t v = 0; v < n_values; ++v) {
        names.push_back(std::string(static_cast<std::size_t>(below(20)), 'x') + std::to_string(v));
      }
      std::vector<std::int32_t> codes;
      for (std::int64_t row = 0; row < n_rows; ++row) {
        codes.push_back(has_missing && below(4) == 0 ? kMissingCode : static_cast<std::int32_t>(below(n_values)));
      }
      const ValueType type = kind == 5       ? ValueType::binominal
                             : below(2) == 0 ? ValueType::nominal
                                             : ValueType::polynominal;
      columns.push_back(make_nominal(name, codes, names, type));
    }
    columns.back().role = static_cast<Role>(below(5));
  }
  Table table = table_of(std::move(columns));
  if (n_columns == 0) table.n_rows = n_rows;
  return table;
}

TEST(ExportArrow, GivesALabelOfNumbersBackAsClassesWhereTheyAreWanted) {
  Table table = table_of({make_numeric("x", {1, 2, 3}), make_numeric("y", {-0.0, 0.0, 1.0})});
  table.columns[1].role = Role::label;
  Exported exported(table);
  const Table back = import_arrow(&exported.schema, &exported.batch, {.target_is_nominal = true});
  EXPECT_EQ(back.columns[1].role, Role::label);
  ASSERT_TRUE(back.columns[1].nominal());
  EXPECT_EQ(back.columns[1].values, Values({"0", "1"})) << "-0 and 0 are one class, under the name of 0";
}

TEST(ExportArrow, GivesTablesBackAsTheyWereWithRolesTypesAndValues) {
  std::mt19937_64 random(20);
  for (int round = 0; round < repeated(500, 100); ++round) {
    const Table table = random_table(random);
    Exported exported(table);
    expect_equal(table, import_arrow(&exported.schema, &exported.batch));
    for (const std::int64_t batch_rows : {0, 1, 64}) {
      ArrowArrayStream stream{};
      export_arrow(table, &stream, batch_rows);
      expect_equal(table, import_arrow(&stream));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ExportArrow, SharesBuffersAmongTheBatchesOfAStreamAndOutlivesIt) {
  const Table table = table_of({make_numeric("x", {0, 1, kNaN, 3, 4})});
  ArrowArrayStream stream{};
  export_arrow(table, &stream, 2);
  std::vector<ArrowArray> batches;
  for (;;) {
    ArrowArray batch{};
    ASSERT_EQ(stream.get_next(&stream, &batch), 0);
    if (batch.release == nullptr) break;
    batches.push_back(batch);
  }
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[2].length, 1);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const ArrowArray& column = *batches[b].children[0];
    EXPECT_EQ(column.buffers[1], std::get<Buffer<double>>(table.columns[0].data).data());
    EXPECT_EQ(column.offset, static_cast<std::int64_t>(2 * b));
  }
  for (ArrowArray& batch : batches) batch.release(&batch);
}

TEST(ExportArrow, LendsMemoryThatComesBackWithoutACopy) {
  const Table table = table_of({make_numeric("x", {0, 1, 2}), make_nominal("n", {1, 0, 1}, {"a", "b"})});
  Exported exported(table);
  const Table back = import_arrow(&exported.schema, &exported.batch);
  EXPECT_EQ(std::get<Buffer<double>>(back.columns[0].data).data(),
            std::get<Buffer<double>>(table.columns[0].data).data());
  EXPECT_EQ(back.columns[1].codes().data(), table.columns[1].codes().data());
}

}  // namespace
}  // namespace stope
