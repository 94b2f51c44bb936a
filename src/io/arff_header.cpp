// @relation, @attribute, @data (io/arff_header.hpp).
#include "io/arff_header.hpp"

#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/name_index.hpp"
#include "base/progress.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

std::vector<std::string> value_list(ArffScanner& scanner, const std::string& attribute, ArffMeter& meter) {
  std::deque<std::string> values;  // never moves its elements, so that the set can look at them
  std::unordered_set<std::string_view> seen;
  scanner.skip();  // '{'
  while (scanner.peek() != '}') {
    const ArffWord word = scanner.word();
    meter.value(word.text);
    values.emplace_back(word.text);
    if (!seen.insert(values.back()).second) {
      scanner.fail("attribute " + shown(attribute) + " lists the value " + shown(word.text) + " twice", word.column);
    }
    if (!scanner.separator() && scanner.peek() != '}') scanner.fail("expected ',' or '}' in the list of values");
  }
  scanner.skip();
  seen = {};
  return {std::move_iterator(values.begin()), std::move_iterator(values.end())};
}

void date_pattern(ArffScanner& scanner, ArffAttribute& attribute) {
  const bool given = scanner.peek() != ArffScanner::kLineEnd;
  const ArffWord pattern = given ? scanner.word() : ArffWord{"yyyy-MM-dd'T'HH:mm:ss"};
  if (std::optional<DatePattern> dates = DatePattern::parse(pattern.text)) {
    attribute.dates = std::make_unique<const DatePattern>(std::move(*dates));
    return;
  }
  scanner.fail("attribute " + shown(attribute.name) + ": the date format " + shown(pattern.text) +
                   " is not supported (yyyy, MM, dd, HH, mm, ss and SSS are, in any order)",
               pattern.column, ErrorCode::unsupported);
}

// The range of a number, as KEEL writes it: [0.0, 10.0]. WEKA reads over it, too.
bool skip_range(ArffScanner& scanner) {
  if (scanner.peek() != '[') return false;
  const std::int64_t column = scanner.column();
  while (scanner.peek() != ']') {
    if (scanner.peek() == ArffScanner::kLineEnd) scanner.fail("a range without its closing ']'", column);
    scanner.skip();
  }
  scanner.skip();
  return true;
}

void attribute_type(ArffScanner& scanner, ArffAttribute& attribute, ArffMeter& meter) {
  if (scanner.peek() == ArffScanner::kLineEnd) scanner.fail("attribute " + shown(attribute.name) + " has no type");
  if (scanner.peek() == '{') {
    attribute.kind = ArffKind::nominal;
    attribute.values = value_list(scanner, attribute.name, meter);
    return;
  }
  const std::int64_t column = scanner.column();
  const std::string type = scanner.keyword();
  if (type == "numeric" || type == "real") {
    attribute.kind = ArffKind::number;
  } else if (type == "integer") {
    attribute.kind = ArffKind::integer;
  } else if (type == "string") {
    attribute.kind = ArffKind::string;
  } else if (type == "date") {
    attribute.kind = ArffKind::date;
    date_pattern(scanner, attribute);
  } else if (type == "relational") {
    scanner.fail("attribute " + shown(attribute.name) + ": relational attributes are not supported", column,
                 ErrorCode::unsupported);
  } else {
    scanner.fail("attribute " + shown(attribute.name) + ": unknown type " + shown(type) +
                     did_you_mean(type, {"numeric", "real", "integer", "string", "date", "relational"}),
                 column);
  }
}

[[noreturn]] void fail_same_name(ArffScanner& scanner, const std::string& name, std::int64_t column) {
  try {
    scanner.fail("a second attribute named " + shown(name), column);
  } catch (const Error& error) {
    Place place = error.place();
    place.option = "names";
    throw Error(error.code(), error.message(), place);
  }
}

// The names of attributes, for finding the first that repeats. Most of them stay where they are in the file.
class Names {
 public:
  /// False for a name that was there before.
  bool add(const ArffWord& name) {
    return index_.add(name.escaped ? std::string_view(escaped_.emplace_back(name.text)) : name.text) < 0;
  }

 private:
  std::deque<std::string> escaped_;
  NameIndex index_;
};

ArffAttribute read_attribute(ArffScanner& scanner, bool& keel, ArffMeter& meter, Names& names, bool& is_new) {
  ArffAttribute attribute;
  if (scanner.peek() == ArffScanner::kLineEnd) scanner.fail("an attribute without a name");
  const std::int64_t column = scanner.column();
  const ArffWord name = scanner.word();
  attribute.name = name.text;
  if (attribute.name.empty()) scanner.fail("an attribute without a name", column);
  is_new = names.add(name);
  attribute_type(scanner, attribute, meter);
  if (attribute.kind == ArffKind::number || attribute.kind == ArffKind::integer) keel |= skip_range(scanner);
  if (scanner.peek() == '{') {
    scanner.fail("attribute " + shown(attribute.name) + ": attribute weights are not supported", scanner.column(),
                 ErrorCode::unsupported);
  }
  scanner.expect_line_end("the type of attribute " + shown(attribute.name));
  return attribute;
}

}  // namespace

void ArffMeter::add(std::int64_t bytes) {
  constexpr std::int64_t kPollEntries = 4096;
  if (++n_ % kPollEntries == 0) poll_step(cancel_);
  bytes_ = checked::add(bytes_, bytes);
  if (bytes_ > budget_) refuse_memory_from("its attributes and their values need", bytes_, budget_, {file_});
}

ArffHeader read_arff_header(ArffScanner& scanner, ArffMeter& meter, SameNames same_names) {
  ArffHeader header;
  std::vector<ArffAttribute>& attributes = header.attributes;
  Names names;
  while (scanner.next_line()) {
    const std::int64_t column = scanner.column();
    const std::string keyword = scanner.keyword();
    if (keyword == "@relation") continue;  // the rest of the line is a name that nobody needs
    if (keyword == "@attribute") {
      meter.attribute();
      bool is_new = true;
      attributes.push_back(read_attribute(scanner, header.keel, meter, names, is_new));
      if (!is_new && same_names == SameNames::refused) fail_same_name(scanner, attributes.back().name, column);
      continue;
    }
    // KEEL lists the names of both again. Whoever reads the table says with other means what its target is.
    if (keyword == "@inputs" || keyword == "@input" || keyword == "@outputs" || keyword == "@output") {
      header.keel = true;
      continue;
    }
    if (keyword != "@data") {
      scanner.fail("expected @relation, @attribute or @data, not " + shown(keyword) +
                       did_you_mean(keyword, {"@relation", "@attribute", "@data"}),
                   column);
    }
    scanner.expect_line_end("@data");
    if (attributes.empty()) scanner.fail("no @attribute before @data", column);
    return header;
  }
  scanner.fail("the file ends without @data", 0);
}

}  // namespace stope::io
