// Tables of the C ABI: arrays, builders, Arrow and files in, copies and Arrow out.
#include <cmath>
#include <fstream>
#include <limits>

#include "capi/capi.hpp"
#include "stope/arrow.hpp"

namespace capi_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Lent {
  std::vector<double> values;
  int released = 0;
  static void release(void* lent) { ++static_cast<Lent*>(lent)->released; }
};

TEST(Tables, OfArraysCopyOrShare) {
  Failure failure;
  Lent lent{{1, 2, 3, 4, 5, 6}};
  stope_array columns = {lent.values.data(), 3, 2, 8, 24, STOPE_FLOAT64, -1, nullptr, nullptr};
  Table table;
  EXPECT_OK(stope_table_from_array(&columns, nullptr, Lent::release, &lent, nullptr, table.out(), &failure));
  EXPECT_EQ(lent.released, 0);
  ArrowSchema arrow_schema;
  ArrowArray batch;
  EXPECT_OK(stope_table_to_arrow(table, &arrow_schema, &batch, &failure));
  EXPECT_EQ(batch.children[1]->buffers[1], lent.values.data() + 3) << "shared to the other end";
  table = {};
  EXPECT_EQ(lent.released, 0) << "the batch still needs it";
  batch.release(&batch);
  arrow_schema.release(&arrow_schema);
  EXPECT_EQ(lent.released, 1);

  EXPECT_OK(stope_table_from_array(&columns, nullptr, nullptr, nullptr, nullptr, table.out(), &failure));
  lent.values.assign(6, 0);
  EXPECT_EQ(column(table, 1), (std::vector<double>{4, 5, 6})) << "without release the values are copied";
}

TEST(Tables, OfArraysReleaseOnceWhateverFails) {
  Failure failure;
  std::vector<stope_array> bad(5, {nullptr, 2, 2, 16, 8, STOPE_FLOAT64, -1, nullptr, nullptr});
  Lent lent{{1, 2, 3, 4}};
  for (stope_array& one : bad) one.data = lent.values.data();
  bad[0].data = nullptr;
  bad[1].type = 77;
  bad[2].row_stride = 3;
  bad[3].n_rows = -1;
  bad[4].reserved = &bad;
  for (const stope_array& one : bad) {
    Table table;
    EXPECT_EQ(stope_table_from_array(&one, nullptr, Lent::release, &lent, nullptr, table.out(), &failure),
              STOPE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(failure.message), "");
  }
  EXPECT_EQ(lent.released, 5);
  const char* const twice[] = {"a", "a"};
  const stope_array good = array_of(lent.values.data(), 2, 2);
  Table table;
  EXPECT_EQ(stope_table_from_array(&good, twice, Lent::release, &lent, nullptr, table.out(), &failure),
            STOPE_INVALID_ARGUMENT);
  EXPECT_EQ(lent.released, 6);
}

TEST(Tables, OfArraysTakeEveryTypeAndStride) {
  Failure failure;
  const std::int8_t small[] = {1, -2, 3, -4, 5, -6};
  stope_array backwards = {small + 5, 3, 2, -2, -1, STOPE_INT8, -1, nullptr, nullptr};
  Table table;
  EXPECT_OK(stope_table_from_array(&backwards, nullptr, nullptr, nullptr, nullptr, table.out(), &failure));
  EXPECT_EQ(column(table, 0), (std::vector<double>{-6, -4, -2}));
  EXPECT_EQ(column(table, 1), (std::vector<double>{5, 3, 1}));
  const double one_row[] = {1, 2};  // no step is taken to a second row
  stope_array odd = {one_row, 1, 2, 3, 8, STOPE_FLOAT64, -1, nullptr, nullptr};
  EXPECT_OK(stope_table_from_array(&odd, nullptr, nullptr, nullptr, nullptr, table.out(), &failure));
  stope_array same = {small, 3, 1, 0, 1, STOPE_INT8, -1, nullptr, nullptr};
  EXPECT_REFUSED(stope_table_from_array(&same, nullptr, nullptr, nullptr, nullptr, table.out(), &failure),
                 STOPE_INVALID_ARGUMENT, "the stride from row to row is 0");
}

TEST(Builders, TakeRowsInBlocksAndServeAgain) {
  Failure failure;
  Builder builder;
  const char* const colours[] = {"red", "green"};
  EXPECT_OK(stope_builder_new(10, nullptr, builder.out(), &failure));
  EXPECT_OK(stope_builder_column(builder, "x", STOPE_REGULAR, "integer", nullptr, 0, &failure));
  EXPECT_OK(stope_builder_column(builder, "colour", STOPE_LABEL, "binominal", colours, 2, &failure));
  EXPECT_REFUSED(stope_builder_column(builder, "n", STOPE_REGULAR, "real", colours, 2, &failure),
                 STOPE_INVALID_ARGUMENT, "of numbers has values");
  EXPECT_REFUSED(stope_builder_column(builder, "n", STOPE_REGULAR, "reel", nullptr, 0, &failure),
                 STOPE_INVALID_ARGUMENT, "did you mean 'real'?");
  EXPECT_REFUSED(stope_builder_column(builder, "n", 9, "real", nullptr, 0, &failure), STOPE_INVALID_ARGUMENT,
                 "no role");
  EXPECT_REFUSED(stope_builder_column(builder, "x", STOPE_REGULAR, "real", nullptr, 0, &failure),
                 STOPE_INVALID_ARGUMENT, "two columns have the name 'x'");
  EXPECT_REFUSED(stope_builder_column(builder, "y", STOPE_LABEL, "real", nullptr, 0, &failure), STOPE_INVALID_ARGUMENT,
                 "column 'y' cannot have the role label: 'colour' has it");
  const char* const twice[] = {"p", "p"};
  EXPECT_REFUSED(stope_builder_column(builder, "c", STOPE_REGULAR, "nominal", twice, 2, &failure),
                 STOPE_INVALID_ARGUMENT, "the value 'p' has two codes");
  for (int round = 0; round < 2; ++round) {
    const double rows[] = {1, 0, kNaN, 1, 3, kNaN};
    const stope_array first = array_of(rows, 2, 2), second = array_of(rows + 4, 1, 2);
    EXPECT_OK(stope_builder_append(builder, &first, &failure));
    EXPECT_OK(stope_builder_append(builder, &second, &failure));
    EXPECT_REFUSED(stope_builder_column(builder, "late", STOPE_REGULAR, "real", nullptr, 0, &failure),
                   STOPE_INVALID_ARGUMENT, "comes too late");
    Table table;
    EXPECT_OK(stope_builder_finish(builder, table.out(), &failure));
    EXPECT_EQ(stope_table_rows(table), 3);
    EXPECT_EQ(stope_table_columns(table), 2);
    EXPECT_EQ(schema(table), Json::parse(R"([{"name": "x", "type": "integer", "role": "regular"},
        {"name": "colour", "type": "binominal", "role": "label", "values": ["red", "green"]}])"));
    EXPECT_TRUE(std::isnan(column(table, 0)[1]));
    EXPECT_TRUE(std::isnan(column(table, 1)[2]));
    EXPECT_EQ(column(table, 1)[1], 1.0);
  }
  Table empty;
  EXPECT_OK(stope_builder_finish(builder, empty.out(), &failure));
  EXPECT_EQ(stope_table_rows(empty), 0);
}

TEST(Builders, ForAModelHaveItsFeaturesAndCodes) {
  Failure failure;
  const Table train = table_of({{"c", STOPE_REGULAR, "nominal", {"p", "q"}},
                                {"id", STOPE_ID, "integer", {}},
                                {"y", STOPE_LABEL, "nominal", {"a", "b"}},
                                {"x", STOPE_REGULAR, "real", {}}},
                               {0, 7, 0, 1, 1, 8, 1, 2, 0, 9, 0, 3});
  Model model;
  const Options k1 = options({{"n_neighbors", "1"}});
  EXPECT_OK(stope_fit("classify", train, k1, nullptr, model.out(), &failure));
  Builder builder;
  EXPECT_OK(stope_builder_for_model(model, 0, nullptr, builder.out(), &failure));
  const double rows[] = {1, 2, 0, 3};
  const stope_array block = array_of(rows, 2, 2);
  EXPECT_OK(stope_builder_append(builder, &block, &failure));
  Table test, found;
  EXPECT_OK(stope_builder_finish(builder, test.out(), &failure));
  EXPECT_EQ(schema(test)[0]["name"], "c");
  EXPECT_EQ(schema(test)[1]["name"], "x");
  EXPECT_OK(stope_apply(model, test, nullptr, nullptr, found.out(), &failure));
  EXPECT_EQ(column(found, 0), (std::vector<double>{1, 0}));
}

TEST(Tables, AreCopiedInPiecesOfAnyShape) {
  Failure failure;
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}, {"c", STOPE_REGULAR, "nominal", {"p", "q"}}},
                               {1.5, 0, kNaN, kNaN, 3.5, 1});
  float floats[6] = {};
  // Columns one after the other, and backwards from the last row.
  const stope_array reversed = {floats + 2, 3, 2, -4, 12, STOPE_FLOAT32, -1, nullptr, nullptr};
  EXPECT_OK(stope_table_copy(table, 0, 0, &reversed, &failure));
  EXPECT_EQ(floats[0], 3.5F);
  EXPECT_EQ(floats[2], 1.5F);
  EXPECT_TRUE(std::isnan(floats[1]));
  EXPECT_EQ(floats[3], 1.0F);
  std::int32_t codes[2] = {};
  const stope_array last = {codes, 2, 1, 4, 4, STOPE_INT32, -1, nullptr, nullptr};
  EXPECT_OK(stope_table_copy(table, 1, 1, &last, &failure));
  EXPECT_EQ(codes[0], -1);
  EXPECT_EQ(codes[1], 1);
  EXPECT_REFUSED(stope_table_copy(table, 1, 0, &last, &failure), STOPE_UNSUPPORTED,
                 "column 'x' cannot be copied as int32");
  EXPECT_REFUSED(stope_table_copy(table, 2, 1, &last, &failure), STOPE_INVALID_ARGUMENT,
                 "no 2 rows from 2 on: it has 3");
  EXPECT_REFUSED(stope_table_copy(table, -1, 1, &last, &failure), STOPE_INVALID_ARGUMENT, "rows");
  EXPECT_REFUSED(stope_table_copy(table, INT64_MAX, 1, &last, &failure), STOPE_INVALID_ARGUMENT, "rows");
  EXPECT_REFUSED(stope_table_copy(table, 0, 2, &last, &failure), STOPE_INVALID_ARGUMENT, "columns");
  stope_array huge = last;
  huge.n_rows = INT64_MAX;
  EXPECT_REFUSED(stope_table_copy(table, 0, 1, &huge, &failure), STOPE_INVALID_ARGUMENT, "rows");
  stope_array unaligned = last;
  unaligned.data = reinterpret_cast<const char*>(codes) + 1;
  EXPECT_REFUSED(stope_table_copy(table, 1, 1, &unaligned, &failure), STOPE_INVALID_ARGUMENT, "align");
  stope_array on_gpu = last;
  on_gpu.gpu = 0;
  EXPECT_REFUSED(stope_table_copy(table, 0, 1, &on_gpu, &failure), STOPE_UNSUPPORTED, "host's memory");
}

TEST(Tables, NameTheirColumnsAndValues) {
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}, {"c", STOPE_REGULAR, "nominal", {"p", "q"}}}, {1, 0});
  EXPECT_STREQ(stope_table_column_name(table, 1), "c");
  EXPECT_STREQ(stope_table_value(table, 1, 1), "q");
  for (const std::int64_t none : {std::int64_t{-1}, std::int64_t{2}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(stope_table_column_name(table, none), nullptr);
    EXPECT_EQ(stope_table_value(table, 1, none), nullptr);
    EXPECT_EQ(stope_table_value(table, none, 0), nullptr);
  }
  EXPECT_EQ(stope_table_value(table, 0, 0), nullptr) << "numbers have no names";
}

TEST(Tables, ChangeTheRoleOfAColumn) {
  Failure failure;
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}, {"y", STOPE_REGULAR, "real", {}}}, {1, 2});
  Table changed;
  EXPECT_OK(stope_table_with_role(table, "y", STOPE_LABEL, changed.out(), &failure));
  EXPECT_EQ(schema(changed)[1]["role"], "label");
  EXPECT_EQ(schema(table)[1]["role"], "regular");
  Table other;
  EXPECT_REFUSED(stope_table_with_role(changed, "x", STOPE_LABEL, other.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "'y' has it");
  EXPECT_OK(stope_table_with_role(changed, "y", STOPE_LABEL, other.out(), &failure));
  EXPECT_REFUSED(stope_table_with_role(table, "Y", STOPE_LABEL, changed.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "no column 'Y'");
  EXPECT_REFUSED(stope_table_with_role(table, "y", 5, changed.out(), &failure), STOPE_INVALID_ARGUMENT, "no role");
}

TEST(Tables, GoThroughArrowAndFilesUnchanged) {
  Failure failure;
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}, {"c", STOPE_LABEL, "nominal", {"p", "q"}}},
                               {1.5, 0, kNaN, 1, -0.0, kNaN});
  ArrowSchema arrow_schema;
  ArrowArray batch;
  EXPECT_OK(stope_table_to_arrow(table, &arrow_schema, &batch, &failure));
  Table back;
  EXPECT_OK(stope_table_from_arrow_array(&arrow_schema, &batch, nullptr, nullptr, back.out(), &failure));
  EXPECT_EQ(arrow_schema.release, nullptr);
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_EQ(schema(back), schema(table));
  for (const std::int64_t c : {0, 1}) {
    const std::vector<double> before = column(table, c), after = column(back, c);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isnan(before[i]) ? std::isnan(after[i])
                                        : std::signbit(before[i]) == std::signbit(after[i]) && before[i] == after[i]);
    }
  }
  const std::string path = testing::TempDir() + "round.csv";
  EXPECT_OK(stope_table_to_file(table, path.c_str(), nullptr, &failure));
  const Options read = options({{"target", "c"}});
  EXPECT_OK(stope_table_from_file(path.c_str(), read, nullptr, back.out(), &failure));
  EXPECT_EQ(schema(back)[1]["role"], "label");
  EXPECT_EQ(stope_table_from_file("/no/such/file.csv", nullptr, nullptr, back.out(), &failure), STOPE_IO);
  EXPECT_EQ(static_cast<stope_table*>(back), nullptr);
}

TEST(Tables, FromAFileSayWhereItIsWrong) {
  const std::string path = testing::TempDir() + "wrong.csv";
  std::ofstream(path) << "a,b\n1,2\n3,4\n5,6,7\n";
  Table table;
  Failure failure;
  EXPECT_EQ(stope_table_from_file(path.c_str(), nullptr, nullptr, table.out(), &failure), STOPE_INVALID_DATA);
  EXPECT_EQ(failure.line, 4) << failure.message;
  EXPECT_EQ(failure.column, 5) << failure.message;
}

TEST(Tables, ReleaseArrowStructuresWhateverFails) {
  const Table table = table_of({{"x", STOPE_REGULAR, "real", {}}}, {1, 2});
  const Options bad = options({{"nonsense", "1"}});
  ArrowSchema arrow_schema;
  ArrowArray batch;
  Table out;
  Failure failure;
  EXPECT_OK(stope_table_to_arrow(table, &arrow_schema, &batch, &failure));
  EXPECT_EQ(stope_table_from_arrow_array(&arrow_schema, &batch, bad, nullptr, out.out(), &failure),
            STOPE_INVALID_ARGUMENT);
  EXPECT_EQ(arrow_schema.release, nullptr);
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_OK(stope_table_to_arrow(table, &arrow_schema, &batch, &failure));
  ArrowDeviceArray device{};
  device.array = batch;
  device.device_type = 2;  // a GPU
  EXPECT_EQ(stope_table_from_arrow_device(&arrow_schema, &device, nullptr, nullptr, out.out(), &failure),
            STOPE_UNSUPPORTED);
  EXPECT_EQ(arrow_schema.release, nullptr);
  EXPECT_EQ(device.array.release, nullptr);
  EXPECT_OK(stope_table_to_arrow(table, &arrow_schema, &batch, &failure));
  EXPECT_REFUSED(stope_table_from_arrow_array(nullptr, &batch, nullptr, nullptr, out.out(), &failure),
                 STOPE_INVALID_ARGUMENT, "'schema' is a null pointer");
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_REFUSED(stope_table_from_arrow_array(&arrow_schema, nullptr, nullptr, nullptr, out.out(), &failure),
                 STOPE_INVALID_ARGUMENT, "'batch' is a null pointer");
  EXPECT_EQ(arrow_schema.release, nullptr);
}

}  // namespace
}  // namespace capi_test
