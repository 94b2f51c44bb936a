#include "io/csv/fields.hpp"

#include <chrono>
#include <cmath>
#include <limits>

#include "io/number.hpp"

namespace stope::io::csv {
namespace {

// Reads exactly `n_digits` digits at `at` and moves `at` behind them; -1 if they are not there.
int digits(std::string_view text, std::size_t& at, std::size_t n_digits) {
  int value = 0;
  for (std::size_t i = 0; i < n_digits; ++i, ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool accept(std::string_view text, std::size_t& at, char c) {
  if (at >= text.size() || text[at] != c) return false;
  ++at;
  return true;
}

// hh:mm[:ss[.decimals]][Z] from `at` to the end, in seconds.
bool parse_time(std::string_view text, std::size_t at, double& seconds) {
  const int hour = digits(text, at, 2);
  if (!accept(text, at, ':')) return false;
  const int minute = digits(text, at, 2);
  double second = 0;
  if (accept(text, at, ':')) {
    const std::size_t begin = at;
    if (digits(text, at, 2) < 0) return false;
    if (accept(text, at, '.')) {
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    }
    if (!parse_number(text.substr(begin, at - begin), second)) return false;
  }
  accept(text, at, 'Z');
  if (at != text.size() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second >= 60) return false;
  seconds = (hour * 60 + minute) * 60 + second;
  return true;
}

template <class Parse>
Meaning meaning(std::string_view field, const FieldRules& rules, bool tokens_first, double& value, const Parse& parse) {
  value = std::numeric_limits<double>::quiet_NaN();
  std::string content;
  if (is_quoted(field)) {
    unquote(field, content);
    field = content;
  }
  if (field.empty() || (tokens_first && rules.is_token(field))) return Meaning::missing;
  if (parse(field)) return std::isnan(value) ? Meaning::missing : Meaning::number;
  value = std::numeric_limits<double>::quiet_NaN();
  return rules.is_token(field) ? Meaning::missing : Meaning::other;
}

}  // namespace

bool parse_iso_date(std::string_view text, double& days) {
  std::size_t at = 0;
  const int year = digits(text, at, 4);
  if (!accept(text, at, '-')) return false;
  const int month = digits(text, at, 2);
  if (!accept(text, at, '-')) return false;
  const int day = digits(text, at, 2);
  if (year < 0 || month < 0 || day < 0) return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return false;
  days = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
  if (at == text.size()) return true;
  if (!accept(text, at, 'T') && !accept(text, at, ' ')) return false;
  double seconds = 0;
  if (!parse_time(text, at, seconds)) return false;
  days = (days * 86400 + seconds) / 86400;  // one rounding where the seconds are whole, as in ARFF (arff_date.hpp)
  return true;
}

Meaning FieldRules::number(std::string_view field, double& value) const {
  return meaning(field, *this, numeric_tokens, value,
                 [&](std::string_view text) { return parse_number(text, value, dialect.decimal); });
}

Meaning FieldRules::date(std::string_view field, double& value) const {
  return meaning(field, *this, true, value, [&](std::string_view text) { return parse_iso_date(text, value); });
}

FieldRules make_rules(const Dialect& dialect, const std::vector<std::string>& missing) {
  FieldRules rules;
  rules.dialect = dialect;
  for (const std::string& token : missing) {
    if (token.empty()) continue;
    double value = 0;
    rules.tokens.push_back(token);
    rules.numeric_tokens |= parse_number(token, value, dialect.decimal) && !std::isnan(value);
  }
  return rules;
}

}  // namespace stope::io::csv
