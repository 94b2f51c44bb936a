// Error: text with its place, names of codes, exit codes of the command line.
#include "stope/error.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <vector>

namespace stope {
namespace {

TEST(Error, PutsWhatIsKnownOfThePlaceInFront) {
  const auto text = [](const Place& place) { return std::string(Error(ErrorCode::invalid_data, "bad", place).what()); };
  EXPECT_EQ(text({"t.csv", 3, 7}), "t.csv:3:7: bad");
  EXPECT_EQ(text({"t.csv", 3, 0}), "t.csv:3: bad");
  EXPECT_EQ(text({"t.csv", 0, 0}), "t.csv: bad");
  EXPECT_EQ(text({"t.csv", 0, 7}), "t.csv: bad");
  EXPECT_EQ(text({"", 3, 7}), "line 3:7: bad");
  EXPECT_EQ(text({"", 0, 0}), "bad");
  EXPECT_EQ(text({.option = "k", .feature = "x", .row = 4}), "bad");
}

TEST(Error, KeepsCodeAndPlace) {
  const Error with_place(ErrorCode::invalid_data, "bad", {"t.csv", 3, 7});
  EXPECT_EQ(with_place.code(), ErrorCode::invalid_data);
  EXPECT_EQ(with_place.line(), 3);
  EXPECT_EQ(with_place.column(), 7);
  const Error without(ErrorCode::cancelled, "stop");
  EXPECT_STREQ(without.what(), "stop");
  EXPECT_EQ(without.code(), ErrorCode::cancelled);
  EXPECT_EQ(without.line(), 0);
  EXPECT_EQ(without.column(), 0);
}

TEST(Error, KeepsTheMessageApartFromThePlace) {
  const Error error(ErrorCode::invalid_data, "the value is missing",
                    {.file = "t.csv", .line = 3, .option = "missing", .feature = "x", .row = 1});
  EXPECT_STREQ(error.what(), "t.csv:3: the value is missing");
  EXPECT_EQ(error.message(), "the value is missing");
  EXPECT_EQ(error.file(), "t.csv");
  EXPECT_EQ(error.option(), "missing");
  EXPECT_EQ(error.feature(), "x");
  EXPECT_EQ(error.row(), 1);
  const Error plain(ErrorCode::io, "no");
  EXPECT_EQ(plain.message(), "no");
  EXPECT_EQ(plain.file() + plain.option() + plain.feature(), "");
  EXPECT_EQ(plain.row(), -1);
}

template <class Exception>
Error caught(const Exception& exception) {
  return error_of(std::make_exception_ptr(exception));
}

TEST(Error, OfAnExceptionIsTheErrorItselfOrItsKind) {
  const Error kept = caught(Error(ErrorCode::io, "no", {.file = "f"}));
  EXPECT_EQ(kept.code(), ErrorCode::io);
  EXPECT_EQ(kept.file(), "f");
  EXPECT_STREQ(kept.what(), "f: no");
  EXPECT_EQ(caught(std::bad_alloc()).code(), ErrorCode::out_of_memory);
  EXPECT_EQ(caught(std::bad_array_new_length()).code(), ErrorCode::out_of_memory);
  EXPECT_EQ(caught(std::length_error("vector")).code(), ErrorCode::out_of_memory);
  EXPECT_EQ(caught(std::runtime_error("odd")).code(), ErrorCode::internal);
  EXPECT_STREQ(caught(std::runtime_error("odd")).what(), "internal error: odd");
  EXPECT_EQ(caught(42).code(), ErrorCode::internal);
  EXPECT_EQ(error_of(nullptr).code(), ErrorCode::internal);
}

TEST(Error, IsCopiedWithoutThrowing) {
  static_assert(std::is_nothrow_copy_constructible_v<Error> && std::is_nothrow_copy_assignable_v<Error>);
  static_assert(noexcept(error_of(nullptr)));
}

TEST(Error, EveryCodeHasItsNameAndExitCode) {
  const std::vector<std::tuple<ErrorCode, std::string, int>> codes = {
      {ErrorCode::invalid_argument, "invalid_argument", 2},
      {ErrorCode::invalid_data, "invalid_data", 3},
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
