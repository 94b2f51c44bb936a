// Every enumeration of the API: names to values and back, and what an unknown name is told.
#include "stope/names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "stope/error.hpp"
#include "stope/stope.hpp"

namespace stope {
namespace {

template <class Choice>
Error refusal(Choice (*parse)(std::string_view), const std::string& name) {
  try {
    parse(name);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::internal, "'" + name + "' was taken"};
}

template <class Choice>
void check(Choice (*parse)(std::string_view), std::size_t n_values) {
  const std::vector<std::string> names = names_of<Choice>();
  SCOPED_TRACE(names.at(0) + ", ...");
  ASSERT_EQ(names.size(), n_values);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), n_values);
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(parse(names[i]), static_cast<Choice>(i));
    EXPECT_EQ(to_string(static_cast<Choice>(i)), names[i]);
  }
  EXPECT_EQ(to_string(static_cast<Choice>(-1)), "");
  EXPECT_EQ(to_string(static_cast<Choice>(n_values)), "");
  for (const std::string bad : {"", "no such name", "Mean "}) {
    const Error error = refusal(parse, bad);
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.option(), "");
    for (const std::string& name : names) EXPECT_NE(error.message().find(name), std::string::npos) << error.what();
  }
  const std::string longest = *std::max_element(
      names.begin(), names.end(), [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  const std::string misspelt = longest.substr(0, longest.size() - 1) + "_";
  const Error error = refusal(parse, misspelt);
  if (longest.size() > 3) {
    EXPECT_NE(error.message().find("did you mean '" + longest + "'"), std::string::npos) << error.what();
  }
}

TEST(Names, OfEveryEnumerationGoThereAndBack) {
  check(compat, 2);
  check(value_type, 6);
  check(role, 5);
  check(table_format, 12);
  check(header, 3);
  check(encoding, 4);
  check(nominal_order, 2);
  check(unknown_columns, 2);
  check(normalization, 5);
  check(missing_values, 2);
  check(nominal_features, 2);
  check(centering, 2);
  check(scaling, 2);
  check(missing_policy, 4);
  check(criterion, 3);
  check(attribute_order, 2);
  check(discretize_method, 6);
  check(code_style, 2);
  check(tree_format, 5);
  check(vote_weights, 2);
  check(search_for, 2);
  check(scheme, 3);
  EXPECT_EQ(names_of<Accepts>(), (std::vector<std::string>{"mixed", "numeric", "nominal"}));
}

TEST(Names, SpellingsOfOthersAreTaken) {
  EXPECT_EQ(normalization("Z-transformation"), Normalization::z);
  EXPECT_EQ(normalization("interquartile range"), Normalization::interquartile);
  EXPECT_EQ(scaling("Z-transformation"), Scaling::z);
}

}  // namespace
}  // namespace stope
