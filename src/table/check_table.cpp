#include "table/check_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/name_index.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

[[noreturn]] void refuse(const std::string& column, std::int64_t row, const std::string& problem) {
  const std::string where = row < 0 ? "" : ", row " + std::to_string(row);
  throw Error(ErrorCode::invalid_argument, "column '" + column + "'" + where + ": " + problem,
              {.feature = column, .row = row});
}

}  // namespace

void check_shape(const Table& table) {
  if (table.n_rows < 0) {
    throw Error(ErrorCode::invalid_argument, "the table has " + std::to_string(table.n_rows) + " rows");
  }
  for (const Column& column : table.columns) {
    if (column.size() != table.n_rows) {
      refuse(column.name, -1,
             std::to_string(column.size()) + " rows, but the table has " + std::to_string(table.n_rows));
    }
    if (column.size() > 0 && std::visit([](const auto& values) { return values.data() == nullptr; }, column.data)) {
      refuse(column.name, -1, "its values are a null pointer");
    }
    if (column.nominal() != std::holds_alternative<Buffer<std::int32_t>>(column.data)) {
      refuse(column.name, -1, "its type " + std::string(to_string(column.type)) + " does not fit its storage");
    }
  }
}

namespace {

[[noreturn]] void refuse_repeated(const std::string& name) {
  throw Error(ErrorCode::invalid_argument, "two columns are named '" + name + "'", {.feature = name});
}

}  // namespace

void refuse_repeated_name(const Column& column) {
  refuse_repeated(column.name);
}

void check_names(const std::vector<std::string>& names) {
  NameIndex index(names.size());
  const std::int64_t repeated = index.add_all(names, [](const std::string& name) -> std::string_view { return name; });
  if (repeated >= 0) refuse_repeated(names[static_cast<std::size_t>(repeated)]);
}

void check_names(const Table& table) {
  NameIndex names(table.columns.size());
  const auto name_of = [](const Column& column) -> std::string_view { return column.name; };
  const std::int64_t repeated = names.add_all(table.columns, name_of);
  if (repeated >= 0) refuse_repeated_name(table.columns[static_cast<std::size_t>(repeated)]);
}

void check_codes(const Column& column, std::int64_t begin, std::int64_t end) {
  const std::int32_t* const codes = column.codes().data();
  const auto n_values = static_cast<std::uint32_t>(std::min<std::size_t>(column.values.size(), INT32_MAX));
  // One comparison and no branch a row, so that the check runs as fast as memory is read.
  const auto outside = [n_values](std::int32_t code) {
    return static_cast<std::uint32_t>(code) - static_cast<std::uint32_t>(kMissingCode) > n_values;
  };
  std::uint32_t any = 0;
  for (std::int64_t row = begin; row < end; ++row) any |= static_cast<std::uint32_t>(outside(codes[row]));
  if (any == 0) return;
  const std::int64_t row = std::find_if(codes + begin, codes + end, outside) - codes;
  refuse(column.name, row,
         "code " + std::to_string(codes[row]) + " is outside its " + std::to_string(n_values) + " values");
}

}  // namespace stope
