// What is decided before a CSV file is parsed: separator, header, names, and how each column is to be read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/csv/fields.hpp"
#include "io/csv/readings.hpp"
#include "io/csv/text.hpp"
#include "stope/io.hpp"

namespace stope::io::csv {

enum class Kind { numeric, date, nominal };

/// How the fields of a column are read.
struct ColumnReading {
  Kind kind = Kind::numeric;
  char decimal = '.';                ///< of numbers
  bool declared = false;             ///< by schema or options
  bool listed = false;               ///< the schema lists the values: any other is an error
  unsigned left = 0;                 ///< readings to try if a field does not fit `kind`: the guess was wrong
  ValueType type = ValueType::real;  ///< as declared
};

/// Values that are known before the file is parsed, from the schema or from its head.
struct KnownValues {
  std::vector<std::string> values;
  std::vector<std::int64_t> first_rows;  ///< of `values`, if they come from the file
};

struct ColumnPlan : ColumnReading {
  std::string name;
  std::unique_ptr<KnownValues> known = nullptr;  ///< null: none
  bool ignored = false;                          ///< by the options: nothing is told of such a column

  const std::vector<std::string>& values() const {
    static const std::vector<std::string> none;
    return known == nullptr ? none : known->values;
  }
};

struct Plan {
  FieldRules rules;
  std::vector<ColumnPlan> columns;
  std::int64_t data_begin = 0;  ///< offset of the first record that is data
  std::string header_doubt;     ///< HeaderDecision::doubt
  std::string title_doubt;      ///< empty, or that the first record may be a title above the table
};

/// Goes on to the first reading that is left; there is one.
void take_next_reading(ColumnReading& column, const FieldRules& rules);

/// Plans from the head of `text`. Throws invalid_data (empty, no text file, malformed first record, duplicate column
/// names, a schema that does not match) and invalid_argument (contradictory options).
Plan make_plan(const Text& text, const ReadOptions& options, const Schema* schema, const CancelToken& cancel);

}  // namespace stope::io::csv
