// The header of an ARFF file: what its attributes are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/arff_date.hpp"
#include "io/arff_scanner.hpp"

namespace stope::io {

enum class ArffKind { number, integer, nominal, string, date };

struct ArffAttribute {
  std::string name;
  ArffKind kind = ArffKind::number;
  std::optional<DatePattern> dates = {};  ///< of a date attribute
  std::vector<std::string> values;        ///< values of a nominal attribute, in the order of the file
};

/// The header of an ARFF file.
struct ArffHeader {
  std::vector<ArffAttribute> attributes;
  bool keel = false;  ///< has what only KEEL writes: @inputs, @outputs, ranges; its missing value is <null>
};

/// Whether two attributes may have the same name: where the caller gives other names to all.
enum class SameNames { refused, allowed };

/// Reads up to and including the `@data` line. Throws invalid_data with the place (unknown keywords, duplicate names or
/// values, no `@data`, no attribute) and unsupported (relational attributes, other date formats, attribute weights).
ArffHeader read_arff_header(ArffScanner& scanner, SameNames same_names);

}  // namespace stope::io
