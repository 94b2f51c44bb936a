#include "io/arrow/type.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace stope::io::arrow {
namespace {

struct Named {
  std::string_view format;
  Kind kind;
  const char* name;
};
constexpr std::array kTypes{
    Named{"n", Kind::null, "null"},
    Named{"b", Kind::boolean, "boolean"},
    Named{"c", Kind::int8, "int8"},
    Named{"C", Kind::uint8, "uint8"},
    Named{"s", Kind::int16, "int16"},
    Named{"S", Kind::uint16, "uint16"},
    Named{"i", Kind::int32, "int32"},
    Named{"I", Kind::uint32, "uint32"},
    Named{"l", Kind::int64, "int64"},
    Named{"L", Kind::uint64, "uint64"},
    Named{"e", Kind::float16, "float16"},
    Named{"f", Kind::float32, "float32"},
    Named{"g", Kind::float64, "float64"},
    Named{"d:", Kind::decimal, "decimal"},
    Named{"tdD", Kind::date32, "date32"},
    Named{"tdm", Kind::date64, "date64"},
    Named{"ts", Kind::timestamp, "timestamp"},
    Named{"u", Kind::utf8, "string"},
    Named{"U", Kind::large_utf8, "large string"},
    Named{"vu", Kind::utf8_view, "string view"},
};

struct Refused {
  std::string_view format;
  const char* name;
  bool prefix;  // parameters follow
};
constexpr std::array kRefused{
    Refused{"z", "binary", false},
    Refused{"Z", "large binary", false},
    Refused{"vz", "binary view", false},
    Refused{"w:", "fixed-size binary", true},
    Refused{"tt", "time", true},
    Refused{"tD", "duration", true},
    Refused{"ti", "interval", true},
    Refused{"+l", "list", false},
    Refused{"+L", "large list", false},
    Refused{"+vl", "list view", false},
    Refused{"+vL", "list view", false},
    Refused{"+w:", "fixed-size list", true},
    Refused{"+s", "struct", false},
    Refused{"+m", "map", false},
    Refused{"+ud:", "dense union", true},
    Refused{"+us:", "sparse union", true},
    Refused{"+r", "run-end encoded", false},
};

constexpr std::int64_t kDaySeconds = 86400;
constexpr int kMostDecimalDigits = 76;

// "tsu:Europe/Rome". The zone says how to show an instant; the number is the same in every zone.
std::optional<std::int64_t> units_per_day(std::string_view rest) {
  if (rest.size() < 2 || rest[1] != ':') return std::nullopt;
  switch (rest[0]) {
    case 's': return kDaySeconds;
    case 'm': return kDaySeconds * 1000;
    case 'u': return kDaySeconds * 1000000;
    case 'n': return kDaySeconds * 1000000000;
    default: return std::nullopt;
  }
}

bool take_number(std::string_view& text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// "19,10" or "19,10,64": digits, digits behind the point, bits.
std::optional<Type> decimal(std::string_view rest) {
  int precision = 0;
  int bits = 128;
  Type type;
  type.kind = Kind::decimal;
  if (!take_number(rest, precision) || !rest.starts_with(',')) return std::nullopt;
  rest.remove_prefix(1);
  if (!take_number(rest, type.scale)) return std::nullopt;
  if (rest.starts_with(',')) {
    rest.remove_prefix(1);
    if (!take_number(rest, bits)) return std::nullopt;
  }
  if (!rest.empty() || precision < 1 || precision > kMostDecimalDigits) return std::nullopt;
  if (type.scale > kMostDecimalDigits || type.scale < -kMostDecimalDigits) return std::nullopt;
  if (bits != 32 && bits != 64 && bits != 128 && bits != 256) return std::nullopt;
  type.decimal_bytes = bits / 8;
  return type;
}

std::optional<Type> parse(std::string_view format) {
  Type type;
  if (format.starts_with("d:")) return decimal(format.substr(2));
  if (format.starts_with("ts")) {
    const std::optional<std::int64_t> units = units_per_day(format.substr(2));
    if (!units.has_value()) return std::nullopt;
    type.kind = Kind::timestamp;
    type.units_per_day = *units;
    return type;
  }
  for (const Named& known : kTypes) {
    if (format != known.format) continue;
    type.kind = known.kind;
    if (type.kind == Kind::date64) type.units_per_day = kDaySeconds * 1000;
    return type;
  }
  return std::nullopt;
}

}  // namespace

Type parse_format(const char* format, const std::string& where, const Place& place) {
  if (format == nullptr) {
    throw Error(ErrorCode::invalid_data, where + ": its Arrow format is a null pointer", place);
  }
  const std::string_view text(format);
  if (const std::optional<Type> type = parse(text); type.has_value()) return *type;
  for (const Refused& refused : kRefused) {
    if (refused.prefix ? text.starts_with(refused.format) : text == refused.format) {
      Place ignore = place;
      ignore.option = "ignore";
      throw Error(ErrorCode::unsupported,
                  where + ": a table cannot hold the Arrow type " + refused.name + " ('" +
                      std::string(text.substr(0, 40)) + "')",
                  ignore);
    }
  }
  throw Error(ErrorCode::invalid_data, where + ": '" + std::string(text.substr(0, 40)) + "' is no Arrow format", place);
}

const char* name_of(Kind kind) {
  for (const Named& known : kTypes) {
    if (known.kind == kind) return known.name;
  }
  return "unknown";
}

}  // namespace stope::io::arrow
