// Formats that are not read are recognised by their bytes; tables are not taken for them.
#include "io/foreign_format.hpp"

#include <gtest/gtest.h>

#include <string>

#include "stope/error.hpp"

namespace stope::io {
namespace {

// What the error calls the bytes; empty where they are not refused.
std::string refusal(const std::string& bytes) {
  try {
    refuse_foreign(bytes, "f", Foreign::any);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    return error.what();
  }
  return "";
}

TEST(ForeignFormat, PicklesOfProtocols2To5AreNamed) {
  for (char protocol = 2; protocol <= 5; ++protocol) {
    const std::string bytes = std::string("\x80") + protocol + "}q.";
    EXPECT_NE(refusal(bytes).find("pickle"), std::string::npos) << int{protocol};
    EXPECT_EQ(refusal(bytes + "\n"), "") << int{protocol};
  }
  for (const char protocol : {'\1', '\6'}) EXPECT_EQ(refusal(std::string("\x80") + protocol + "}q."), "");
}

TEST(ForeignFormat, ALabelAndAscendingIndicesAreLibsvm) {
  for (const char* const line : {"+1 3:0.5 17:-2\n", "2 qid:1 1:0.5 4:2\n", "0 1:1\n"}) {
    EXPECT_NE(refusal(line).find("libsvm"), std::string::npos) << line;
  }
  for (const char* const line : {"+1\n", "a 3:0.5\n", "+1 3:0.5 2:1\n", "+1 3:x\n", "1 2 3\n", "12:30 13:45\n", "\n"}) {
    EXPECT_EQ(refusal(line), "") << line;
  }
}

}  // namespace
}  // namespace stope::io
