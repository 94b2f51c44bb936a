// Error: text with its place, names of codes, exit codes of the command line.
#include "stope/error.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace stope {
namespace {

TEST(Error, PutsWhatIsKnownOfThePlaceInFront) {
  const auto text = [](const Place& place) { return std::string(Error(ErrorCode::invalid_file, "bad", place).what()); };
  EXPECT_EQ(text({"t.csv", 3, 7}), "t.csv:3:7: bad");
  EXPECT_EQ(text({"t.csv", 3, 0}), "t.csv:3: bad");
  EXPECT_EQ(text({"t.csv", 0, 0}), "t.csv: bad");
  EXPECT_EQ(text({"t.csv", 0, 7}), "t.csv: bad");
  EXPECT_EQ(text({"", 3, 7}), "line 3:7: bad");
  EXPECT_EQ(text({"", 0, 0}), "bad");
}

TEST(Error, KeepsCodeAndPlace) {
  const Error with_place(ErrorCode::invalid_file, "bad", {"t.csv", 3, 7});
  EXPECT_EQ(with_place.code(), ErrorCode::invalid_file);
  EXPECT_EQ(with_place.line(), 3);
  EXPECT_EQ(with_place.column(), 7);
  const Error without(ErrorCode::cancelled, "stop");
  EXPECT_STREQ(without.what(), "stop");
  EXPECT_EQ(without.code(), ErrorCode::cancelled);
  EXPECT_EQ(without.line(), 0);
  EXPECT_EQ(without.column(), 0);
}

TEST(Error, EveryCodeHasItsNameAndExitCode) {
  const std::vector<std::tuple<ErrorCode, std::string, int>> codes = {
      {ErrorCode::invalid_argument, "invalid_argument", 2},
      {ErrorCode::invalid_file, "invalid_file", 3},
      {ErrorCode::unsupported, "unsupported", 3},
      {ErrorCode::out_of_memory, "out_of_memory", 4},
      {ErrorCode::device_unavailable, "device_unavailable", 5},
      {ErrorCode::device_lost, "device_lost", 5},
      {ErrorCode::cancelled, "cancelled", 130},
      {ErrorCode::io, "io", 3},
      {ErrorCode::internal, "internal", 1}};
  for (const auto& [code, name, exit] : codes) {
    EXPECT_EQ(to_string(code), name);
    EXPECT_EQ(exit_code(code), exit) << name;
  }
}

}  // namespace
}  // namespace stope
