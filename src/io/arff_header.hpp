// The header of an ARFF file: what its attributes are.
#pragma once

#include <string>
#include <vector>

#include "io/arff_date.hpp"
#include "io/arff_scanner.hpp"

namespace stope::io {

enum class ArffKind { number, integer, nominal, string, date };

struct ArffAttribute {
  std::string name;
  ArffKind kind = ArffKind::number;
  DateFormat date_format = DateFormat::date_time;
  std::vector<std::string> values;  ///< values of a nominal attribute, in the order of the file
};

/// Reads up to and including the `@data` line. Throws invalid_file with the place (unknown keywords, duplicate names or
/// values, no `@data`, no attribute) and unsupported (relational attributes, other date formats, attribute weights).
std::vector<ArffAttribute> read_arff_header(ArffScanner& scanner);

}  // namespace stope::io
