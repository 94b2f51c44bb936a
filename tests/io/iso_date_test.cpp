// Dates and times as people write them: which are read, as which number of days, and which are none.
#include "io/iso_date.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace stope::io {
namespace {

TEST(IsoDate, TimesAndOffsetsAreDaysInUtc) {
  const std::pair<const char*, double> kTimes[] = {{"1970-01-02", 86400},
                                                   {"1970-01-01T00:00", 0},
                                                   {"1970-01-01 06:00:30.5", 21630.5},
                                                   {"1970-01-01T06:00Z", 21600},
                                                   {"1970-01-01T06:00+01:00", 18000},
                                                   {"1970-01-01T06:00-0130", 27000},
                                                   {"1970-01-01T23:59:59+23", 3599},
                                                   {"1969-12-31T23:00:00-01", 0}};
  for (const auto& [text, seconds] : kTimes) {
    const std::optional<IsoDate> date = parse_iso_date(text);
    ASSERT_TRUE(date.has_value()) << text;
    EXPECT_EQ(date->days, seconds / 86400) << text;
    EXPECT_EQ(date->offset, std::string(text).find_first_of("+", 11) != std::string::npos ||
                                std::string(text).find('-', 11) != std::string::npos)
        << text;
  }
}

TEST(IsoDate, WhatDoesNotExistIsNone) {
  for (const char* text :
       {"", "1970", "-01-01", "2024--01", "2024-01-", "2024-01", "2024-13-01", "2023-02-29", "2024-01-01x"}) {
    EXPECT_FALSE(parse_iso_date(text).has_value()) << text;
  }
  for (const char* time :
       {"",         "1",         ":30",         "24:00",          "10",         "10:",     "10::30", "10:60",
        "10:00:",   "10:00:x",   "10:00:60",    "10:00:05..",     "10:00x",     "10:00Zx", "10:00+", "10:00+x",
        "10:00+24", "10:00+01:", "10:00+01:60", "10:00+01:00:00", "10:00+01000"}) {
    EXPECT_FALSE(parse_iso_date(std::string("2024-01-01T") + time).has_value()) << time;
  }
}

}  // namespace
}  // namespace stope::io
