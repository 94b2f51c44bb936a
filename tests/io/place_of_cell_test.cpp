// A row and a column are traced back to the line and the field of the text file that they came from.
#include <gtest/gtest.h>

#include "io/temporary_folder.hpp"
#include "stope/io.hpp"
#include "stope/place_of_cell.hpp"

namespace stope {
namespace {

class PlaceOfCellTest : public TemporaryFolder {
 protected:
  static std::string text_of(const Place& place) {
    return std::to_string(place.line) + ":" + std::to_string(place.column);
  }
};

TEST_F(PlaceOfCellTest, FieldsOfACsvFileAreCountedAsTheReaderCountsThem) {
  // A quoted line end, an empty line that is no record, CR LF, a letter of two bytes.
  const std::string path = put("t.csv", "a,b\n\"1\n2\",x\n\n3,y\r\n\xC3\xA4,z\n");
  EXPECT_EQ(text_of(place_of_cell(path, {}, 0, "b")), "3:4");
  EXPECT_EQ(text_of(place_of_cell(path, {}, 1, "a")), "5:1");
  EXPECT_EQ(text_of(place_of_cell(path, {}, 2, "b")), "6:3");
  EXPECT_EQ(text_of(place_of_cell(path, {.header = Header::no}, 0, "2")), "1:3");
  EXPECT_EQ(text_of(place_of_cell(path, {.header = Header::yes, .names = {"u", "v"}}, 2, "v")), "6:3");
  EXPECT_EQ(text_of(place_of_cell(put("t.tsv", "a\tb\n1\t2\n"), {}, 0, "b")), "2:3");
}

TEST_F(PlaceOfCellTest, ValuesOfAnArffFileHaveTheLineOfTheirRow) {
  const std::string path = put("t.arff",
                               "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n% no row\n1, 2\n\n"
                               "{1 7}\n{0 3, 1 8}\n");
  EXPECT_EQ(text_of(place_of_cell(path, {}, 0, "b")), "6:4");
  EXPECT_EQ(text_of(place_of_cell(path, {}, 1, "a")), "8:1");  // left out: the row
  EXPECT_EQ(text_of(place_of_cell(path, {}, 2, "b")), "9:9");
}

TEST_F(PlaceOfCellTest, WithoutSuchACellOnlyTheFileIsKnown) {
  const std::string path = put("t.csv", "a\n1\n");
  for (const std::int64_t row : {-1, 1, 7}) EXPECT_EQ(place_of_cell(path, {}, row, "a").line, 0) << row;
  EXPECT_EQ(place_of_cell(path, {}, 7, "a").file, path);
  EXPECT_EQ(place_of_cell("/dev/null", {}, 0, "a").line, 0);  // what has been read from a pipe is gone
  EXPECT_EQ(place_of_cell(path + ".gone", {}, 0, "a").line, 0);
}

}  // namespace
}  // namespace stope
