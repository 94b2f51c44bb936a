#include "report/statistics_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "report/output.hpp"
#include "report/record_writer.hpp"
#include "report/text_table.hpp"

namespace stope::cli {
namespace {

constexpr std::size_t kValuesWidth = 40;         // characters of value names per line
constexpr std::size_t kMostQuantilesShown = 11;  // columns of a table for people; CSV and JSON hold all

std::string share(std::int64_t part, std::int64_t whole) {
  if (part == 0 || whole == 0) return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return percent < 0.1 ? "<0.1 %" : fmt::format("{:.{}f} %", percent, percent < 10 ? 1 : 0);
}

// Bars of eight heights; the fullest bin is the highest, and only an empty bin looks empty.
std::string bars(const Histogram& histogram) {
  constexpr std::array kBars = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kMostBins = 40;
  if (histogram.counts.empty() || histogram.counts.size() > kMostBins) return "";
  const std::int64_t most = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  std::string text;
  for (const std::int64_t count : histogram.counts) {
    const auto height = std::ceil(8.0 * static_cast<double>(count) / static_cast<double>(most));
    text += kBars[static_cast<std::size_t>(height)];
  }
  return text;
}

// The most frequent values of a nominal column; among equally frequent ones the first come first.
std::string values_text(const Column& column, const ColumnStatistics& s) {
  const auto value_at = [&](std::size_t i) {
    return one_line(column.values[s.codes ? (*s.codes)[i] : static_cast<std::int64_t>(i)]);
  };
  std::vector<std::size_t> order(s.counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return s.counts[a] > s.counts[b]; });
  std::string text;
  std::size_t shown = 0;
  for (const std::size_t value : order) {
    if (s.counts[value] == 0) break;
    const std::string piece =
        fmt::format("{}{} {}", shown == 0 ? "" : ", ", value_at(value), share(s.counts[value], s.count));
    if (shown > 0 && width_of(text) + width_of(piece) > kValuesWidth) return text + ", ...";
    text += piece;
    ++shown;
  }
  return text;
}

std::string number(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.6g}", value);
}

// A value of the column: dates as dates, whole numbers whole.
std::string value_of(const Column& column, double value) {
  return std::isnan(value) ? "" : value_text(column.type, value);
}

std::string quantile_name(double share) {
  return share == 0.5 ? "median" : fmt::format("{:g} %", 100.0 * share);
}

// The quantiles of a column, for people; blanks for a nominal one.
std::vector<std::string> quantile_cells(const Column& column, const ColumnStatistics& s, std::size_t n) {
  std::vector<std::string> cells(n);
  for (std::size_t i = 0; i < std::min(n, s.quantiles.size()); ++i) {
    const bool whole = s.quantiles[i] == std::floor(s.quantiles[i]) && column.type != ValueType::real;
    cells[i] = whole || column.type == ValueType::date ? value_of(column, s.quantiles[i]) : number(s.quantiles[i]);
  }
  return cells;
}

std::string columns_text(const Table& table, const std::vector<ColumnStatistics>& columns,
                         const std::vector<double>& quantiles, bool all) {
  const std::size_t n_quantiles = std::min(quantiles.size(), kMostQuantilesShown);
  std::vector<Align> aligned = {Align::right, Align::left, Align::left, Align::right, Align::right};
  std::vector<std::string> names = {"#", "name", "type", "missing", "min"};
  for (std::size_t i = 0; i < n_quantiles; ++i) names.push_back(quantile_name(quantiles[i]));
  for (const char* name : {"max", "mean", "sd", "distinct", ""}) names.emplace_back(name);
  aligned.resize(names.size(), Align::right);
  aligned.back() = Align::left;
  TextTable lines(aligned);
  lines.row(names);
  const std::size_t n = table.columns.size(), shown = all ? n : std::min(n, kMostShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const ColumnStatistics& s = columns[i];
    const Column& column = table.columns[i];
    std::vector<std::string> cells = {std::to_string(i + 1), s.name, type_text(s.type), share(s.missing, s.rows),
                                      value_of(column, s.min)};
    for (std::string& cell : quantile_cells(column, s, n_quantiles)) cells.push_back(std::move(cell));
    cells.push_back(value_of(column, s.max));
    cells.push_back(column.type == ValueType::date ? value_of(column, s.mean) : number(s.mean));
    cells.push_back(number(s.deviation));
    cells.push_back(s.distinct ? std::to_string(*s.distinct) : "");
    cells.push_back(column.nominal() ? values_text(column, s) : s.histogram ? bars(*s.histogram) : "");
    lines.row(std::move(cells));
  }
  std::string text = lines.text(0);
  if (shown < n) text += fmt::format("... and {} more columns (--all)\n", n - shown);
  return text;
}

void csv_header(RecordWriter& csv, const std::vector<double>& quantiles) {
  for (const char* name : {"column", "type", "role", "rows", "count", "missing", "zeros", "min", "min_row", "max",
                           "max_row", "sum", "mean", "variance", "deviation", "skewness", "distinct"}) {
    csv.text(name);
  }
  for (const double share : quantiles) csv.text(fmt::format("q{}", share));
  csv.end_row();
}

void csv_row(RecordWriter& csv, const Column& column, const ColumnStatistics& s, std::size_t n_quantiles) {
  const auto number = [&](double value) { std::isnan(value) ? csv.empty() : csv.number(value); };
  const auto row = [&](std::int64_t value) { value < 0 ? csv.empty() : csv.integer(value); };
  csv.text(s.name).text(to_string(s.type)).text(to_string(column.role));
  csv.integer(s.rows).integer(s.count).integer(s.missing);
  column.nominal() ? csv.empty() : csv.integer(s.zeros);
  // As the column writes its values: dates as dates, whole numbers whole.
  const auto value = [&](double found, bool whole) {
    if (std::isnan(found)) {
      csv.empty();
    } else if (column.type == ValueType::date) {
      csv.text(value_text(column.type, found));
    } else if (whole && std::fabs(found) <= 0x1p53 && found == std::floor(found)) {
      csv.integer(static_cast<std::int64_t>(found));
    } else {
      csv.number(found);
    }
  };
  const bool whole = column.type == ValueType::integer;
  value(s.min, whole);
  row(s.min_row);
  value(s.max, whole);
  row(s.max_row);
  whole ? value(s.sum, whole) : number(s.sum);  // a sum of days is no date
  value(s.mean, false);
  for (const double moment : {s.variance, s.deviation, s.skewness}) number(moment);
  s.distinct ? csv.integer(*s.distinct) : csv.empty();
  for (std::size_t i = 0; i < n_quantiles; ++i) {
    value(i < s.quantiles.size() ? s.quantiles[i] : ColumnStatistics::kNone, whole);
  }
  csv.end_row();
}

Json column_json(const Column& column, const ColumnStatistics& s, const std::vector<double>& quantiles) {
  Json json = {{"name", s.name},
               {"type", std::string(to_string(s.type))},
               {"role", std::string(to_string(column.role))},
               {"nominal", column.nominal()},
               {"rows", s.rows},
               {"count", s.count},
               {"missing", s.missing}};
  if (column.nominal()) {
    Json values = Json::array();
    for (const std::int32_t code : s.codes.value_or(std::vector<std::int32_t>())) values.push_back(column.values[code]);
    json["values"] = s.codes ? std::move(values) : Json(column.values);
    json["counts"] = s.counts;
  } else {
    const auto row = [](std::int64_t value) { return value < 0 ? Json(nullptr) : Json(value); };
    json["zeros"] = s.zeros;
    json["min"] = s.min;
    json["min_row"] = row(s.min_row);
    json["max"] = s.max;
    json["max_row"] = row(s.max_row);
    json["sum"] = s.sum;
    json["mean"] = s.mean;
    json["variance"] = s.variance;
    json["deviation"] = s.deviation;
    json["skewness"] = s.skewness;
    if (!quantiles.empty()) json["quantiles"] = Json::object();
    for (std::size_t i = 0; i < std::min(quantiles.size(), s.quantiles.size()); ++i) {
      json["quantiles"][fmt::format("{}", quantiles[i])] = s.quantiles[i];
    }
  }
  if (s.distinct) json["distinct"] = *s.distinct;
  if (s.histogram && !s.histogram->counts.empty()) {
    json["histogram"] = {{"low", s.histogram->low}, {"high", s.histogram->high}, {"counts", s.histogram->counts}};
  }
  return json;
}

Json columns_json(const Table& table, const std::vector<ColumnStatistics>& columns,
                  const std::vector<double>& quantiles) {
  Json json = Json::array();
  for (std::size_t i = 0; i < columns.size(); ++i) json.push_back(column_json(table.columns[i], columns[i], quantiles));
  return json;
}

}  // namespace

std::string statistics_text(const std::string& name, const Table& table, const Statistics& statistics,
                            const StatsOptions& options, bool all) {
  std::string text =
      fmt::format("{}: {}, {}\n\n", name, counted(table.n_rows, "row"), counted(std::ssize(table.columns), "column"));
  text += columns_text(table, statistics.columns, options.quantiles, all);
  const std::size_t n = statistics.classes.size(), shown = all ? n : std::min(n, kMostShown);
  for (std::size_t k = 0; k < shown; ++k) {
    const ClassStatistics& one = statistics.classes[k];
    text += fmt::format("\n{} = {}: {}\n\n", one_line(options.by), one_line(one.value), counted(one.rows, "row"));
    text += columns_text(table, one.columns, options.quantiles, all);
  }
  if (shown < n) text += fmt::format("\n... and {} more classes (--all)\n", n - shown);
  return text;
}

void write_rows(OutputFile& file, const std::string& format, const Table& table, const Statistics& statistics,
                const std::vector<double>& quantiles) {
  RecordWriter csv(file, format);
  const bool classes = !statistics.classes.empty();
  if (classes) csv.text("class");
  csv_header(csv, quantiles);
  for (std::size_t i = 0; i < statistics.columns.size() && !classes; ++i) {
    csv_row(csv, table.columns[i], statistics.columns[i], quantiles.size());
  }
  for (const ClassStatistics& one : statistics.classes) {
    for (std::size_t i = 0; i < one.columns.size(); ++i) {
      csv.text(one.value);
      csv_row(csv, table.columns[i], one.columns[i], quantiles.size());
    }
  }
  csv.finish();
}

void write_rows(OutputFile& file, const std::string& format, const PackedStatistics& statistics,
                const std::vector<double>& quantiles) {
  RecordWriter csv(file, format);
  csv_header(csv, quantiles);
  for (std::int64_t i = 0; i < statistics.size(); ++i) {
    csv_row(csv, statistics.table().columns[static_cast<std::size_t>(i)], statistics.at(i), quantiles.size());
  }
  csv.finish();
}

void add_json(Session& session, const std::shared_ptr<const PackedStatistics>& statistics,
              const std::vector<double>& quantiles) {
  session.json()["columns"] = session.long_array(statistics->size(), [=](std::int64_t i) {
    return column_json(statistics->table().columns[static_cast<std::size_t>(i)], statistics->at(i), quantiles);
  });
}

void add_json(Session& session, const std::shared_ptr<const Table>& table,
              const std::shared_ptr<const Statistics>& statistics, const std::vector<double>& quantiles) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  session.json()["columns"] = session.long_array(
      static_cast<std::int64_t>(statistics->columns.size()),
      [=](std::int64_t i) { return column_json(table->columns[at(i)], statistics->columns[at(i)], quantiles); });
  if (statistics->classes.empty()) return;
  session.json()["classes"] =
      session.long_array(static_cast<std::int64_t>(statistics->classes.size()), [=](std::int64_t i) {
        const ClassStatistics& one = statistics->classes[at(i)];
        return Json{
            {"value", one.value}, {"rows", one.rows}, {"columns", columns_json(*table, one.columns, quantiles)}};
      });
}

}  // namespace stope::cli
