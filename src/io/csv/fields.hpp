// The meaning of one field: missing, a number, a date, or a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv/record.hpp"

namespace stope::io::csv {

enum class Meaning { missing, number, other };

/// How the fields of a file are read. An empty field, quoted or not, is always missing. A quoted missing token is
/// missing where a number is expected; in a nominal column it is a value ("NA" is Namibia).
struct FieldRules {
  Dialect dialect;
  std::vector<std::string> tokens;  ///< missing tokens, "" not among them
  bool numeric_tokens = false;      ///< some token reads as a number (-999), so tokens are tried first

  bool is_token(std::string_view text) const {
    for (const std::string& token : tokens) {
      if (token == text) return true;
    }
    return false;
  }

  /// `field` trimmed; `value` is set for a number, NaN where missing.
  Meaning number(std::string_view field, double& value) const;
  /// As number(), for an ISO date: days since 1970-01-01, with a fraction for the time of day.
  Meaning date(std::string_view field, double& value) const;
};

FieldRules make_rules(const Dialect& dialect, const std::vector<std::string>& missing);

/// YYYY-MM-DD, then optionally T or a blank, hh:mm, optionally :ss and decimals, optionally Z. False for any other
/// text, and for a day that does not exist.
bool parse_iso_date(std::string_view text, double& days);

}  // namespace stope::io::csv
