// The content of a model file (cli/report/model_report.hpp).
#include "report/model_report.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "report/session.hpp"
#include "report/text_table.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kColumnsShown = 100;

// When the file was written; empty if the system does not say.
std::string saved_at(const std::string& path) {
  struct stat status = {};
  std::tm utc = {};
  if (::stat(path.c_str(), &status) != 0 || ::gmtime_r(&status.st_mtime, &utc) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                     utc.tm_min);
}

// Options, and how many rows the model was fitted to; with `all` also the tables inside.
TextTable options_of(const ModelSummary& summary, bool all) {
  TextTable options({Align::left, Align::left});
  for (const auto& [name, value] : summary.options) {
    options.row(name == "rows" ? std::vector<std::string>{"trained on", value + (value == "1" ? " row" : " rows")}
                               : std::vector<std::string>{one_line(name), one_line(value)});
  }
  for (const ModelSummary::Part& part : summary.tables) {
    const std::string size = counted(part.n_rows, "row") + ", " + counted(part.n_columns, "column");
    if (part.name == "train") options.row({"trained on", counted(part.n_rows, "row")});
    if (all) options.row({"holds " + one_line(part.name), size});
  }
  return options;
}

}  // namespace

std::string model_text(const std::string& path, const ModelSummary& summary, bool all) {
  std::string text = fmt::format("{}: a model of the kind '{}', format version {}, {}\n\n", one_line(path),
                                 one_line(summary.kind), summary.version, format_bytes(summary.bytes));
  TextTable options = options_of(summary, all);
  const std::string saved = saved_at(path);
  if (!saved.empty()) options.row({"saved", saved});
  text += options.text(2) + "\n";
  for (std::size_t i = 0; i < summary.steps.size(); ++i) {
    text += fmt::format("step {}: {}\n", i + 1, one_line(summary.steps[i].kind)) +
            options_of(summary.steps[i], all).text(2) + "\n";
  }
  text += summary.steps.empty() ? "fitted to\n" : "takes\n";
  TextTable columns({Align::right, Align::left, Align::left, Align::left, Align::left});
  columns.row({"#", "name", "type", "role", ""});
  const std::vector<Column>& all_columns = summary.columns.columns;
  const std::size_t shown = all ? all_columns.size() : std::min(all_columns.size(), kColumnsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Column& column = all_columns[i];
    columns.row({std::to_string(i + 1), column.name, type_text(column.type), std::string(to_string(column.role)),
                 column.nominal() ? counted(std::ssize(column.values), "value") : ""});
  }
  text += columns.text(2);
  if (shown < all_columns.size()) text += fmt::format("... and {} more columns (--all)\n", all_columns.size() - shown);
  return text;
}

namespace {

Json content_json(const ModelSummary& summary) {
  Json members = Json::object();
  for (const auto& [name, value] : summary.options) members[name] = value;
  Json json = {{"kind", summary.kind}};
  json["options"] = std::move(members);
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
  json["tables"] = std::move(tables);
  json["columns"] = std::move(columns);
  return json;
}

}  // namespace

Json model_json(const ModelSummary& summary) {
  Json json = {{"kind", summary.kind}, {"version", summary.version}, {"bytes", summary.bytes}};
  json.update(content_json(summary));
  if (!summary.steps.empty()) {
    json["steps"] = Json::array();
    for (const ModelSummary& step : summary.steps) json["steps"].push_back(content_json(step));
  }
  return json;
}

}  // namespace stope::cli
