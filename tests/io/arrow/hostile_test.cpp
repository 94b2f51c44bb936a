// import_arrow: structures that contradict themselves, or hold what a table cannot, are refused, and released once.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "io/arrow/producer.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using arrow_test::bytes;
using arrow_test::coded;
using arrow_test::Data;
using arrow_test::numbers;
using arrow_test::Released;
using arrow_test::strings;

// Imports a batch that `spoil` has damaged; expects an error of that code with that text, and one release of each.
void expect_refused(const std::vector<Data>& columns, const std::function<void(ArrowSchema&, ArrowArray&)>& spoil,
                    ErrorCode code, const std::string& text) {
  Released released;
  ArrowSchema schema = arrow_test::schema_of(columns, released);
  ArrowArray batch = arrow_test::batch_of(columns, columns.empty() ? 0 : columns[0].length, released);
  spoil(schema, batch);
  try {
    import_arrow(&schema, &batch);
    ADD_FAILURE() << "taken: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what() << "\nwanted: " << text;
  }
  EXPECT_EQ(schema.release, nullptr) << text;
  EXPECT_EQ(batch.release, nullptr) << text;
  EXPECT_EQ(released.schemas, 1) << text;
  EXPECT_EQ(released.batches, 1) << text;
}

void expect_bad(const Data& column, const std::string& text) {
  expect_refused({column}, [](ArrowSchema&, ArrowArray&) {}, ErrorCode::invalid_data, text);
}

TEST(HostileArrow, RefusesTypesThatATableCannotHoldByNameAndColumn) {
  const std::vector<std::pair<const char*, const char*>> types = {{"z", "binary"},
                                                                  {"Z", "large binary"},
                                                                  {"vz", "binary view"},
                                                                  {"w:4", "fixed-size binary"},
                                                                  {"tts", "time"},
                                                                  {"ttm", "time"},
                                                                  {"ttu", "time"},
                                                                  {"ttn", "time"},
                                                                  {"tDs", "duration"},
                                                                  {"tDn", "duration"},
                                                                  {"tiM", "interval"},
                                                                  {"tiD", "interval"},
                                                                  {"tin", "interval"},
                                                                  {"+l", "list"},
                                                                  {"+L", "large list"},
                                                                  {"+vl", "list view"},
                                                                  {"+vL", "list view"},
                                                                  {"+w:3", "fixed-size list"},
                                                                  {"+s", "struct"},
                                                                  {"+m", "map"},
                                                                  {"+ud:0,1", "dense union"},
                                                                  {"+us:0,1", "sparse union"},
                                                                  {"+r", "run-end encoded"}};
  for (const auto& [format, name] : types) {
    expect_refused(
        {numbers<double>("good", "g", {1}), numbers<double>("bad", format, {1})}, [](ArrowSchema&, ArrowArray&) {},
        ErrorCode::unsupported,
        std::string("column 'bad': a table cannot hold the Arrow type ") + name + " ('" + format + "')");
  }
}

TEST(HostileArrow, RefusesFormatsThatAreNone) {
  for (const char* format :
       {"",    "x",  "gg",  "ts",   "tsq:",  "tsu",    "tsuU",      "d:5,2,x",    "d:5,77",          "td",
        "tdX", "d:", "d:5", "d:5,", "d:0,0", "d:77,0", "d:5,2,100", "d:5,2,128x", "d:99999999999,2", "d:5,-77",
        "+",   "+x", "v",   "w"}) {
    expect_bad(numbers<double>("x", format, {1}), "column 'x': '" + std::string(format) + "' is no Arrow format");
  }
  const std::vector<Data> columns = {numbers<double>("x", "g", {1})};
  expect_refused(
      columns, [](ArrowSchema& schema, ArrowArray&) { schema.children[0]->format = nullptr; }, ErrorCode::invalid_data,
      "column 'x': its Arrow format is a null pointer");
  expect_refused(
      columns, [](ArrowSchema& schema, ArrowArray&) { schema.format = nullptr; }, ErrorCode::invalid_data,
      "null pointer");
  expect_refused(
      columns, [](ArrowSchema& schema, ArrowArray&) { schema.format = "g"; }, ErrorCode::unsupported,
      "a table comes as Arrow's type struct, not as 'g'");
}

TEST(HostileArrow, RefusesSchemasThatContradictThemselves) {
  const std::vector<Data> columns = {numbers<double>("x", "g", {1}),
                                     coded<std::int8_t>("d", "c", {0}, strings("", "u", {"a"}))};
  using Spoil = std::function<void(ArrowSchema&)>;
  const std::vector<std::pair<Spoil, const char*>> cases = {
      {[](ArrowSchema& s) { s.n_children = -1; }, "-1 columns"},
      {[](ArrowSchema& s) { s.children = nullptr; }, "2 columns that are not there"},
      {[](ArrowSchema& s) { s.dictionary = s.children[0]; }, "a dictionary"},
      {[](ArrowSchema& s) { s.children[1] = nullptr; }, "column '2': its Arrow schema is a null pointer"},
      {[](ArrowSchema& s) { s.children[0]->release = nullptr; }, "column '1': its Arrow schema has been released"},
      {[](ArrowSchema& s) { s.children[0]->n_children = 1; }, "column 'x': its type has no children"},
      {[](ArrowSchema& s) { s.children[0]->name = "d"; }, "two columns are named 'd'"},
      {[](ArrowSchema& s) { s.children[0]->name = nullptr, s.children[1]->name = "1"; }, "two columns are named '1'"},
      {[](ArrowSchema& s) { s.children[1]->format = "f"; }, "indices of a dictionary are whole numbers, not float32"},
      {[](ArrowSchema& s) { s.children[1]->dictionary->release = nullptr; },
       "schema of its dictionary has been released"},
      {[](ArrowSchema& s) { s.children[1]->dictionary->dictionary = s.children[0]; }, "dictionary are nested"},
      {[](ArrowSchema& s) { s.children[1]->dictionary->n_children = 1; }, "dictionary are nested"},
      {[](ArrowSchema& s) { s.children[1]->dictionary->format = "?"; },
       "column 'd', dictionary: '?' is no Arrow format"},
      {[](ArrowSchema& s) { s.children[0]->metadata = "\xff\xff\xff\xff"; }, "metadata has a negative length"},
      {[](ArrowSchema& s) { s.children[1]->dictionary = nullptr; }, "the schema declares none"},
      {[](ArrowSchema& s) { s.n_children = 1; }, "2 columns, the schema has 1"},
  };
  for (const auto& [spoil, text] : cases) {
    expect_refused(columns, [&](ArrowSchema& schema, ArrowArray&) { spoil(schema); }, ErrorCode::invalid_data, text);
  }
  expect_refused(
      columns, [](ArrowSchema& s, ArrowArray&) { s.children[1]->dictionary->format = "l"; }, ErrorCode::unsupported,
      "column 'd': a table cannot hold a dictionary of int64 values");
}

TEST(HostileArrow, RefusesArraysThatContradictThemselves) {
  const std::vector<Data> columns = {numbers<double>("x", "g", {1, 2}, "11"),
                                     coded<std::int8_t>("d", "c", {0, 0}, strings("", "u", {"a"})),
                                     strings("s", "u", {"a", "b"}), strings("v", "vu", {"a", "b"})};
  using Spoil = std::function<void(ArrowArray&)>;
  static const void* no_buffers[4] = {nullptr, nullptr, nullptr, nullptr};
  const std::vector<std::pair<Spoil, const char*>> cases = {
      {[](ArrowArray& a) { a.length = -1; }, "must not be negative"},
      {[](ArrowArray& a) { a.offset = -1; }, "must not be negative"},
      {[](ArrowArray& a) { a.length = INT64_MAX; }, "exceed the address space"},
      {[](ArrowArray& a) { a.offset = INT64_MAX; }, "exceed the address space"},
      {[](ArrowArray& a) { a.length = 3; }, "column 'x': its Arrow array has 2 elements, its batch needs 3"},
      {[](ArrowArray& a) { a.offset = 1; }, "its batch needs 2 from element 1"},
      {[](ArrowArray& a) { a.n_children = 3; }, "3 columns, the schema has 4"},
      {[](ArrowArray& a) { a.children = nullptr; }, "its columns are a null pointer"},
      {[](ArrowArray& a) { a.dictionary = a.children[0]; }, "it has a dictionary"},
      {[](ArrowArray& a) { a.n_buffers = 0; }, "1 buffer, not 0"},
      {[](ArrowArray& a) { a.buffers = nullptr; }, "buffers are null"},
      {[](ArrowArray& a) { a.children[0] = nullptr; }, "column 'x': its Arrow array is a null pointer"},
      {[](ArrowArray& a) { a.children[0]->release = nullptr; }, "column 'x': its Arrow array has been released"},
      {[](ArrowArray& a) { a.children[0]->length = -5; }, "length -5 and offset 0"},
      {[](ArrowArray& a) { a.children[0]->offset = INT64_MAX - 1; }, "exceed the address space"},
      {[](ArrowArray& a) { a.children[0]->null_count = -2; }, "-2 nulls in an Arrow array of 2"},
      {[](ArrowArray& a) { a.children[0]->null_count = 3; }, "3 nulls in an Arrow array of 2"},
      {[](ArrowArray& a) { a.children[0]->n_buffers = 3; }, "type float64 has 2 buffers, not 3"},
      {[](ArrowArray& a) { a.children[0]->n_children = 1; }, "1 children, its type none"},
      {[](ArrowArray& a) { a.children[0]->buffers = nullptr; }, "buffers of its Arrow array are a null pointer"},
      {[](ArrowArray& a) { a.children[0]->buffers = no_buffers; }, "2 elements has a null pointer for its values"},
      {[](ArrowArray& a) { a.children[0]->buffers[0] = nullptr, a.children[0]->null_count = 1; },
       "without a validity buffer"},
      {[](ArrowArray& a) { a.children[1]->dictionary = nullptr; }, "lacks the dictionary"},
      {[](ArrowArray& a) { a.children[1]->dictionary->dictionary = a.children[0]; }, "a dictionary of its own"},
      {[](ArrowArray& a) { a.children[1]->dictionary->release = nullptr; },
       "column 'd', dictionary: its Arrow array has been released"},
      {[](ArrowArray& a) { a.children[1]->dictionary->length = -1; }, "column 'd', dictionary"},
      {[](ArrowArray& a) { a.children[2]->n_buffers = 2; }, "type string has 3 buffers, not 2"},
      {[](ArrowArray& a) { a.children[2]->buffers[2] = nullptr; },
       "column 's', row 0: its string lies in a null pointer"},
      {[](ArrowArray& a) { a.children[3]->n_buffers = 2; }, "string view has 3 buffers or more, not 2"},
      {[](ArrowArray& a) { a.children[3]->buffers[3] = nullptr; }, "null pointer for the sizes of its buffers"},
      {[](ArrowArray& a) { a.children[3]->buffers[2] = nullptr; }, "2 bytes at a null pointer"},
  };
  for (const auto& [spoil, text] : cases) {
    expect_refused(columns, [&](ArrowSchema&, ArrowArray& batch) { spoil(batch); }, ErrorCode::invalid_data, text);
  }
  expect_refused(
      columns, [](ArrowSchema&, ArrowArray& a) { a.null_count = 1; }, ErrorCode::unsupported,
      "rows that are null as a whole");
  static const char bitmap = 1;
  static const void* of_batch = &bitmap;
  expect_refused(
      columns, [](ArrowSchema&, ArrowArray& a) { a.null_count = -1, a.buffers = &of_batch; }, ErrorCode::unsupported,
      "rows that are null as a whole");
}

TEST(HostileArrow, RefusesStringsThatLieNowhere) {
  Data falling = strings("x", "u", {"ab", "c"});
  falling.buffers[1] = bytes(std::vector<std::int32_t>{0, 2, 1});
  expect_bad(falling, "column 'x', row 1: its string lies between the offsets 2 and 1");
  falling.buffers[1] = bytes(std::vector<std::int32_t>{-1, 2, 3});
  expect_bad(falling, "row 0: its string lies between the offsets -1 and 2");
  Data large = strings("x", "U", {"ab", "c"});
  large.buffers[1] = bytes(std::vector<std::int64_t>{0, INT64_MIN, 3});
  expect_bad(large, "row 0: its string lies between the offsets 0 and");
  const std::string text = "more than twelve bytes";
  const auto with_view = [&](std::int32_t length, std::int32_t buffer, std::int32_t offset) {
    Data data = strings("x", "vu", {text});
    data.buffers[1] = bytes(std::vector<std::int32_t>{length, 0, buffer, offset});
    return data;
  };
  expect_bad(with_view(-1, 0, 0), "row 0: its string view has the length -1");
  expect_bad(with_view(22, 1, 0), "buffer 1 of 1");
  expect_bad(with_view(22, -1, 0), "buffer -1 of 1");
  expect_bad(with_view(22, 0, -1), "at offset -1");
  expect_bad(with_view(22, 0, 1), "ends beyond the 22 bytes of its buffer");
  expect_bad(with_view(INT32_MAX, 0, INT32_MAX), "ends beyond");
  Data sizes = strings("x", "vu", {text});
  sizes.buffers[3] = bytes(std::vector<std::int64_t>{-1});
  expect_bad(sizes, "buffer 0 of a string view has -1 bytes");
  expect_bad(strings("x", "u", {"good", "\xff"}), "column 'x', row 1: its string is not UTF-8");
  expect_bad(coded<std::int8_t>("x", "c", {0}, strings("", "u", {"good", "\xc3"})),
             "value 1 of its dictionary is not UTF-8");
}

TEST(HostileArrow, RefusesIndicesOutsideTheirDictionary) {
  const Data values = strings("", "u", {"a", "b"});
  expect_bad(coded<std::int8_t>("x", "c", {0, -1}, values),
             "column 'x', row 1: index -1 is outside its dictionary of 2");
  expect_bad(coded<std::int32_t>("x", "i", {0, 2}, values), "row 1: index 2 is outside its dictionary of 2");
  expect_bad(coded<std::int32_t>("x", "i", {INT32_MIN}, values), "row 0: index -2147483648 is outside");
  expect_bad(coded<std::uint32_t>("x", "I", {UINT32_MAX}, values), "row 0: index 4294967295 is outside");
  expect_bad(coded<std::int64_t>("x", "l", {INT64_MIN}, values), "row 0: index -9223372036854775808 is outside");
  expect_bad(coded<std::uint64_t>("x", "L", {UINT64_MAX}, values), "row 0: index 18446744073709551615 is outside");
  expect_bad(coded<std::uint8_t>("x", "C", {0}, strings("", "u", {})), "is outside its dictionary of 0");
}

TEST(HostileArrow, RefusesRolesAndTypesThatDoNotExist) {
  const auto with = [](const std::string& key, const std::string& value) {
    Data data = numbers<double>("x", "g", {1});
    const std::int32_t sizes[3] = {1, static_cast<std::int32_t>(key.size()), static_cast<std::int32_t>(value.size())};
    data.metadata.append(reinterpret_cast<const char*>(sizes), 8).append(key);
    data.metadata.append(reinterpret_cast<const char*>(sizes + 2), 4).append(value);
    return data;
  };
  expect_bad(with("stope.role", "king"), "column 'x': its metadata names an unknown role");
  expect_bad(with("stope.type", "float"), "column 'x': its metadata names an unknown type");
  // Lists of values are those of a dictionary; at another column nobody reads them.
  const auto listed = [&](const std::string& values) {
    Data data = coded<std::int8_t>("x", "c", {0}, strings("", "u", {"a"}));
    data.metadata = with("stope.values", values).metadata;
    return data;
  };
  expect_bad(listed(R"("a")"), "column 'x': its metadata lists its values in no list");
  expect_bad(listed("[1]"), "column 'x': its metadata lists a value that is no text");
  expect_bad(listed(R"(["a", "b", "a"])"), "column 'x': its metadata lists the value 'a' twice");
  expect_bad(listed(R"(["a")"), "no valid JSON");
  Released ignored;
  for (const char* const key : {"stope.values", "stope.order"}) {
    EXPECT_EQ(arrow_test::import({with(key, "[1]")}, ignored).columns[0].at(0), 1) << key;
  }
  Data day = numbers<std::int32_t>("x", "tdD", {1});
  day.metadata = with("stope.type", "integer").metadata;
  EXPECT_EQ(arrow_test::import({day}, ignored).columns[0].type, ValueType::date);
  Released released;
  EXPECT_EQ(arrow_test::import({with("stope.type", "integer")}, released).columns[0].type, ValueType::integer);
  // Somebody has put numbers where there were names: the Arrow type counts.
  EXPECT_EQ(arrow_test::import({with("stope.type", "nominal")}, released).columns[0].type, ValueType::real);
  EXPECT_EQ(arrow_test::import({with("other", "king")}, released).columns[0].role, Role::regular);
}

TEST(HostileArrow, RefusesNullPointersAndReleasedStructures) {
  Released released;
  const std::vector<Data> columns = {numbers<double>("x", "g", {1})};
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of([] { import_arrow(nullptr); }), ErrorCode::invalid_argument);
  ArrowArrayStream gone{};
  EXPECT_EQ(code_of([&] { import_arrow(&gone); }), ErrorCode::invalid_argument);
  ArrowArrayStream lacking = arrow_test::stream_of({}, columns, released);
  lacking.get_next = nullptr;
  EXPECT_EQ(code_of([&] { import_arrow(&lacking); }), ErrorCode::invalid_argument);
  EXPECT_EQ(released.streams, 1);
  ArrowSchema schema = arrow_test::schema_of(columns, released);
  EXPECT_EQ(code_of([&] { import_arrow(&schema, static_cast<ArrowArray*>(nullptr)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(released.schemas, 1);
  ArrowArray batch = arrow_test::batch_of(columns, 1, released);
  EXPECT_EQ(code_of([&] { import_arrow(&schema, &batch); }), ErrorCode::invalid_argument);  // released above
  EXPECT_EQ(released.batches, 1);
}

TEST(HostileArrow, ReportsAProducerThatFailsInItsOwnWords) {
  Released released;
  const std::vector<Data> columns = {numbers<double>("x", "g", {1})};
  ArrowArrayStream stream = arrow_test::stream_of({columns, columns}, columns, released, 1);
  try {
    import_arrow(&stream);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("the disk is on fire"), std::string::npos) << error.what();
  }
  EXPECT_EQ(released.batches, 1);
  EXPECT_EQ(released.streams, 1);
  ArrowArrayStream full = arrow_test::stream_of({}, columns, released);
  full.get_next = [](ArrowArrayStream*, ArrowArray*) { return ENOMEM; };
  expect_error(ErrorCode::out_of_memory, "fails with code 12: the disk is on fire", [&] { import_arrow(&full); });
  ArrowArrayStream gone = arrow_test::stream_of({}, columns, released);
  gone.get_schema = [](ArrowArrayStream*, ArrowSchema*) { return 0; };
  expect_error(ErrorCode::invalid_argument, "the stream gives a schema that has been released",
               [&] { import_arrow(&gone); });
  ArrowArrayStream silent = arrow_test::stream_of({}, columns, released, 0);
  silent.get_last_error = nullptr;
  expect_error(ErrorCode::io, "fails with code 5: it does not say why", [&] { import_arrow(&silent); });
}

TEST(HostileArrow, RefusesTheMemoryOfOtherDevicesInWords) {
  Released released;
  const std::vector<Data> columns = {numbers<double>("x", "g", {1})};
  const auto on = [&](ArrowDeviceType type) {
    ArrowSchema schema = arrow_test::schema_of(columns, released);
    ArrowDeviceArray batch{};
    batch.array = arrow_test::batch_of(columns, 1, released);
    batch.device_id = 3;
    batch.device_type = type;
    return import_arrow(&schema, &batch);
  };
  EXPECT_EQ(on(ARROW_DEVICE_CPU).columns[0].at(0), 1);
  const std::vector<std::pair<ArrowDeviceType, const char*>> devices = {{2, "a CUDA GPU"},
                                                                        {3, "the host, pinned by CUDA"},
                                                                        {4, "an OpenCL device"},
                                                                        {7, "a Vulkan device"},
                                                                        {8, "a Metal GPU"},
                                                                        {10, "a ROCm GPU"},
                                                                        {11, "the host, pinned by ROCm"},
                                                                        {13, "CUDA, managed"},
                                                                        {14, "a oneAPI device"},
                                                                        {99, "a device of type 99"}};
  for (const auto& [type, name] : devices) {
    expect_error(ErrorCode::unsupported, "lies in that of " + std::string(name) + " (number 3): copy it to the CPU",
                 [&, other = type] { on(other); });
  }
  EXPECT_EQ(released.batches, 11);
  EXPECT_EQ(released.schemas, 11);
  ArrowSchema schema = arrow_test::schema_of(columns, released);
  expect_error(ErrorCode::invalid_argument, "the batch is a null pointer",
               [&] { import_arrow(&schema, static_cast<ArrowDeviceArray*>(nullptr)); });
}

}  // namespace
}  // namespace stope
