// read_table end to end: suffixes, content, compression, roles, and the real tables where they are available.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "io/temporary_folder.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

class ReadTableTest : public TemporaryFolder {};

std::string shared_folder() {
  const char* text = std::getenv("STOPE_SHARED");
  return text != nullptr ? text : std::string(STOPE_SOURCE_DIR) + "/../shared";
}

TEST_F(ReadTableTest, BySuffixAndByContent) {
  EXPECT_EQ(read_table(put("a.csv", "a,b\n1,2\n")).columns.size(), 2U);
  EXPECT_EQ(read_table(put("a.tsv", "a,x\tb\n1,5\t2\n")).columns[0].name, "a,x");
  EXPECT_EQ(read_table(put("a.txt", "a;b\n1;2\n")).columns.size(), 2U);
  const std::string arff = "% a comment\n@RELATION r\n@attribute x numeric\n@data\n1\n";
  EXPECT_EQ(read_table(put("a.data", arff)).columns[0].name, "x");
  EXPECT_EQ(read_table(put("b.arff", arff)).columns[0].name, "x");
  ReadOptions options;
  options.format = Format::csv;
  EXPECT_EQ(read_table(put("odd.arff", "a,b\n1,2\n"), options).columns.size(), 2U);
}

TEST_F(ReadTableTest, ByContentBehindBlanksAndMarks) {
  const std::string arff = "@RELATION r\n@attribute x numeric\n@data\n1\n";
  for (const char* before : {"\xEF\xBB\xBF", "\r\n \t\n", "% one\n% two\r\n\n"}) {
    EXPECT_EQ(read_table(put("a.data", before + arff)).columns[0].name, "x") << before;
  }
  std::string npy("\x93NUMPY\x01\0", 8);
  const std::string dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n";
  npy += std::string(1, static_cast<char>(dict.size())) + '\0' + dict + std::string(8, '\0');
  EXPECT_EQ(read_table(put("a.data", npy)).columns[0].at(0), 0.0);
  EXPECT_EQ(read_table(put("p.data", "PAR1,PAR2\n1,2\n")).columns[0].name, "PAR1");
  EXPECT_EQ(read_table(put("p.data", "PARE,FEA1\n1,2\n")).columns[0].name, "PARE");
  EXPECT_EQ(read_table(put("p.data", "ARROW1,FEA1\n1,2\n")).columns[0].name, "ARROW1");
  EXPECT_EQ(read_table(put("p.data", "FEA1,b\n1,2\n")).columns[0].name, "FEA1");
}

TEST_F(ReadTableTest, RolesAndSchema) {
  const std::string schema = put("s.json", R"({"columns": [
      {"name": "x", "type": "real", "role": "regular"},
      {"name": "y", "type": "nominal", "role": "label", "values": ["no", "yes"]}]})");
  ReadOptions options;
  options.schema = schema;
  const Table table = read_table(put("a.csv", "x,y\n1,yes\n2,no\n"), options);
  EXPECT_EQ(table.columns[1].role, Role::label);
  EXPECT_EQ(table.columns[1].codes()[0], 1);
  options = {};
  options.target = "lable";
  try {
    read_table(put("a.csv", "x,label\n1,yes\n"), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data);
    EXPECT_NE(std::string(error.what()).find("did you mean 'label'?"), std::string::npos) << error.what();
  }
  options.target = "2";
  options.target_is_nominal = true;
  const Table numbers = read_table(put("a.csv", "x,label\n1,1.0\n2,2\n"), options);
  EXPECT_EQ(numbers.columns[1].values, (std::vector<std::string>{"1.0", "2"}));
}

TEST_F(ReadTableTest, RealTables) {
  const std::string data = shared_folder() + "/data/";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no folder " << data;
  const Table adult = read_table(data + "mixed/adult-train.csv");
  EXPECT_EQ(adult.columns.size(), 15U);
  EXPECT_FALSE(adult.columns[0].nominal());
  const Table titanic = read_table(data + "mixed/titanic.csv");
  EXPECT_EQ(titanic.n_rows, 891);
  EXPECT_EQ(titanic.columns[3].name, "age");
  const Table golub = read_table(data + "wide/golub.csv.gz");
  EXPECT_EQ(golub.columns.back().name, "decision");
  for (std::size_t c = 0; c + 1 < golub.columns.size(); ++c) ASSERT_FALSE(golub.columns[c].nominal());
}

TEST_F(ReadTableTest, EveryGoldenTableFitsItsSchema) {
  const std::string goldens = shared_folder() + "/goldens/rapidminer/";
  if (!std::filesystem::exists(goldens)) GTEST_SKIP() << "no folder " << goldens;
  int n_tables = 0;
  for (const auto& entry : std::filesystem::directory_iterator(goldens)) {
    for (const std::string part : {"train", "test"}) {
      const std::string csv = entry.path().string() + "/" + part + ".csv";
      if (!std::filesystem::exists(csv)) continue;
      ReadOptions options;
      options.schema = entry.path().string() + "/schema.json";
      options.schema_part = part;
      const Table table = read_table(csv, options);
      EXPECT_GT(table.n_rows, 0) << csv;
      EXPECT_GE(table.find(Role::label), 0) << csv;
      ++n_tables;
    }
  }
  EXPECT_GT(n_tables, 30);
}

}  // namespace
}  // namespace stope
