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

TEST(Escape, C1ControlsAndMarksOfDirection) {
  EXPECT_EQ(escape_controls("a\u009b31mb"), "a\\xc2\\x9b31mb");
  EXPECT_EQ(escape_controls("\u0080\u00a0\u061c\u200f"), "\\xc2\\x80\u00a0\\xd8\\x9c\\xe2\\x80\\x8f");
  EXPECT_EQ(escape_controls("\u2027\u2028\u202e\u202f\u2066\u2069\u206a"),
            "\u2027\\xe2\\x80\\xa8\\xe2\\x80\\xae\u202f\\xe2\\x81\\xa6\\xe2\\x81\\xa9\u206a");
}

TEST(Escape, BytesThatAreNoUtf8) {
  EXPECT_EQ(escape_controls("\x9b"
                            "31m"),
            "\\x9b31m");                          // alone
  EXPECT_EQ(escape_controls("\xc3"), "\\xc3");    // cut short
  EXPECT_EQ(escape_controls("\xc3("), "\\xc3(");  // no byte that goes on
  EXPECT_EQ(escape_controls("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
  EXPECT_EQ(escape_controls("\xc0\x9b"), "\\xc0\\x9b");  // ESC, spelled too long
  EXPECT_EQ(escape_controls("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(escape_controls("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(escape_controls("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(escape_controls("\xf0\x9f\x98\x80 \xe4\xb8\xad"), "\xf0\x9f\x98\x80 \xe4\xb8\xad");
}

TEST(Escape, StringsOfJson) {
  EXPECT_EQ(json_text(""), "\"\"");
  EXPECT_EQ(json_text("a\"b\\c\n\x1f\x7f\0"s), "\"a\\\"b\\\\c\\u000a\\u001f\x7f\\u0000\"");
  EXPECT_EQ(json_text("\xc3\xa9"), "\"\xc3\xa9\"");
}

}  // namespace
}  // namespace stope
