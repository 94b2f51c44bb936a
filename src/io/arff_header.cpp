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
  attribute.kind = ArffKind::number;
  if (scanner.accept("numeric") || scanner.accept("real")) return;
  const std::string type = scanner.keyword();
  if (type == "integer") {
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

// The names of attributes. They are compared when all are there: a look-up on every line would wait for memory.
class Names {
 public:
  Names(const ArffScanner& scanner, SameNames same_names) : scanner_(scanner), same_names_(same_names) {}

  // `in_file` is empty for a name that the file spells with escapes.
  void add(const std::string& name, std::string_view in_file, std::int64_t column) {
    if (same_names_ == SameNames::allowed) return;
    seen_.push_back({in_file.empty() ? escaped_.emplace_back(name) : in_file, scanner_.line(), column});
  }
  // Throws for the first name that repeats.
  void check() const {
    NameIndex index(seen_.size());
    const std::int64_t repeated = index.add_all(seen_, [](const Seen& one) { return one.name; });
    if (repeated < 0) return;
    const Seen& one = seen_[static_cast<std::size_t>(repeated)];
    Place place = scanner_.place(0);
    place.line = one.line;
    place.column = one.column;  // only blanks come before it
    place.option = "names";
    throw Error(ErrorCode::invalid_data, "a second attribute named " + shown(one.name), place);
  }

 private:
  struct Seen {
    std::string_view name;  // most names stay where they are in the file
    std::int64_t line, column;
  };
  const ArffScanner& scanner_;
  SameNames same_names_;
  std::deque<std::string> escaped_;
  std::vector<Seen> seen_;
};

ArffAttribute read_attribute(ArffScanner& scanner, bool& keel, ArffMeter& meter, std::string_view& name_in_file) {
  ArffAttribute attribute;
  if (scanner.peek() == ArffScanner::kLineEnd) scanner.fail("an attribute without a name");
  const std::int64_t column = scanner.column();
  const ArffWord name = scanner.word();
  attribute.name = name.text;
  name_in_file = name.escaped ? std::string_view() : name.text;
  if (attribute.name.empty()) scanner.fail("an attribute without a name", column);
  attribute_type(scanner, attribute, meter);
  if (attribute.kind == ArffKind::number || attribute.kind == ArffKind::integer) keel |= skip_range(scanner);
  if (scanner.peek() == '{') {
    scanner.fail("attribute " + shown(attribute.name) + ": attribute weights are not supported", scanner.column(),
                 ErrorCode::unsupported);
  }
  if (scanner.peek() != ArffScanner::kLineEnd) {
    scanner.expect_line_end("the type of attribute " + shown(attribute.name));
  }
  return attribute;
}

}  // namespace

void ArffMeter::add(std::int64_t bytes) {
  constexpr std::int64_t kPollEntries = 4096;
  if (++n_ % kPollEntries == 0) poll_step(cancel_);
  bytes_ = checked::add(bytes_, bytes);
  if (bytes_ > budget_) refuse_memory_from("its attributes and their values need", bytes_, budget_, {file_});
}

namespace {

ArffHeader read_header(ArffScanner& scanner, ArffMeter& meter, Names& names) {
  ArffHeader header;
  std::vector<ArffAttribute>& attributes = header.attributes;
  while (scanner.next_line()) {
    const std::int64_t column = scanner.column();
    if (scanner.accept("@attribute")) {
      meter.attribute();
      std::string_view in_file;
      attributes.push_back(read_attribute(scanner, header.keel, meter, in_file));
      names.add(attributes.back().name, in_file, column);
      continue;
    }
    const std::string keyword = scanner.keyword();
    if (keyword == "@relation") continue;  // the rest of the line is a name that nobody needs
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

}  // namespace

ArffHeader read_arff_header(ArffScanner& scanner, ArffMeter& meter, SameNames same_names) {
  Names names(scanner, same_names);
  try {
    ArffHeader header = read_header(scanner, meter, names);
    names.check();
    return header;
  } catch (const Error&) {
    names.check();  // a name that repeats before another mistake is the first one
    throw;
  }
}

}  // namespace stope::io
