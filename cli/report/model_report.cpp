// The content of a model file (cli/report/model_report.hpp).
#include "report/model_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/session.hpp"
#include "report/text_table.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kColumnsShown = 100;

}  // namespace

std::string model_text(const std::string& path, const ModelSummary& summary, bool all) {
  std::string text = fmt::format("{}: a model of the kind '{}', format version {}, {}\n\n", path,
                                 one_line(summary.kind), summary.version, format_bytes(summary.bytes));
  TextTable options({Align::left, Align::left});
  for (const auto& [name, value] : summary.options) options.row({one_line(name), one_line(value)});
  for (const ModelSummary::Part& part : summary.tables) {
    options.row({one_line(part.name), counted(part.n_rows, "row") + ", " + counted(part.n_columns, "column")});
  }
  text += options.text(2) + "\nfitted to\n";
  TextTable columns({Align::right, Align::left, Align::left, Align::left, Align::left});
  columns.row({"#", "name", "type", "role", ""});
  const std::vector<Column>& all_columns = summary.columns.columns;
  const std::size_t shown = all ? all_columns.size() : std::min(all_columns.size(), kColumnsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Column& column = all_columns[i];
    columns.row({std::to_string(i + 1), column.name, std::string(to_string(column.type)),
                 std::string(to_string(column.role)),
                 column.nominal() ? counted(std::ssize(column.values), "value") : ""});
  }
  text += columns.text(2);
  if (shown < all_columns.size()) text += fmt::format("... and {} more columns (--all)\n", all_columns.size() - shown);
  return text;
}

Json model_json(const ModelSummary& summary) {
  Json options = Json::object();
  for (const auto& [name, value] : summary.options) options[name] = value;
  Json tables = Json::array();
  for (const ModelSummary::Part& part : summary.tables) {
    tables.push_back({{"name", part.name}, {"rows", part.n_rows}, {"columns", part.n_columns}});
  }
  Json columns = Json::array();
  for (const Column& column : summary.columns.columns) {
    columns.push_back({{"name", column.name},
                       {"type", std::string(to_string(column.type))},
                       {"role", std::string(to_string(column.role))},
                       {"nominal", column.nominal()}});
  }
  return {{"kind", summary.kind}, {"version", summary.version}, {"bytes", summary.bytes},
          {"options", options},   {"tables", tables},           {"columns", columns}};
}

}  // namespace stope::cli
