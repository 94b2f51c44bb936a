// ISO dates as numbers: days since 1970-01-01, a fraction for the time of day. UTC, proleptic Gregorian calendar.
#pragma once

#include <string>
#include <string_view>

namespace stope::io {

/// How an ARFF `date` attribute is written.
enum class DateFormat {
  date,       ///< yyyy-MM-dd
  date_time,  ///< yyyy-MM-dd'T'HH:mm:ss, ARFF's default
  date_blank  ///< yyyy-MM-dd HH:mm:ss, the example in ARFF's description
};

/// The format that a Java pattern stands for; false for any other pattern.
bool parse_date_format(std::string_view pattern, DateFormat& format);

/// Reads `text` as days. It must follow `format` exactly: four-digit year, existing day, hours 0-23, no zone. False
/// otherwise.
bool parse_date(std::string_view text, DateFormat format, double& days);

/// Appends `days` in `format` (not date_blank) if that reads back as the same number; else appends nothing and returns
/// false.
bool append_date(std::string& out, DateFormat format, double days);

}  // namespace stope::io
