// A second table is read with the names, types and roles of the first.
#include <gtest/gtest.h>

#include "io/temporary_folder.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

class LikeTest : public TemporaryFolder {
 protected:
  static const Column& column(const Table& table, std::string_view name) {
    return table.columns.at(static_cast<std::size_t>(table.find(name)));
  }
};

TEST_F(LikeTest, TheFirstTableDecidesWhatTextMeans) {
  ReadOptions how;
  how.target = "4";
  how.id = "key";
  how.ignore = {"note"};
  const Table first = read_table(put("first.csv", "code,key,note,y,n\n1,k,a,yes,3\nx,l,b,no,\n"), how);
  const std::string path = put("second.csv", "n,y,key,code,note,more\n,yes,7,1,8,9\n,no,8,2,9,9\n");
  const Table second = read_table(path, like(first, path, how));
  EXPECT_TRUE(column(second, "code").nominal());     // the first table's is: "x" is no number
  EXPECT_FALSE(column(second, "n").nominal());       // though no value says so
  EXPECT_EQ(column(second, "y").role, Role::label);  // column 4 of the first, 2 of the second
  EXPECT_EQ(column(second, "key").role, Role::id);
  EXPECT_TRUE(column(second, "key").nominal());
  EXPECT_EQ(column(second, "note").role, Role::ignore);
}

TEST_F(LikeTest, TheLabelMayBeMissing) {
  const Table first = read_table(put("first.csv", "a,y\n1,2\n3,4\n"), {.target = "y"});
  const std::string path = put("second.csv", "a\n1\n");
  EXPECT_EQ(read_table(path, like(first, path, {.target = "y"})).find(Role::label), -1);
}

TEST_F(LikeTest, WithASchemaOnlyTheOptionsThatWereGivenAreTakenFromTheFirstTable) {
  ReadOptions how;
  how.schema =
      put("s.json", R"({"columns": [{"name": "a", "type": "real"}, {"name": "k", "type": "nominal", "role": "id"},
      {"name": "y", "type": "nominal", "role": "label"}, {"name": "w", "type": "real", "role": "weight"}]})");
  const std::string first = put("first.csv", "a,k,y,w\n1,p,yes,1\n2,q,no,2\n");
  const std::string second = put("second.xlsx", "");
  const ReadOptions plain = like(read_table(first, how), second, how);
  EXPECT_EQ(plain.target + plain.id + plain.sample_weight, "") << "the schema says them";
  how.target = "2";
  how.id = "3";
  how.sample_weight = "4";
  how.sheet = "data";
  const ReadOptions named = like(read_table(first, {.target = "k", .id = "y", .sample_weight = "w"}), second, how);
  EXPECT_EQ(named.target, "k");
  EXPECT_EQ(named.id, "y");
  EXPECT_EQ(named.sample_weight, "w");
  EXPECT_EQ(named.sheet, "data");
  EXPECT_EQ(like(read_table(first), first, how).sheet, "") << "a text has no sheets";
}

TEST_F(LikeTest, ASchemaOfBothTablesHasAListForTheSecond) {
  ReadOptions how;
  how.schema = put("s.json", R"({"train_columns": [{"name": "a", "type": "real"}],
    "test_columns": [{"name": "a", "type": "nominal"}]})");
  const std::string path = put("t.csv", "a\n1\n");
  const Table first = read_table(path, how);
  EXPECT_FALSE(column(first, "a").nominal());
  EXPECT_TRUE(column(read_table(path, like(first, path, how)), "a").nominal());
}

TEST_F(LikeTest, WeightsOfFeaturesAreReadByNameWithTheLineOfAMistake) {
  const Table table = read_table(put("t.csv", "a,b,c\n1,2,3\n"));
  EXPECT_EQ(read_feature_weights(put("w.csv", "feature,weight\nc,0.5\na,2\n"), table),
            (std::vector<double>{2, 1, 0.5}));
  EXPECT_EQ(read_feature_weights(put("r.csv", "a,b,c\n1,2,3\n"), table), (std::vector<double>{1, 2, 3}));
  for (const std::string text : {"feature,weight\na,1\nz,2\n", "b,1\na,1\nz,2\n", "b,2\na,1\na,3\n"}) {
    try {
      read_feature_weights(put("bad.csv", text), table);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_data);
      EXPECT_EQ(error.line(), 3) << text;
      EXPECT_TRUE(std::string_view(error.what()).starts_with(at("bad.csv") + ":3:1: ")) << error.what();
    }
  }
}

}  // namespace
}  // namespace stope
