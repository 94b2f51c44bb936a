#include "io/csv/fields.hpp"

#include <cmath>
#include <limits>

#include "io/csv/thousands.hpp"
#include "io/number.hpp"

namespace stope::io::csv {
namespace {

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

Meaning FieldRules::number(std::string_view field, char decimal, double& value) const {
  return meaning(field, *this, numeric_tokens, value,
                 [&](std::string_view text) { return parse(text, decimal, value); });
}

bool FieldRules::parse(std::string_view text, char decimal, double& value) const {
  if (parse_number(text, value, decimal)) return true;
  std::string plain;
  return dialect.thousands != '\0' && without_thousands(text, dialect.thousands, decimal, plain) &&
         parse_number(plain, value, decimal);
}

Meaning FieldRules::date(std::string_view field, IsoDate& date) const {
  return meaning(field, *this, true, date.days, [&](std::string_view text) {
    const std::optional<IsoDate> parsed = parse_iso_date(text);
    if (parsed.has_value()) date = *parsed;
    return parsed.has_value();
  });
}

bool FieldRules::keeps_digits(std::string_view field) const {
  if (!is_quoted(field) && dialect.thousands == '\0') return !loses_digits(field);
  std::string content(field);
  if (is_quoted(field)) unquote(field, content);
  std::string plain;
  const bool marked =
      dialect.thousands != '\0' && without_thousands(content, dialect.thousands, dialect.decimal, plain);
  return !loses_digits(marked ? plain : content);
}

FieldRules make_rules(const Dialect& dialect, const std::vector<std::string>& missing) {
  FieldRules rules;
  rules.dialect = dialect;
  for (const std::string& token : missing) {
    if (token.empty()) continue;
    double value = 0;
    rules.tokens.push_back(token);
    rules.token_starts.set(static_cast<unsigned char>(token.front()));
    const bool number = parse_number(token, value, dialect.decimal) || parse_number(token, value, ',');
    rules.numeric_tokens |= number && !std::isnan(value);
  }
  return rules;
}

}  // namespace stope::io::csv
