// like(): the options that read a second table as the first one was read (stope/io.hpp).
#include "stope/io.hpp"

#include "base/guarded.hpp"

namespace stope {

ReadOptions like(const Table& first, const std::string& path, const ReadOptions& how) try {
  ReadOptions second = how;
  second.unknown_columns = UnknownColumns::skip;
  second.schema_part = "test";
  second.sample = 0;
  if (format_of(path) != Format::sheet) second.sheet.clear();
  second.first_names.reserve(first.columns.size());
  for (const Column& column : first.columns) second.first_names.push_back(column.name);

  // Column numbers refer to the first table; here its names count.
  const auto name_of = [&first](Role role) {
    const std::int64_t column = first.find(role);
    return column < 0 ? std::string() : first.columns[static_cast<std::size_t>(column)].name;
  };
  if (how.schema.empty() || !how.target.empty()) second.target = name_of(Role::label);
  if (how.schema.empty() || !how.id.empty()) second.id = name_of(Role::id);
  if (how.schema.empty() || !how.sample_weight.empty()) second.sample_weight = name_of(Role::weight);

  // A text file does not say what its columns are: "1" is a number in one file and a code in another that also holds
  // "x", and a column may be missing throughout. The first table's column of that name decides.
  const Format format = how.format == Format::automatic ? format_of(path) : how.format;
  const bool text = format == Format::csv || format == Format::tsv || format == Format::automatic;
  if (!text || !how.schema.empty()) return second;
  second.select.clear();  // `ignore` has what it left out
  second.ignore.clear();
  second.nominal.clear();
  second.numeric.clear();
  second.date.clear();
  for (const Column& column : first.columns) {
    if (column.role == Role::ignore) {
      second.ignore.push_back(column.name);
    } else {
      const bool date = column.type == ValueType::date;
      (column.nominal() ? second.nominal : date ? second.date : second.numeric).push_back(column.name);
    }
  }
  return second;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
