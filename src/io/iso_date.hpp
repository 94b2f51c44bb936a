// ISO dates and times as people write them in text tables: days since 1970-01-01 UTC, with the time of day as fraction.
#pragma once

#include <optional>
#include <string_view>

namespace stope::io {

struct IsoDate {
  double days = 0;
  bool exact = true;    ///< no digit is lost: `days` gives back every decimal of the second
  bool offset = false;  ///< the text has an offset from UTC other than zero
};

/// Reads YYYY-MM-DD, then optionally T or a blank, hh:mm, optionally :ss and decimals, optionally Z or an offset such
/// as +01:00. Nothing for any other text, and for a day or a time that does not exist.
std::optional<IsoDate> parse_iso_date(std::string_view text);

}  // namespace stope::io
