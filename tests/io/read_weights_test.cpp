// Weights of features from files: one row in the features' order, or a row for each name.
#include <gtest/gtest.h>

#include <vector>

#include "expect_error.hpp"
#include "io/temporary_folder.hpp"
#include "stope/feature_weights.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

class WeightFiles : public TemporaryFolder {
 protected:
  std::vector<double> weights(const std::string& text, const char* name = "w.csv") {
    return read_feature_weights(put(name, text), table_);
  }
  void refuse(const std::string& text, const std::string& words) {
    expect_error(ErrorCode::invalid_data, words, [&] { weights(text); });
  }
  Table table_ = [] {
    Table table;
    table.n_rows = 1;
    table.columns = {make_numeric("a", {1.0}), make_numeric("b", {2.0})};
    return table;
  }();
};

TEST_F(WeightFiles, HoldARowOfAllOrARowForEachName) {
  const std::vector<double> both = {0.5, 2.0};
  EXPECT_EQ(weights("0.5,2\n"), both);
  EXPECT_EQ(weights("a,b\n0.5,2\n"), both);
  EXPECT_EQ(weights("0.5\n2\n"), both);
  EXPECT_EQ(weights("b,2\na,0.5\n"), both);
  EXPECT_EQ(weights("attribute,weight\nb,2\na,0.5\n"), both);
  EXPECT_EQ(weights("b\t2\na\t0.5\n", "w.tsv"), both);
}

TEST_F(WeightFiles, ThatDoNotFitSayWhereAndWhy) {
  refuse("a,b\n1,2\n3,4\n", "exactly one row of weights, found 2");
  refuse("a,b\n", "exactly one row of weights, found 0");
  refuse("a,b\n1,heavy\n", "weight 'heavy' is not a number");
  refuse("a,1\nb,\n", "w.csv:2: weight '' is not a number");
  refuse("a,1\nc,2\n", "'c'");
  refuse("1x,2\n", "no feature is called '1x'");
  EXPECT_EQ(weights("a,0.5\n"), (std::vector<double>{0.5, 1.0})) << "a name in a file of one row";
}

}  // namespace
}  // namespace stope
