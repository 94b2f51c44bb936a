// Where a cell of a CSV file stands: its line and column, found by the grammar, record after record.
#include <algorithm>

#include "io/csv/plan.hpp"
#include "io/csv/record.hpp"
#include "io/readers.hpp"

namespace stope::io {

Place place_in_csv(const Bytes& bytes, const ReadOptions& options, const Schema* schema, std::int64_t row,
                   std::string_view feature, const RunOptions& run) {
  constexpr std::int64_t kPollRows = 4096;
  const csv::Text text = csv::open_text(bytes, options, memory_budget(run) - (run.memory_limit > 0 ? bytes.held : 0));
  const csv::Plan plan = csv::make_plan(text, options, schema, run.cancel);
  const auto of_name = std::find_if(plan.columns.begin(), plan.columns.end(),
                                    [&](const csv::ColumnPlan& column) { return column.name == feature; });
  // The first field for an unknown name: the place of the row.
  const std::int64_t wanted = of_name == plan.columns.end() ? 0 : of_name - plan.columns.begin();
  const auto n = static_cast<std::int64_t>(text.view.size());
  std::int64_t rows = 0;
  for (std::int64_t at = plan.data_begin; at < n;) {
    if (rows % kPollRows == 0) run.cancel.check();
    std::int64_t index = 0, begin_of_cell = at;
    const csv::Record record =
        csv::scan_record(text.view, at, plan.rules.dialect, [&](std::int64_t begin, std::int64_t) {
          if (index++ == wanted) begin_of_cell = begin;
        });
    if (record.status != csv::RecordStatus::complete) break;  // another file than the one that was read
    const bool skipped = csv::is_skipped(record, static_cast<std::int64_t>(plan.columns.size()));
    if (!skipped && rows++ == row) return csv::place_of(text, begin_of_cell);
    at = record.next;
  }
  return {};
}

}  // namespace stope::io
