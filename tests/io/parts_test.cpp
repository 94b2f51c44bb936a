#include "io/parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "expect_error.hpp"
#include "io/temporary_folder.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/place_of_cell.hpp"

namespace stope::io {
namespace {

TEST(Parts, DigitsCountAsNumbers) {
  const std::vector<std::string> sorted = {
      "a", "a1", "a1b", "a2", "a007", "a7", "a10", "a10b2", "a10b10", "a100", "a1000000000000000000000", "b"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(naturally_before(sorted[i], sorted[j]), i < j) << sorted[i] << " and " << sorted[j];
    }
  }
}

TEST(Parts, APathOfOneFileHasNone) {
  EXPECT_TRUE(parts_of("-").empty());
  EXPECT_TRUE(parts_of("/no/such/file.csv").empty());
  EXPECT_TRUE(parts_of("https://host/table.csv?a=*").empty());
  expect_error(ErrorCode::io, "/no/such/*.csv: no file has a name like this", [&] { parts_of("/no/such/*.csv"); });
}

class PartsInAFolder : public TemporaryFolder {};

TEST_F(PartsInAFolder, MarksChecksumsAndLocksAreNoParts) {
  for (const char* name : {"b.xlsx", "_SUCCESS", ".b.xlsx.crc", "~$b.xlsx", "~a.xlsx"}) std::ofstream(at(name)) << "x";
  EXPECT_EQ(parts_of(folder_.string()), (std::vector<std::string>{at("b.xlsx"), at("~a.xlsx")}));
  EXPECT_EQ(parts_of(at("*")), (std::vector<std::string>{at("b.xlsx"), at("~a.xlsx")}));
  EXPECT_EQ(parts_of(at("_*")), std::vector<std::string>{at("_SUCCESS")});
  EXPECT_EQ(parts_of(at("~$*")), std::vector<std::string>{at("~$b.xlsx")});
}

TEST_F(PartsInAFolder, ACellIsFoundInItsFile) {
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(at(name)) << text; };
  write("1.csv", "x,y\n1,a\n2,b\n");
  write("2.csv", "");
  write("10.csv", "x,y\n\n3,c\n4,\"d\ne\"\n5,f");
  const Table table = read_table(folder_.string());
  ASSERT_EQ(table.n_rows, 5);
  EXPECT_EQ(table.columns[0].at(4), 5);
  const Place place = place_of_cell(folder_.string(), {}, 4, "y");
  EXPECT_EQ(place.file, at("10.csv"));
  EXPECT_EQ(place.line, 6);
  EXPECT_EQ(place.column, 3);
  EXPECT_EQ(place_of_cell(folder_.string(), {}, 1, "x").file, at("1.csv"));
}

}  // namespace
}  // namespace stope::io
