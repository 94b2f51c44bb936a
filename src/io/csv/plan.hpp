// What is decided before a CSV file is parsed: separator, header, names, and how each column is to be read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/csv/fields.hpp"
#include "io/csv/readings.hpp"
#include "io/csv/text.hpp"
#include "stope/io.hpp"

namespace stope::io::csv {

enum class Kind { numeric, date, nominal };

struct ColumnPlan {
  std::string name;
  Kind kind = Kind::numeric;
  char decimal = '.';                    ///< of numbers
  unsigned left = 0;                     ///< readings to try if a field does not fit `kind`: the guess was wrong
  bool declared = false;                 ///< by schema or options
  bool listed = false;                   ///< the schema lists the values: any other is an error
  bool ignored = false;                  ///< by the options: nothing is told of such a column
  ValueType type = ValueType::real;      ///< as declared
  std::vector<std::string> values;       ///< known beforehand, from the schema or from the head of the file
  std::vector<std::int64_t> first_rows;  ///< first rows of `values`, if they come from the file
};

struct Plan {
  FieldRules rules;
  std::vector<ColumnPlan> columns;
  std::int64_t data_begin = 0;  ///< offset of the first record that is data
  std::string header_doubt;     ///< HeaderDecision::doubt
  std::string title_doubt;      ///< empty, or that the first record may be a title above the table
};

/// Goes on to the first reading that is left; there is one.
void take_next_reading(ColumnPlan& column, const FieldRules& rules);

/// Plans from the head of `text`. Throws invalid_data (empty, no text file, malformed first record, duplicate column
/// names, a schema that does not match) and invalid_argument (contradictory options).
Plan make_plan(const Text& text, const ReadOptions& options, const Schema* schema, const CancelToken& cancel);

}  // namespace stope::io::csv
