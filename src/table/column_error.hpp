// Errors about a column of a table, or about one of its values.
#pragma once

#include <cstdint>
#include <string>

#include "stope/error.hpp"
#include "stope/table.hpp"

namespace stope {

/// "source: column 'x', row 3<what>", with the place as data. `what` begins with its own blank or colon; row -1 means
/// the whole column. `option` is the option of the API that would help.
inline Error column_error(ErrorCode code, const Table& table, const Column& column, const std::string& what,
                          std::int64_t row = -1, const std::string& option = {}) {
  return {code,
          "column '" + column.name + "'" + (row < 0 ? "" : ", row " + std::to_string(row)) + what,
          {.file = table.source, .option = option, .feature = column.name, .row = row}};
}

}  // namespace stope
