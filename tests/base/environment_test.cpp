// Environment variables: what each form of value accepts, the message for a bad one, and that the documentation lists
// all.
#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "stope/error.hpp"

namespace stope {
namespace {

using environment::Variable;

class Environment : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"STOPE_TILE_ROWS", "STOPE_SCAN"}) unsetenv(name);
  }
  static std::int64_t count(const char* value) {
    setenv("STOPE_TILE_ROWS", value, 1);
    return environment::count(Variable::tile_rows);
  }
  static std::string word(const char* value) {
    setenv("STOPE_SCAN", value, 1);
    return std::string(environment::word(Variable::scan));
  }
  template <class Read>
  static void expect_refused(const Read& read, const std::string& message) {
    try {
      read();
      FAIL() << "wanted: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.what(), message);
    }
  }
};

TEST_F(Environment, CountsArePositiveWholeNumbers) {
  unsetenv("STOPE_TILE_ROWS");
  EXPECT_EQ(environment::count(Variable::tile_rows), 0);
  EXPECT_EQ(count(""), 0);
  EXPECT_EQ(count("1"), 1);
  EXPECT_EQ(count("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"0", "-5", "many", "7 ", " 7", "+7", "1e3", "9223372036854775808"}) {
    expect_refused([&] { count(bad); }, std::string("STOPE_TILE_ROWS='") + bad + "' is not a positive whole number");
  }
}

TEST_F(Environment, WordsAreThoseOfTheTable) {
  unsetenv("STOPE_SCAN");
  EXPECT_EQ(environment::word(Variable::scan), "");
  EXPECT_FALSE(environment::is_set(Variable::scan));
  for (const char* good : {"", "differences", "products", "bytes"}) EXPECT_EQ(word(good), good);
  EXPECT_TRUE(environment::is_set(Variable::scan));
  for (const char* bad : {"byte", "bytess", "differences, products", ", ", "s"}) {
    expect_refused([&] { word(bad); },
                   std::string("STOPE_SCAN='") + bad + "' is none of differences, products, nibbles, bytes, formula");
  }
}

TEST_F(Environment, ContributingHasEveryRow) {
  std::ostringstream text;
  text << std::ifstream(STOPE_SOURCE_DIR "/CONTRIBUTING.md").rdbuf();
  for (const environment::Row& row : environment::table()) {
    const char* const audience = row.audience == environment::Audience::users ? "users" : "tests";
    const std::string line =
        std::string("| `") + row.name + "` | " + audience + " | " + row.values + " | " + row.help + " |\n";
    EXPECT_NE(text.str().find(line), std::string::npos) << "CONTRIBUTING.md lacks\n" << line;
  }
}

}  // namespace
}  // namespace stope
