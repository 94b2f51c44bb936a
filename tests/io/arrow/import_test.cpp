// import_arrow: types, nulls, slices, chunks, dictionaries, and which memory is shared.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "effort.hpp"
#include "expect_error.hpp"
#include "io/arrow/exact.hpp"
#include "io/arrow/producer.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using arrow_test::bits;
using arrow_test::bytes;
using arrow_test::coded;
using arrow_test::Data;
using arrow_test::numbers;
using arrow_test::Released;
using arrow_test::strings;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Table import(const std::vector<Data>& columns, const ArrowOptions& options = {}, const RunOptions& run = {}) {
  static Released ignored;  // tables that share a batch release it when the test ends
  return arrow_test::import(columns, ignored, options, run);
}

std::vector<double> values_of(const Column& column) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < column.size(); ++row) values.push_back(column.at(row));
  return values;
}

std::vector<std::string> names_of(const Column& column) {
  std::vector<std::string> names;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    names.push_back(column.missing(row) ? "?" : column.values[static_cast<std::size_t>(column.codes()[row])]);
  }
  return names;
}

std::vector<std::string> list_of(const Column& column) {
  return {column.values.begin(), column.values.end()};
}

template <class T>
void expect_numbers(const std::string& format, const std::vector<T>& given, ValueType type, bool narrow) {
  const Table table = import({numbers("x", format, given, "1011")});
  const Column& column = table.columns[0];
  EXPECT_EQ(column.type, type) << format;
  EXPECT_EQ(std::holds_alternative<Buffer<float>>(column.data), narrow) << format;
  ASSERT_EQ(table.n_rows, 4) << format;
  for (const std::int64_t row : {0, 2, 3}) {
    EXPECT_EQ(column.at(row), static_cast<double>(given[static_cast<std::size_t>(row)])) << format;
  }
  EXPECT_TRUE(column.missing(1)) << format;
}

TEST(ImportArrow, TakesEveryTypeOfNumberWithNullsAsMissingValues) {
  expect_numbers<std::int8_t>("c", {-128, 5, 127, 0}, ValueType::integer, true);
  expect_numbers<std::uint8_t>("C", {0, 5, 255, 1}, ValueType::integer, true);
  expect_numbers<std::int16_t>("s", {-32768, 5, 32767, 0}, ValueType::integer, true);
  expect_numbers<std::uint16_t>("S", {0, 5, 65535, 1}, ValueType::integer, true);
  expect_numbers<std::int32_t>("i", {INT32_MIN, 5, INT32_MAX, 0}, ValueType::integer, false);
  expect_numbers<std::uint32_t>("I", {0, 5, UINT32_MAX, 1}, ValueType::integer, false);
  expect_numbers<std::int64_t>("l", {-(1LL << 53), INT64_MAX, 1LL << 53, 0}, ValueType::integer, false);
  expect_numbers<std::uint64_t>("L", {0, UINT64_MAX, 1ULL << 53, 1}, ValueType::integer, false);
  expect_numbers<float>("f", {0.5F, 5, -1e30F, 0}, ValueType::real, true);
  expect_numbers<double>("g", {0.1, 5, -1e300, 0}, ValueType::real, false);
  expect_numbers<std::int32_t>("tdD", {-1, 5, 20000, 0}, ValueType::date, false);
}

TEST(ImportArrow, TakesEveryHalf) {
  std::vector<std::uint16_t> halves;
  for (std::uint32_t half = 0; half < 65536; ++half) halves.push_back(static_cast<std::uint16_t>(half));
  const Table table = import({numbers("x", "e", halves)});
  for (std::int64_t half = 0; half < 65536; ++half) {
    const int exponent = static_cast<int>(half >> 10 & 31);
    const auto fraction = static_cast<double>(half & 1023);
    double expected = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) expected = fraction == 0 ? std::numeric_limits<double>::infinity() : kNaN;
    if (half >> 15 != 0) expected = -expected;
    const double got = table.columns[0].at(half);
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected))
        << half;
  }
}

TEST(ImportArrow, RefusesIntegersBeyondTwoToThe53WithColumnAndRow) {
  const std::vector<Data> bad = {numbers<std::int64_t>("a b", "l", {1, (1LL << 53) + 1}),
                                 numbers<std::int64_t>("a b", "l", {1, INT64_MIN}),
                                 numbers<std::uint64_t>("a b", "L", {1, (1ULL << 53) + 1})};
  for (const Data& data : bad) {
    try {
      import({data});
      FAIL() << data.format;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_EQ(error.feature(), "a b");
      EXPECT_EQ(error.row(), 1);
      EXPECT_NE(std::string(error.what()).find("column 'a b', row 1"), std::string::npos) << error.what();
    }
  }
}

TEST(ImportArrow, GivesAnInstantTheSameNumberInEveryUnitAndZone) {
  const std::int64_t second = 1717243501;  // 2024-06-01 12:05:01 UTC, no whole fraction of a day
  const Table table = import({numbers<std::int64_t>("s", "tss:", {second, -1}),
                              numbers<std::int64_t>("m", "tsm:UTC", {second * 1000, -1000}),
                              numbers<std::int64_t>("u", "tsu:Europe/Rome", {second * 1000000, -1000000}),
                              numbers<std::int64_t>("n", "tsn:+02:00", {second * 1000000000, -1000000000}),
                              numbers<std::int64_t>("d", "tdm", {second * 1000, -1000})});
  const double expected = static_cast<double>(second) / 86400;
  for (const Column& column : table.columns) {
    EXPECT_EQ(column.type, ValueType::date);
    EXPECT_EQ(values_of(column), (std::vector<double>{expected, -1.0 / 86400})) << column.name;
  }
}

TEST(ImportArrow, RoundsNanosecondsOnce) {
  // long double has 64 bits: it holds every count, and decides all but ties, which these are not.
  for (const std::int64_t count :
       {INT64_MAX, INT64_MIN, std::int64_t{1717243501123456789}, std::int64_t{-(1LL << 53) - 1}}) {
    const double days = io::arrow::days_of(count, 86400000000000);
    const long double exact = static_cast<long double>(count) / 86400000000000.0L;
    const auto error = [&](double value) { return std::fabs(static_cast<long double>(value) - exact); };
    EXPECT_LE(error(days), error(std::nextafter(days, 1e300))) << count;
    EXPECT_LE(error(days), error(std::nextafter(days, -1e300))) << count;
  }
}

// A decimal of 16 bytes from a word.
Data decimals(const std::string& format, const std::vector<std::int64_t>& low) {
  std::vector<std::int64_t> words;
  for (const std::int64_t word : low) {
    words.push_back(word);
    words.push_back(word < 0 ? -1 : 0);
  }
  Data data = numbers("x", format, words);
  data.length = static_cast<std::int64_t>(low.size());
  return data;
}

TEST(ImportArrow, TakesDecimalsThatKeepTheirDigits) {
  const Table table = import({decimals("d:19,2", {1, -12345, 99999999999999, 999999999999999, 900719925474099200})});
  EXPECT_EQ(values_of(table.columns[0]),
            (std::vector<double>{0.01, -123.45, 999999999999.99, 9999999999999.99, 9007199254740992.0}));
  EXPECT_EQ(table.columns[0].type, ValueType::real);
  EXPECT_EQ(values_of(import({decimals("d:5,-3", {7})}).columns[0]), (std::vector<double>{7000}));
  EXPECT_EQ(values_of(import({decimals("d:38,30", {1})}).columns[0]), (std::vector<double>{1e-30}));
  EXPECT_EQ(import({decimals("d:9,0", {7})}).columns[0].type, ValueType::integer);
  EXPECT_EQ(values_of(import({numbers<std::int32_t>("x", "d:9,1,32", {-15})}).columns[0]), (std::vector<double>{-1.5}));
  EXPECT_EQ(values_of(import({numbers<std::int64_t>("x", "d:9,1,64", {25})}).columns[0]), (std::vector<double>{2.5}));
  // 10^22 has more than 64 bits, and all its digits are zeros.
  Data large = numbers("x", "d:38,22", std::vector<std::int64_t>{0x19E0C9BAB2400000, 0x21E});
  large.length = 1;
  EXPECT_EQ(values_of(import({large}).columns[0]), (std::vector<double>{1}));
  // 10^20 * 10^-20 in 128 and 256 bits, and its negative.
  const std::vector<std::int64_t> one = {0x6BC75E2D63100000, 5};
  const std::vector<std::int64_t> minus_one = {-0x6BC75E2D63100000, -6};
  Data wide = numbers("x", "d:38,20", std::vector<std::int64_t>{one[0], one[1], minus_one[0], minus_one[1]});
  wide.length = 2;
  EXPECT_EQ(values_of(import({wide}).columns[0]), (std::vector<double>{1, -1}));
  Data wider = numbers("x", "d:76,20,256", std::vector<std::int64_t>{minus_one[0], minus_one[1], -1, -1});
  wider.length = 1;
  EXPECT_EQ(values_of(import({wider}).columns[0]), (std::vector<double>{-1}));
}

TEST(ImportArrow, RefusesDecimalsThatADoubleWouldRound) {
  for (const std::int64_t digits : {std::int64_t{1000000000000001}, std::int64_t{9007199254740993}, INT64_MAX}) {
    expect_error(ErrorCode::unsupported, "column 'x', row 0: the decimal has more digits than a float64 keeps",
                 [&] { import({decimals("d:19,1", {digits})}); });
  }
  expect_error(ErrorCode::unsupported, "column 'x', row 0: the decimal has more digits than a float64 keeps",
               [&] { import({decimals("d:19,0", {(1LL << 53) + 1})}); });
  expect_error(ErrorCode::unsupported, "column 'x', row 0: the decimal has more digits than a float64 keeps",
               [&] { import({decimals("d:5,-76", {7})}); });
}

TEST(ImportArrow, TakesStringsOfThreeLayoutsSortedLikeAFilesOrInOrderOfAppearance) {
  const std::vector<std::string> texts = {"b", "", "a longer string than twelve bytes", "b", "?", "exactly twel"};
  for (const std::string format : {"u", "U", "vu"}) {
    const Table sorted = import({strings("x", format, texts, "111101")});
    EXPECT_EQ(sorted.columns[0].type, ValueType::polynominal);
    EXPECT_EQ(list_of(sorted.columns[0]),
              (std::vector<std::string>{"", "a longer string than twelve bytes", "b", "exactly twel"}));
    EXPECT_EQ(names_of(sorted.columns[0]),
              (std::vector<std::string>{"b", "", "a longer string than twelve bytes", "b", "?", "exactly twel"}));
    EXPECT_TRUE(sorted.columns[0].missing(4));
    ArrowOptions options;
    options.nominal_order = NominalOrder::appearance;
    EXPECT_EQ(list_of(import({strings("x", format, texts, "111101")}, options).columns[0]),
              (std::vector<std::string>{"b", "", "a longer string than twelve bytes", "exactly twel"}));
  }
}

TEST(ImportArrow, TakesBooleansAsFalseAndTrue) {
  Data data{"x", "b", 3, {bits("0110"), bits("0100")}, -1, 1};
  const Column column = import({data}).columns[0];
  EXPECT_EQ(column.type, ValueType::binominal);
  EXPECT_EQ(list_of(column), (std::vector<std::string>{"false", "true"}));
  EXPECT_EQ(names_of(column), (std::vector<std::string>{"true", "false", "?"}));
}

TEST(ImportArrow, TakesTheNullTypeAsMissingNumbers) {
  using Buffers = std::vector<std::optional<arrow_test::Bytes>>;
  for (const Buffers& buffers : {Buffers{}, Buffers{std::nullopt}}) {  // polars gives a buffer for the bitmap
    const Table table = import({Data{"x", "n", 3, buffers}});
    EXPECT_EQ(table.columns[0].type, ValueType::real);
    for (std::int64_t row = 0; row < 3; ++row) EXPECT_TRUE(table.columns[0].missing(row));
  }
}

template <class Index>
void expect_dictionary(const std::string& format) {
  // "b" stands twice, "unused" nowhere, and one value is null.
  const Data values = strings("", "u", {"b", "unused", "a", "b", "gone"}, "11110");
  const Column column = import({coded<Index>("x", format, {3, 2, 0, 4, 2, 1}, values, "111110")}).columns[0];
  EXPECT_EQ(column.type, ValueType::polynominal);
  EXPECT_EQ(list_of(column), (std::vector<std::string>{"b", "unused", "a"})) << format;
  EXPECT_EQ(names_of(column), (std::vector<std::string>{"b", "a", "b", "?", "a", "?"})) << format;
}

TEST(ImportArrow, TakesDictionariesOfEveryIndexKeepingUnusedValuesAndMergingRepeatedOnes) {
  expect_dictionary<std::int8_t>("c");
  expect_dictionary<std::uint8_t>("C");
  expect_dictionary<std::int16_t>("s");
  expect_dictionary<std::uint16_t>("S");
  expect_dictionary<std::int32_t>("i");
  expect_dictionary<std::uint32_t>("I");
  expect_dictionary<std::int64_t>("l");
  expect_dictionary<std::uint64_t>("L");
}

TEST(ImportArrow, SharesTheMemoryOfOneBatchAndReleasesItWithTheLastColumn) {
  Released released;
  const std::vector<Data> columns = {numbers<double>("g", "g", {1, kNaN, 3}), numbers<float>("f", "f", {1, 2, 3}),
                                     coded<std::int32_t>("i", "i", {1, 0, 1}, strings("", "u", {"a", "b"})),
                                     coded<std::uint32_t>("u", "I", {1, 0, 1}, strings("", "vu", {"a", "b"})),
                                     numbers<std::int32_t>("copied", "i", {1, 2, 3})};
  ArrowSchema schema = arrow_test::schema_of(columns, released);
  ArrowArray batch = arrow_test::batch_of(columns, 3, released);
  std::vector<const void*> addresses;
  for (int c = 0; c < 4; ++c) addresses.push_back(batch.children[c]->buffers[1]);
  Table table = import_arrow(&schema, &batch);
  EXPECT_EQ(schema.release, nullptr);
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_EQ(released.schemas, 1);
  EXPECT_EQ(released.batches, 0);
  for (std::size_t c = 0; c < 4; ++c) {
    std::visit([&](const auto& buffer) { EXPECT_EQ(buffer.data(), addresses[c]); }, table.columns[c].data);
  }
  EXPECT_EQ(list_of(table.columns[3]), (std::vector<std::string>{"a", "b"}));
  Column last = table.columns[3];
  table = {};
  EXPECT_EQ(released.batches, 0);
  EXPECT_EQ(names_of(last), (std::vector<std::string>{"b", "a", "b"}));
  last = {};
  EXPECT_EQ(released.batches, 1);
}

TEST(ImportArrow, CopiesWhatCannotBeSharedAndReleasesTheBatchBeforeItReturns) {
  const Data repeated = coded<std::int32_t>("x", "i", {1, 0}, strings("", "u", {"a", "a"}));
  const Data with_null = coded<std::int32_t>("x", "i", {1, 0}, strings("", "u", {"a", "b"}, "10"));
  for (const Data& data : {numbers<double>("x", "g", {1, 2}, "10"), repeated, with_null,
                           coded<std::int16_t>("x", "s", {1, 0}, strings("", "u", {"a", "b"}))}) {
    Released released;
    const Table table = arrow_test::import({data}, released);
    EXPECT_EQ(released.batches, 1) << data.format;
    EXPECT_EQ(table.n_rows, 2);
  }
  Released released;
  ArrowOptions options;
  options.memory = ArrowMemory::copied;
  const Table table = arrow_test::import(
      {numbers<double>("g", "g", {1, 2}), coded<std::int32_t>("i", "i", {1, 0}, strings("", "u", {"a", "b"}))},
      released, options);
  EXPECT_EQ(released.batches, 1);
  EXPECT_EQ(names_of(table.columns[1]), (std::vector<std::string>{"b", "a"}));
}

TEST(ImportArrow, CopiesMemoryThatIsNotAligned) {
  const Data data = numbers<double>("x", "g", {0, 1, 2});
  arrow_test::Bytes shifted(1);
  shifted.insert(shifted.end(), data.buffers[1]->begin(), data.buffers[1]->end());
  Released released;
  ArrowSchema schema = arrow_test::schema_of({data}, released);
  ArrowArray batch = arrow_test::batch_of({data}, 3, released);
  const void* buffers[2] = {nullptr, shifted.data() + 1};
  batch.children[0]->buffers = buffers;
  const Table table = import_arrow(&schema, &batch);
  EXPECT_EQ(released.batches, 1);
  EXPECT_EQ(values_of(table.columns[0]), (std::vector<double>{0, 1, 2}));
}

TEST(ImportArrow, CopiesCodesThatAreNotAligned) {
  const Data data = coded<std::int32_t>("x", "i", {1, 0, 1}, strings("", "u", {"a", "b"}));
  arrow_test::Bytes shifted(1);
  shifted.insert(shifted.end(), data.buffers[1]->begin(), data.buffers[1]->end());
  Released released;
  ArrowSchema schema = arrow_test::schema_of({data}, released);
  ArrowArray batch = arrow_test::batch_of({data}, 3, released);
  const void* buffers[2] = {nullptr, shifted.data() + 1};
  batch.children[0]->buffers = buffers;
  const Table table = import_arrow(&schema, &batch);
  EXPECT_EQ(released.batches, 1);
  EXPECT_EQ(names_of(table.columns[0]), (std::vector<std::string>{"b", "a", "b"}));
}

TEST(ImportArrow, AColumnThatIsSaidToBeBinominalHasTwoValues) {
  // Metadata of one entry: its number, then key and value with their lengths.
  const std::int32_t sizes[3] = {1, 10, 9};
  std::string metadata(reinterpret_cast<const char*>(sizes), 8);
  metadata.append("stope.type").append(reinterpret_cast<const char*>(sizes + 2), 4).append("binominal");
  for (const bool third : {false, true}) {
    Data data = strings("x", "u", {"a", "b", third ? "c" : "a"});
    data.metadata = metadata;
    EXPECT_EQ(import({data}).columns[0].type, third ? ValueType::polynominal : ValueType::binominal);
  }
}

TEST(ImportArrow, ReadsADictionaryAgainWhereItIsAnother) {
  // Each part differs from the one before in one member of its dictionary alone.
  const auto batch = [](const std::vector<std::int8_t>& indices, const Data& values) {
    return std::vector<Data>{coded("x", "c", indices, values)};
  };
  Data sliced = strings("", "u", {"a", "b", "c"});
  sliced.offset = 1;
  sliced.length = 2;
  Data gap = strings("", "u", {"b", "c"}, "01");
  const std::vector<std::vector<Data>> batches = {batch({0}, strings("", "u", {"a", "b"})), batch({0}, sliced),
                                                  batch({0, 1}, gap), batch({}, gap)};
  Released released;
  ArrowArrayStream stream = arrow_test::stream_of(batches, batches[0], released);
  EXPECT_EQ(names_of(import_arrow(&stream).columns[0]), (std::vector<std::string>{"a", "b", "?", "c"}));
}

TEST(ImportArrow, TakesTruthValuesOfBatchesWithoutRows) {
  const std::vector<Data> none = {Data{"x", "b", 0, {std::nullopt, bits("0")}}};
  const std::vector<Data> two = {Data{"x", "b", 2, {std::nullopt, bits("10")}}};
  Released released;
  ArrowArrayStream stream = arrow_test::stream_of({none, two, none, two}, two, released);
  EXPECT_EQ(names_of(import_arrow(&stream).columns[0]), (std::vector<std::string>{"true", "false", "true", "false"}));
}

TEST(ImportArrow, FollowsOffsetsOfBatchesAndColumns) {
  // The batch begins at its element 1, and each column at element 2 of its buffers.
  std::vector<Data> columns = {numbers<std::int16_t>("n", "s", {9, 9, 9, 1, 2, 3}, "000101"),
                               strings("s", "u", {"no", "no", "no", "x", "yy", "z"}, "000110"),
                               coded<std::int8_t>("d", "c", {9, 9, 9, 1, 0, 1}, strings("", "U", {"a", "b"})),
                               numbers<double>("g", "g", {9, 9, 9, 1, 2, 3})};
  for (Data& data : columns) {
    data.offset = 2;
    data.length = 4;
  }
  Released released;
  ArrowSchema schema = arrow_test::schema_of(columns, released);
  ArrowArray batch = arrow_test::batch_of(columns, 3, released);
  batch.offset = 1;
  const auto* const address = static_cast<const double*>(batch.children[3]->buffers[1]);
  const Table table = import_arrow(&schema, &batch);
  EXPECT_EQ(table.columns[0].at(0), 1);
  EXPECT_TRUE(table.columns[0].missing(1));
  EXPECT_EQ(table.columns[0].at(2), 3);
  EXPECT_EQ(names_of(table.columns[1]), (std::vector<std::string>{"x", "yy", "?"}));
  EXPECT_EQ(names_of(table.columns[2]), (std::vector<std::string>{"b", "a", "b"}));
  EXPECT_EQ(std::get<Buffer<double>>(table.columns[3].data).data(), address + 3);
}

TEST(ImportArrow, SharesASliceWithoutNullsOfAColumnWithNulls) {
  Data data = numbers<double>("x", "g", {1, 2, 3}, "011");
  data.offset = 1;
  data.length = 2;
  Released released;
  const Table table = arrow_test::import({data}, released);
  EXPECT_EQ(released.batches, 0);
  EXPECT_EQ(values_of(table.columns[0]), (std::vector<double>{2, 3}));
}

TEST(ImportArrow, ConcatenatesBatchesWhoseDictionariesDiffer) {
  const auto batch = [](const std::vector<double>& x, const std::vector<std::string>& words,
                        const std::vector<std::int8_t>& indices, const std::vector<std::string>& values) {
    return std::vector<Data>{numbers("x", "g", x), strings("s", "vu", words),
                             coded("d", "c", indices, strings("", "u", values))};
  };
  const std::vector<std::vector<Data>> batches = {batch({1, 2}, {"q", "p"}, {1, 0}, {"b", "a"}),
                                                  batch({}, {}, {}, {"z"}), batch({3}, {"a"}, {1}, {"c", "b", "a"})};
  Released released;
  ArrowArrayStream stream = arrow_test::stream_of(batches, batches[0], released);
  const Table table = import_arrow(&stream);
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_EQ(released.schemas, 1);
  EXPECT_EQ(released.batches, 3);
  EXPECT_EQ(released.streams, 1);
  EXPECT_EQ(values_of(table.columns[0]), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(list_of(table.columns[1]), (std::vector<std::string>{"a", "p", "q"}));
  EXPECT_EQ(names_of(table.columns[1]), (std::vector<std::string>{"q", "p", "a"}));
  EXPECT_EQ(list_of(table.columns[2]), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(names_of(table.columns[2]), (std::vector<std::string>{"a", "b", "b"}));
}

TEST(ImportArrow, TakesStreamsWithoutBatchesAndBatchesWithoutRows) {
  const std::vector<Data> columns = {numbers<double>("x", "g", {}), strings("s", "u", {}),
                                     coded<std::int8_t>("d", "c", {}, strings("", "u", {"b", "a"}))};
  Released released;
  ArrowArrayStream none = arrow_test::stream_of({}, columns, released);
  const Table empty = import_arrow(&none);
  EXPECT_EQ(empty.n_rows, 0);
  ASSERT_EQ(empty.columns.size(), 3U);
  EXPECT_EQ(empty.columns[1].type, ValueType::polynominal);
  empty.validate();
  ArrowArrayStream rowless = arrow_test::stream_of({columns, columns}, columns, released);
  const Table table = import_arrow(&rowless);
  EXPECT_EQ(table.n_rows, 0);
  EXPECT_EQ(list_of(table.columns[2]), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(import(std::vector<Data>{}).columns.size(), 0U);
}

TEST(ImportArrow, NamesAColumnWithoutANameByItsNumber) {
  const Table table = import({numbers<double>("", "g", {1}), numbers<double>("b", "g", {1})});
  EXPECT_EQ(table.columns[0].name, "1");
}

TEST(ImportArrow, GivesRolesAndTypesAsTheFileReadersDo) {
  const std::vector<Data> columns = {numbers<std::int8_t>("class", "c", {2, 1, 2}),
                                     strings("key", "u", {"a", "b", "c"}), numbers<double>("w", "g", {1, 2, 3}),
                                     strings("text", "u", {"1.5", "2", "1.5"}),
                                     numbers<double>("noise", "g", {0, 0, 0})};
  ArrowOptions options;
  options.target = "class";
  options.target_is_nominal = true;
  options.id = "key";
  options.sample_weight = "w";
  options.ignore = {"noise"};
  options.numeric = {"text"};
  const Table table = import(columns, options);
  EXPECT_EQ(table.find(Role::label), 0);
  EXPECT_EQ(list_of(table.columns[0]), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(table.find(Role::id), 1);
  EXPECT_EQ(table.find(Role::weight), 2);
  EXPECT_EQ(values_of(table.columns[3]), (std::vector<double>{1.5, 2, 1.5}));
  EXPECT_EQ(table.find(Role::ignore), 4);
  options.target = "klass";
  options.source = "the frame";
  try {
    import(columns, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the frame: no column 'klass'"), std::string::npos) << error.what();
  }
}

TEST(ImportArrow, GivesTheSameTableWithAnyNumberOfThreads) {
  std::vector<std::vector<Data>> batches;
  for (int b = 0; b < 3; ++b) {
    std::vector<double> x;
    std::vector<std::string> words;
    for (int i = 0; i < repeated(400000, 35000); ++i) {  // work for three threads
      x.push_back(b * 1000 + i);
      words.push_back(std::to_string((i * 7 + b) % 1009));
    }
    batches.push_back({numbers("x", "g", x), strings("a", "u", words), strings("b", "vu", words)});
  }
  std::vector<Table> tables;
  for (const int threads : {1, 3}) {
    Released released;
    ArrowArrayStream stream = arrow_test::stream_of(batches, batches[0], released);
    RunOptions run;
    run.threads = threads;
    tables.push_back(import_arrow(&stream, {}, run));
  }
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(list_of(tables[0].columns[c]), list_of(tables[1].columns[c]));
    EXPECT_EQ(values_of(tables[0].columns[c]), values_of(tables[1].columns[c]));
  }
  Released released;
  ArrowArrayStream stream = arrow_test::stream_of(batches, batches[0], released);
  RunOptions cancelled;
  cancelled.cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled", [&] { import_arrow(&stream, {}, cancelled); });
  EXPECT_EQ(released.streams, 1);
}

}  // namespace
}  // namespace stope
