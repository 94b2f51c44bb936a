// did_you_mean: suggests near names, stays silent otherwise.
#include "stope/nearest_name.hpp"

#include <gtest/gtest.h>

namespace stope {
namespace {

const std::vector<std::string> kMetrics = {"euclidean", "manhattan", "cosine", "gower"};

TEST(DidYouMean, SuggestsTheClosestName) {
  EXPECT_EQ(did_you_mean("euclidian", kMetrics), " (did you mean 'euclidean'?)");
  EXPECT_EQ(did_you_mean("manhatan", kMetrics), " (did you mean 'manhattan'?)");
  EXPECT_EQ(did_you_mean("cosin", kMetrics), " (did you mean 'cosine'?)");
  EXPECT_EQ(did_you_mean("ogwerx", {"tower", "gowerx", "ogwer"}), " (did you mean 'gowerx'?)");  // the first of equals
  EXPECT_EQ(did_you_mean("lable", {"table4", "label"}), " (did you mean 'label'?)");             // a swap is one edit
}

TEST(DidYouMean, IgnoresCase) {
  EXPECT_EQ(did_you_mean("EUCLIDEAN", kMetrics), " (did you mean 'euclidean'?)");
  EXPECT_EQ(did_you_mean("label", {"LABEL"}), " (did you mean 'LABEL'?)");
}

TEST(DidYouMean, AllowsAThirdOfTheNameAndAtLeastOneEdit) {
  EXPECT_EQ(did_you_mean("abcdef", {"abcdxy"}), " (did you mean 'abcdxy'?)");  // 2 edits of 6 letters
  EXPECT_EQ(did_you_mean("abcdef", {"abcxyz"}), "");                           // 3 edits
  EXPECT_EQ(did_you_mean("ab", {"ax"}), " (did you mean 'ax'?)");
  EXPECT_EQ(did_you_mean("y", {"x"}), "");
  EXPECT_EQ(did_you_mean("ab", {"xy"}), "");
  EXPECT_EQ(did_you_mean("y", {"Y"}), " (did you mean 'Y'?)");
  EXPECT_EQ(did_you_mean("ab", {"xy"}), "");
}

TEST(DidYouMean, PrefersTheFirstOfEquallyCloseNames) {
  EXPECT_EQ(did_you_mean("cat", {"bat", "car", "cat2"}), " (did you mean 'bat'?)");
}

TEST(DidYouMean, StaysSilentWithoutANearName) {
  EXPECT_EQ(did_you_mean("haversine", kMetrics), "");
  EXPECT_EQ(did_you_mean("", kMetrics), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

TEST(DidYouMean, SkipsNamesTooLongToBeTypingMistakes) {
  EXPECT_EQ(did_you_mean(std::string(64, 'a'), {std::string(64, 'a') + "b", std::string(63, 'a')}),
            " (did you mean '" + std::string(63, 'a') + "'?)");
  EXPECT_EQ(did_you_mean(std::string(63, 'a'), {std::string(64, 'a')}),
            " (did you mean '" + std::string(64, 'a') + "'?)");
  EXPECT_EQ(did_you_mean(std::string(65, 'a'), {std::string(64, 'a')}), "");
}

}  // namespace
}  // namespace stope
