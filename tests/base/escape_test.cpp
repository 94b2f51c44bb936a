// Which characters are escaped, and how.
#include "base/escape.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stope {
namespace {

using namespace std::string_literals;

TEST(Escape, ControlsForATerminal) {
  EXPECT_EQ(escape_controls(""), "");
  EXPECT_EQ(escape_controls("a \"b\" \\ \xc3\xa9"), "a \"b\" \\ \xc3\xa9");
  EXPECT_EQ(escape_controls("\x1b[31m\n\t\x7f\0\x1f "s), "\\x1b[31m\\x0a\\x09\\x7f\\x00\\x1f ");
}

TEST(Escape, StringsOfJson) {
  EXPECT_EQ(json_text(""), "\"\"");
  EXPECT_EQ(json_text("a\"b\\c\n\x1f\x7f\0"s), "\"a\\\"b\\\\c\\u000a\\u001f\x7f\\u0000\"");
  EXPECT_EQ(json_text("\xc3\xa9"), "\"\xc3\xa9\"");
}

}  // namespace
}  // namespace stope
