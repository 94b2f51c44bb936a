// The meaning of one field: missing, a number, a date, or a name.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv/record.hpp"
#include "io/iso_date.hpp"

namespace stope::io::csv {

enum class Meaning { missing, number, other };

/// How the fields of a file are read. An empty field, quoted or not, is always missing. A quoted missing token is
/// missing where a number is expected; in a nominal column it is a value ("NA" is Namibia).
struct FieldRules {
  Dialect dialect;
  std::vector<std::string> tokens;  ///< missing tokens, "" not among them
  std::bitset<256> token_starts;    ///< their first bytes
  bool numeric_tokens = false;      ///< some token reads as a number (-999), so tokens are tried first
  bool commas = false;              ///< a column's decimal mark may be a comma, although dialect.decimal is a point

  bool is_token(std::string_view text) const {
    for (const std::string& token : tokens) {
      if (token == text) return true;
    }
    return false;
  }

  /// `field` trimmed; `value` is set for a number, NaN where missing.
  Meaning number(std::string_view field, char decimal, double& value) const;
  /// Reads the whole of `text`, which is no token, as a number, perhaps with marks between its thousands.
  bool parse(std::string_view text, char decimal, double& value) const;
  /// As number(), for an ISO date (iso_date.hpp).
  Meaning date(std::string_view field, IsoDate& date) const;
  /// Whether a number's text, quoted or not, comes back from a double (loses_digits in number.hpp).
  bool keeps_digits(std::string_view field) const;
};

FieldRules make_rules(const Dialect& dialect, const std::vector<std::string>& missing);

}  // namespace stope::io::csv
