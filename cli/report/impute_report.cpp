#include "report/impute_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/text_table.hpp"

namespace stope::cli {
namespace {

constexpr std::int64_t kColumnsShown = 60;
constexpr std::int64_t kPollCells = 65536;

}  // namespace

void tell(Session& session, const ImputeReport& report) {
  session.note_plan(report);
  std::int64_t n_missing = 0, n_fallback = 0, n_left = 0, n_columns = 0;
  TextTable text({Align::left, Align::right, Align::right, Align::right, Align::right, Align::right});
  text.row({"column", "missing", "filled", "donors", "distance", "without donors"});
  for (const ImputedColumn& column : report.columns) {
    if (column.n_missing == 0) continue;
    n_missing += column.n_missing;
    n_fallback += column.n_fallback;
    n_left += column.n_left;
    if (++n_columns > kColumnsShown) continue;
    text.row({column.name, std::to_string(column.n_missing), std::to_string(column.n_filled + column.n_fallback),
              format_value(column.mean_donors), format_value(column.mean_distance), std::to_string(column.n_fallback)});
  }
  if (n_missing == 0) {
    session.say("no value is missing\n");
    return;
  }
  session.say(fmt::format("{} of {} filled in, in {} of {}; {} without donors\n\n", n_missing - n_left,
                          counted(n_missing, "missing value"), report.n_incomplete, counted(report.n_rows, "row"),
                          n_fallback));
  session.say(text.text(2));
  if (n_columns > kColumnsShown) session.say(fmt::format("  ... {} more columns\n", n_columns - kColumnsShown));
}

FilledCells::FilledCells(OutputFile& file, const RunOptions& run) : out_(file), run_(run) {
  out_.text("row").text("column").text("value").text("n_donors").text("distance").text("donors").end_row();
}

void FilledCells::operator()(const FilledCell& cell) {
  if (n_cells_++ % kPollCells == 0) run_.cancel.check();
  out_.integer(cell.row).text(cell.column->name).cell(*cell.column, cell.row);
  out_.integer(static_cast<std::int64_t>(cell.donors.size()));
  if (cell.donors.empty()) {
    out_.empty().empty();
  } else {
    double sum = 0.0;
    std::string donors;
    for (std::size_t i = 0; i < cell.donors.size(); ++i) {
      sum += cell.distances[i];
      donors += (i == 0 ? "" : " ") + std::to_string(cell.donors[i]);
    }
    out_.number(sum / static_cast<double>(cell.donors.size())).text(donors);
  }
  out_.end_row();
}

}  // namespace stope::cli
