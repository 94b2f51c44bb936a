// write_table writes every format so that it reads back as the same table, and refuses what a format cannot say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fault.hpp"
#include "base/random.hpp"
#include "expect_error.hpp"
#include "io/readers.hpp"
#include "io/temporary_folder.hpp"
#include "io/write_table_formats.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

namespace fs = std::filesystem;

const double kNaN = std::nan("");
const double kInfinity = HUGE_VAL;
const std::vector<double> kHardNumbers = {
    -0.0, 0.0,  kNaN, kInfinity, -kInfinity,         5e-324, 1.7976931348623157e308,
    0.1,  1e16, 3,    -1e-5,     9007199254740993.0, 1e22,   123456.789};
const std::vector<std::string> kHardValues = {"plain",
                                              "two words",
                                              " leading",
                                              "trailing ",
                                              "com,ma",
                                              "semi;colon",
                                              "ta\tb",
                                              "p|pe",
                                              "quo\"te",
                                              "apos'trophe",
                                              "new\nline",
                                              "carriage\rreturn",
                                              "\r\n",
                                              "?",
                                              "NA",
                                              "NaN",
                                              "back\\slash",
                                              "{brace}",
                                              "50%",
                                              "%comment",
                                              "@data",
                                              "\xC3\xA9t\xC3\xA9",
                                              "\xE6\x97\xA5\xE6\x9C\xAC",
                                              "\xEF\xBB\xBFmark",
                                              "\"",
                                              "'",
                                              "\"\"",
                                              ",",
                                              "a\x01"
                                              "b",
                                              "1e5x"};

class WriteTableTest : public TemporaryFolder {};

Table make_table(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.front().size();
  table.columns = std::move(columns);
  return table;
}

/// Compares names, rows, numbers to the bit (NaNs alike), and nominal cells by their text.
void expect_same(const Table& got, const Table& want, const std::string& what) {
  got.validate();
  ASSERT_EQ(got.n_rows, want.n_rows) << what;
  ASSERT_EQ(got.columns.size(), want.columns.size()) << what;
  for (std::size_t c = 0; c < want.columns.size(); ++c) {
    const Column& a = got.columns[c];
    const Column& b = want.columns[c];
    EXPECT_EQ(a.name, b.name) << what;
    ASSERT_EQ(a.nominal(), b.nominal()) << what << ": " << b.name;
    for (std::int64_t row = 0; row < want.n_rows; ++row) {
      ASSERT_EQ(a.missing(row), b.missing(row)) << what << ": " << b.name << " row " << row;
      if (b.missing(row)) continue;
      const double x = a.at(row);
      const double y = b.at(row);
      if (b.nominal()) {
        ASSERT_EQ(a.values[static_cast<std::size_t>(x)], b.values[static_cast<std::size_t>(y)]) << what;
      } else {
        ASSERT_EQ(std::memcmp(&x, &y, sizeof x), 0)
            << what << ": " << b.name << " row " << row << ": " << x << " " << y;
      }
    }
  }
}

Column hard_values(const std::string& name) {
  std::vector<std::int32_t> codes;
  for (std::size_t i = 0; i < kHardValues.size(); ++i) codes.push_back(static_cast<std::int32_t>(i));
  codes.push_back(kMissingCode);
  return make_nominal(name, codes, kHardValues);
}

Table hard_table() {
  const std::int64_t n = static_cast<std::int64_t>(kHardValues.size()) + 1;
  std::vector<double> numbers;
  std::vector<double> whole;
  for (std::int64_t row = 0; row < n; ++row) {
    numbers.push_back(kHardNumbers[static_cast<std::size_t>(row) % kHardNumbers.size()]);
    whole.push_back(row % 5 == 0 ? kNaN : static_cast<double>(row * row * row - 100));
  }
  whole[1] = -0.0;
  whole[2] = 0x1p53;
  whole[3] = 1.5;
  whole[4] = -1e300;
  return make_table({make_numeric("x", numbers), hard_values("na,me \"q\"\n'"),
                     make_numeric("whole", whole, ValueType::integer), hard_values("\xC3\xA9 %{}")});
}

TEST_F(WriteTableTest, HardTableAsText) {
  const Table table = hard_table();
  for (const char* suffix : {".csv", ".tsv", ".arff", ".csv.gz", ".csv.zst", ".arff.gz", ".arff.zst", ".tsv.gz"}) {
    const std::string path = at(std::string("t") + suffix);
    write_table(path, table);
    const Table back = read_table(path);
    expect_same(back, table, suffix);
    if (back.columns.size() == 4 && std::string(suffix).starts_with(".arff")) {
      EXPECT_EQ(back.columns[1].values, table.columns[1].values) << "the order, too";
      EXPECT_EQ(back.columns[2].type, ValueType::integer);
    }
  }
}

TEST_F(WriteTableTest, SpellingOfCsv) {
  write_table(at("t.csv"), make_table({make_numeric("a b", {1, kNaN, -0.0, 2.5}),
                                       make_numeric("n", {1, kNaN, -0.0, 3e15}, ValueType::integer),
                                       make_nominal("c", {0, 1, kMissingCode, 2}, {"x", "y,z", "?"}),
                                       make_numeric("d", {0, 1, kNaN, -1}, ValueType::date),
                                       make_numeric("t", {0.5, 1, kNaN, -1}, ValueType::date),
                                       make_numeric("u", {0.1234567, 1, kNaN, -1}, ValueType::date)}));
  EXPECT_EQ(content("t.csv"),
            "a b,n,c,d,t,u\n"
            "1.0,1,x,1970-01-01,1970-01-01T12:00:00,0.1234567\n"
            ",,\"y,z\",1970-01-02,1970-01-02T00:00:00,1.0\n"
            "-0.0,-0,,,,\n"
            "2.5,3000000000000000,\"?\",1969-12-31,1969-12-31T00:00:00,-1.0\n");
  WriteOptions options;
  options.separator = ';';
  write_table(at("t.csv"), make_table({make_nominal("a,b", {0}, {"x;y"}), make_numeric("c", {1})}), options);
  EXPECT_EQ(content("t.csv"), "\"a,b\";c\n\"x;y\";1.0\n");
  write_table(at("odd"), make_table({make_numeric("c", {1})}));
  EXPECT_EQ(content("odd"), "c\n1.0\n") << "an unknown suffix is CSV";
}

TEST_F(WriteTableTest, SpellingOfArff) {
  write_table(
      at("t.arff"),
      make_table({make_numeric("a b", {1, kNaN}), make_numeric("n", {7, kNaN}, ValueType::integer),
                  make_nominal("c", {0, kMissingCode}, {"x", "y z", "?", "", "a}"}),
                  make_numeric("d", {0, kNaN}, ValueType::date), make_numeric("t", {0.5, kNaN}, ValueType::date),
                  make_numeric("u", {1e9, kNaN}, ValueType::date)}));
  EXPECT_EQ(content("t.arff"),
            "@relation stope\n\n@attribute 'a b' real\n@attribute n integer\n@attribute c {x,'y z','?','','a}'}\n"
            "@attribute d date yyyy-MM-dd\n@attribute t date \"yyyy-MM-dd'T'HH:mm:ss\"\n@attribute u real\n\n@data\n"
            "1.0,7,x,1970-01-01,1970-01-01T12:00:00,1000000000.0\n?,?,?,?,?,?\n");
  expect_same(read_table(at("t.arff")),
              make_table({make_numeric("a b", {1, kNaN}), make_numeric("n", {7, kNaN}),
                          make_nominal("c", {0, kMissingCode}, {"x"}), make_numeric("d", {0, kNaN}),
                          make_numeric("t", {0.5, kNaN}), make_numeric("u", {1e9, kNaN})}),
              "arff");
}

TEST_F(WriteTableTest, ArffWeights) {
  Table table = make_table({make_numeric("x", {1, 2}), make_numeric("weight", {0.5, 1e-300})});
  table.columns[1].role = Role::weight;
  write_table(at("t.arff"), table);
  EXPECT_EQ(content("t.arff"), "@relation stope\n\n@attribute x real\n\n@data\n1.0,{0.5}\n2.0,{1e-300}\n");
  const Table back = read_table(at("t.arff"));
  expect_same(back, table, "weights");
  EXPECT_EQ(back.columns[1].role, Role::weight);
  Table gap = table;
  gap.columns[1] = make_numeric("weight", {0.5, kNaN});
  gap.columns[1].role = Role::weight;
  Table whole = table;
  whole.columns[1].type = ValueType::integer;
  for (const Table& other : {gap, whole}) {  // a weight is a real number
    write_table(at("t.arff"), other);
    EXPECT_NE(content("t.arff").find("@attribute weight"), std::string::npos) << content("t.arff");
  }
  table.columns[1].name = "w";  // another name would be lost: it stays an attribute
  write_table(at("t.arff"), table);
  expect_same(read_table(at("t.arff")), table, "weights by another name");
}

TEST_F(WriteTableTest, OneColumnAndMissing) {
  for (const Table& table :
       {make_table({make_numeric("x", {kNaN, 1, kNaN})}), make_table({make_numeric("x", {1, kNaN})}),
        make_table({make_nominal("x", {kMissingCode, 0, kMissingCode}, {"a"})}),
        make_table({make_numeric("x", {1, kNaN}), make_numeric("y", {kNaN, kNaN})}),
        make_table({make_numeric("x", {kNaN, kNaN})})}) {
    for (const char* name : {"t.csv", "t.tsv", "t.arff"}) {
      write_table(at(name), table);
      expect_same(read_table(at(name)), table, name);
    }
  }
}

TEST_F(WriteTableTest, NumericNames) {
  // Arrays have the names "1", "2", ...: their header must not come back as a row.
  for (const Table& table : {make_table({make_numeric("1", {5, 6}), make_numeric("2", {7, 8})}),
                             make_table({make_numeric("1", {kNaN, 6})}), make_table({make_numeric("1", {7})}),
                             make_table({make_nominal("1", {0, 1}, {"a b", "c,d"}), make_numeric("2", {1, 2})}),
                             make_table({make_numeric("NaN", {5, 6}), make_numeric("?", {7, 8})}),
                             make_table({make_numeric("1", std::vector<double>{}), make_numeric("2", {})})}) {
    for (const char* name : {"t.csv", "t.tsv", "t.arff"}) {
      write_table(at(name), table);
      expect_same(read_table(at(name)), table, name);
    }
  }
}

TEST_F(WriteTableTest, NoRows) {
  const Table table = make_table({make_numeric("x", {}), make_numeric("y", {})});
  for (const char* name : {"t.csv", "t.arff"}) {
    write_table(at(name), table);
    expect_same(read_table(at(name)), table, name);
  }
  write_table(at("t.npy"), table);
  EXPECT_EQ(read_table(at("t.npy")).n_rows, 0);
  EXPECT_EQ(read_table(at("t.npy")).columns.size(), 2U);
  expect_error(ErrorCode::unsupported, "a table without rows has no fvecs, bvecs or ivecs form",
               [&] { write_table(at("t.fvecs"), table); });
  EXPECT_FALSE(fs::exists(at("t.fvecs")));
}

TEST_F(WriteTableTest, RandomNumbersAsText) {
  Random random(7);
  std::vector<double> values;
  while (values.size() < 20000) {
    const std::uint64_t bits = random.next();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(std::isnan(value) ? kNaN : value);
  }
  const Table table = make_table({make_numeric("x", values), make_numeric("y", values, ValueType::integer),
                                  make_numeric("z", values, ValueType::date)});
  for (const char* name : {"t.csv", "t.arff", "t.csv.zst"}) {
    write_table(at(name), table);
    expect_same(read_table(at(name)), table, name);
  }
}

TEST_F(WriteTableTest, DatesKeepEverySecond) {
  Random random(11);
  std::vector<double> days;
  while (days.size() < 5000) {
    const auto seconds = static_cast<std::int64_t>(random.below(315537897600ULL)) - 62135596800LL;
    days.push_back(static_cast<double>(seconds) / 86400);
  }
  const Table table = make_table({make_numeric("d", days, ValueType::date)});
  write_table(at("t.arff"), table);
  EXPECT_NE(content("t.arff").find("date \"yyyy"), std::string::npos);
  expect_same(read_table(at("t.arff")), table, "arff");
  write_table(at("t.csv"), table);
  put("s.json", R"({"columns": [{"name": "d", "type": "date"}]})");
  ReadOptions options;
  options.schema = at("s.json");
  expect_same(read_table(at("t.csv"), options), table, "csv with a schema");
  expect_same(read_table(at("t.csv")), table, "csv without one");
}

TEST_F(WriteTableTest, DatesKeepTheDecimalsOfASecond) {
  put("d.csv",
      "day,ms,us\n2024-01-31,2024-01-31T12:00:00.250,1999-12-31T23:59:59.999999\n1969-07-20,1969-07-20 20:17:40,"
      "2024-01-31T00:00:00.000001\n");
  const Table table = read_table(at("d.csv"));
  write_table(at("back.csv"), table);
  EXPECT_EQ(content("back.csv"),
            "day,ms,us\n2024-01-31,2024-01-31T12:00:00.250,1999-12-31T23:59:59.999999\n"
            "1969-07-20,1969-07-20T20:17:40.000,2024-01-31T00:00:00.000001\n");
  write_table(at("back.arff"), table);
  expect_same(read_table(at("back.arff")), table, "arff");
}

TEST_F(WriteTableTest, Arrays) {
  std::vector<Column> columns;
  for (int c = 0; c < 3; ++c) {
    std::vector<double> values = kHardNumbers;
    std::rotate(values.begin(), values.begin() + c, values.end());
    columns.push_back(make_numeric(std::to_string(c + 1), values));
  }
  const Table table = make_table(columns);
  WriteOptions options;
  for (const char* name : {"t.npy", "t.npy.gz", "t.npy.zst"}) {
    write_table(at(name), table);
    expect_same(read_table(at(name)), table, name);
  }
  options.dtype = "float64";
  write_table(at("t.raw"), table, options);
  ReadOptions raw;
  raw.n_features = 3;
  raw.dtype = "float64";
  expect_same(read_table(at("t.raw"), raw), table, "raw");
  EXPECT_EQ(content("t.npy").size() % 64, table.n_rows * 24 % 64) << "data begin at a multiple of 64";

  const Table small = make_table({make_numeric("1", {0, 255, 7}), make_numeric("2", {1, 2, 3})});
  for (const char* name : {"s.fvecs", "s.bvecs", "s.ivecs", "s.fvecs.gz", "s.npy"}) {
    write_table(at(name), small);
    expect_same(read_table(at(name)), small, name);
  }
  for (const char* dtype : {"float32", "float64", "int32", "int64", "uint8"}) {
    options.dtype = dtype;
    write_table(at("s.npy"), small, options);
    expect_same(read_table(at("s.npy")), small, dtype);
    write_table(at("s.raw"), small, options);
    raw.n_features = 2;
    raw.dtype = dtype;
    expect_same(read_table(at("s.raw"), raw), small, dtype);
  }
}

TEST_F(WriteTableTest, BlocksOfRows) {
  // 2 x 8 bytes a row: a block holds 65536 rows.
  for (const std::int64_t rows : {65535, 65536, 65537, 131073}) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::int64_t row = 0; row < rows; ++row) {
      a.push_back(static_cast<double>(row));
      b.push_back(static_cast<double>(-row));
    }
    const Table table = make_table({make_numeric("1", a), make_numeric("2", b)});
    write_table(at("t.npy"), table);
    expect_same(read_table(at("t.npy")), table, std::to_string(rows));
    write_table(at("t.ivecs"), table);
    expect_same(read_table(at("t.ivecs")), table, std::to_string(rows));
  }
}

TEST_F(WriteTableTest, Float32Columns) {
  Buffer<float> data(3);
  data[0] = 0.1F;
  data[1] = std::nanf("");
  data[2] = 3.4028235e38F;
  Table table;
  table.n_rows = 3;
  table.columns = {{"1", ValueType::real, Role::regular, data, {}}};
  for (const char* name : {"t.csv", "t.npy", "t.fvecs", "t.arff"}) {
    write_table(at(name), table);
    expect_same(read_table(at(name)), table, name);
  }
}

void expect_refused(ErrorCode code, const std::string& part, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error, expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST_F(WriteTableTest, Refusals) {
  const Table numbers = make_table({make_numeric("a", {1, 2.5}), make_numeric("b", {kNaN, 3e9})});
  const Table names = make_table({make_numeric("a", {1}), make_nominal("c", {0}, {"x"})});
  const auto as = [&](const Table& table, const std::string& name, const std::string& dtype) {
    return [this, &table, name, dtype] {
      WriteOptions options;
      options.dtype = dtype;
      write_table(at(name), table, options);
    };
  };
  for (const char* name : {"t.npy", "t.fvecs", "t.bvecs", "t.ivecs", "t.raw"}) {
    expect_refused(ErrorCode::unsupported, "column 'c' is nominal", as(names, name, ""));
  }
  expect_refused(ErrorCode::unsupported, "column 'a', row 1: 2.5 is not of type int32", as(numbers, "t.npy", "int32"));
  expect_refused(ErrorCode::unsupported, "is not of type uint8 (bvecs)", as(numbers, "t.bvecs", ""));
  const Table wide = make_table({make_numeric("b", {0x1p63}), make_numeric("c", {1e39}), make_numeric("d", {kNaN}),
                                 make_numeric("e", {-1}), make_numeric("f", {0x1p31})});
  for (const std::size_t column : {0U, 1U, 2U}) {
    const Table one = make_table({wide.columns[column]});
    expect_refused(ErrorCode::unsupported, "is not of type int64", as(one, "t.npy", "int64"));
  }
  expect_refused(ErrorCode::unsupported, "beyond float32", as(make_table({wide.columns[1]}), "t.raw", ""));
  expect_refused(ErrorCode::unsupported, "-1.0 is not of type uint8",
                 as(make_table({wide.columns[3]}), "t.npy", "uint8"));
  expect_refused(ErrorCode::unsupported, "is not of type int32", as(make_table({wide.columns[4]}), "t.ivecs", ""));
  expect_refused(ErrorCode::invalid_argument, "unknown dtype 'half'", as(numbers, "t.npy", "half"));
  expect_refused(ErrorCode::unsupported, "without columns", [this] { write_table(at("t.csv"), Table{}); });
  expect_refused(ErrorCode::unsupported, "without a name", as(make_table({make_numeric("", {1})}), "t.arff", ""));
  expect_refused(ErrorCode::unsupported, "NUL",
                 as(make_table({make_nominal("a", {0}, {std::string("a\0b", 3)})}), "t.csv", ""));
  for (const char separator : {'"', '\n', '\r', '\0'}) {
    expect_refused(ErrorCode::invalid_argument, "separator", [&, this] {
      WriteOptions options;
      options.separator = separator;
      write_table(at("t.csv"), make_table({make_numeric("a", {1})}), options);
    });
  }
  expect_refused(ErrorCode::unsupported, "sheets are read, not written", as(numbers, "t.xlsx", ""));
  Table unseen = make_table({make_nominal("c", {0}, {"x"})});
  std::get<Buffer<std::int32_t>>(unseen.columns[0].data)[0] = kUnseenCode;
  expect_refused(ErrorCode::invalid_argument, "code -2 is outside", as(unseen, "t.csv", ""));
  std::get<Buffer<std::int32_t>>(unseen.columns[0].data)[0] = 1;
  expect_refused(ErrorCode::invalid_argument, "code 1 is outside", as(unseen, "t.csv", ""));
  EXPECT_TRUE(fs::is_empty(folder_)) << "nothing is left of what was refused";
}

TEST_F(WriteTableTest, IntoAnOpenFile) {
  const Table table = make_table({make_numeric("x", {1, 2.5})});
  for (const char* name : {"t.arff", "t.csv.gz"}) {
    OutputFile file(at(name));
    write_table(file, table);
    EXPECT_FALSE(fs::exists(at(name)));
    file.commit();
    expect_same(read_table(at(name)), table, name);
  }
}

TEST_F(WriteTableTest, SpaceThatNoNumberCountsIsNotThere) {
  const OutputFile file(at("t.npy"));
  constexpr std::int64_t kMuch = std::int64_t{1} << 40;
  file.require_space(1, 1, 8);
  for (const auto& [rows, values] : {std::pair{kMuch, kMuch}, {kMuch, std::int64_t{1} << 22}}) {
    expect_error(ErrorCode::io, "cannot write 9223372036854775807 bytes: the disk has",
                 [&, n = rows, m = values] { file.require_space(n, m, 8); });
  }
}

TEST_F(WriteTableTest, NpyPieceByPiece) {
  OutputFile file(at("t.npy"));
  file.write(npy_header("int32", 1, 2));
  file.write(std::string_view("\1\0\0\0\2\0\0\0", 8));
  file.commit();
  expect_same(read_table(at("t.npy")), make_table({make_numeric("1", {1}), make_numeric("2", {2})}), "npy");
  expect_error(ErrorCode::invalid_argument, "unknown dtype '<i4'", [&] { npy_header("<i4", 1, 2); });
}

TEST_F(WriteTableTest, FaultsAndCancellationLeaveNothing) {
  std::vector<double> values(300000, 0.123456789);
  const Table table = make_table({make_numeric("x", values)});
  for (const char* name : {"t.csv", "t.arff", "t.npy", "t.csv.gz"}) {
    for (int n = 1; n < 5; ++n) {
      fault::arm_io(n, ENOSPC);
      expect_error(ErrorCode::io, "No space left on device", [&] { write_table(at(name), table); });
      fault::arm_io(0, 0);
      // Only the last operation, the sync of the directory, fails with the complete file in place.
      if (fs::exists(at(name))) {
        EXPECT_EQ(read_table(at(name)).n_rows, table.n_rows);
      }
      fs::remove(at(name));
      EXPECT_TRUE(fs::is_empty(folder_)) << name << n;
    }
    RunOptions run;
    run.cancel.cancel();
    expect_error(ErrorCode::cancelled, "cancelled", [&] { write_table(at(name), table, {}, run); });
    EXPECT_TRUE(fs::is_empty(folder_));
  }
}

}  // namespace
}  // namespace stope
