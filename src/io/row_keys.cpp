#include "io/row_keys.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "stope/warning.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kFewestRows = 20;  // in a small table values differ by chance
constexpr std::size_t kShownNames = 3;    // besides the first

// Whether at least nine of ten values occur once. Where the list has fewer values than half of the rows, nobody counts.
bool names_rows(const Column& column, std::int64_t n_rows, const CancelToken& cancel) {
  if (2 * std::ssize(column.values) < n_rows) return false;
  cancel.check();
  std::vector<char> seen(column.values.size(), 0);
  std::int64_t n_present = 0, n_values = 0;
  for (const std::int32_t code : column.codes()) {
    if (code < 0) continue;
    char& one = seen[static_cast<std::size_t>(code)];
    n_values += one == 0 ? 1 : 0;
    n_present += 1;
    one = 1;
  }
  return n_present >= kFewestRows && 10 * n_values >= 9 * n_present;
}

// 17, 18, 19, ...: stops at the first row that does not go on so.
bool counts_rows(const Column& column, std::int64_t n_rows) {
  if (column.type != ValueType::integer) return false;
  for (std::int64_t row = 1; row < n_rows; ++row) {
    if (!(column.at(row) == column.at(row - 1) + 1)) return false;
  }
  return true;
}

}  // namespace

void warn_of_row_keys(const Table& table, const RunOptions& run) {
  const std::int64_t label = table.find(Role::label);
  if (!run.warn || label < 0 || table.n_rows < kFewestRows) return;
  const bool classes = table.columns[static_cast<std::size_t>(label)].nominal();
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (column.role != Role::regular) continue;
    const bool is_key =
        column.nominal() ? names_rows(column, table.n_rows, run.cancel) : classes && counts_rows(column, table.n_rows);
    if (is_key) names.push_back(column.name);
  }
  if (names.empty()) return;
  std::string text = "the feature '" + names.front() + "' has a value of its own in nearly every row";
  for (std::size_t i = 1; i < names.size() && i <= kShownNames; ++i) {
    text += (i == 1 ? "; so has '" : ", '") + names[i] + "'";
  }
  if (names.size() > kShownNames + 1) text += " and " + std::to_string(names.size() - kShownNames - 1) + " more";
  run.warn(warning::kRowKeys, text);
}

}  // namespace stope::io
