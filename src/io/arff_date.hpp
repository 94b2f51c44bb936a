// The dates of ARFF: Java's patterns for reading, ISO text for writing. Days since 1970-01-01 with a fraction for the
// time of day; UTC, proleptic Gregorian calendar.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stope::io {

/// A pattern of java.text.SimpleDateFormat that is all digits: yyyy, MM, dd, HH, mm, ss and SSS of exactly that length,
/// M, d, H, m and s of one or two digits, other characters as they are, quoted letters without their quotes.
class DatePattern {
 public:
  /// Nothing for a pattern with other letters, such as yy, MMM or Z.
  static std::optional<DatePattern> parse(std::string_view pattern);

  /// Reads the whole of `text`; a part that the pattern lacks is that of 1970-01-01T00:00:00. False for any other text
  /// and for a day or time that does not exist.
  bool read(std::string_view text, double& days) const;

  const std::string& text() const { return text_; }

 private:
  struct Item {
    char letter;              // of the pattern; '\0' for a character as it is
    char character;           // that character
    std::size_t least, most;  // digits
  };
  std::string text_;
  std::vector<Item> items_;
};

/// How dates are written.
enum class DateFormat {
  date,         ///< yyyy-MM-dd
  date_time,    ///< yyyy-MM-dd'T'HH:mm:ss, ARFF's default
  date_millis,  ///< yyyy-MM-dd'T'HH:mm:ss.SSS
  date_micros   ///< six decimals, for which Java has no pattern
};

/// Appends `days` in `format` if that reads back as the same number; else appends nothing and returns false.
bool append_date(std::string& out, DateFormat format, double days);

}  // namespace stope::io
