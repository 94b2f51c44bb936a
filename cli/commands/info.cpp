// stope info shows the content of a table (rows, columns, types, roles, missing values, ranges) or of a model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "commands/command.hpp"
#include "report/model_report.hpp"
#include "report/output.hpp"
#include "report/record_writer.hpp"
#include "report/text_table.hpp"
#include "stope/cuts_file.hpp"
#include "stope/error.hpp"
#include "stope/table_files.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope info table.csv\n"
    "  stope info table.arff --target class --json\n"
    "  zcat table.csv.gz | stope info - --sep ';'\n";

constexpr std::size_t kColumnsShown = 100;  // --all shows more: a wide table has 100,000 of them
constexpr std::size_t kValuesWidth = 44;    // characters of value names per line

struct ColumnFacts {
  std::int64_t missing = 0;
  double low = std::numeric_limits<double>::infinity();  // of the values that are not NaN
  double high = -std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> counts;  // per value of a nominal column
};

ColumnFacts facts_of(const Column& column, const CancelToken& cancel) {
  constexpr std::int64_t kPollRows = 65536;
  ColumnFacts facts;
  facts.counts.assign(column.values.size(), 0);
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (row % kPollRows == 0) cancel.check();
    if (column.missing(row)) {
      ++facts.missing;
      continue;
    }
    if (column.nominal()) {
      ++facts.counts[static_cast<std::size_t>(column.codes()[row])];
      continue;
    }
    const double value = column.at(row);
    facts.low = std::min(facts.low, value);
    facts.high = std::max(facts.high, value);
  }
  return facts;
}

std::string values_text(const Column& column, const ColumnFacts& facts) {
  if (!column.nominal()) {
    return facts.low > facts.high ? "no value"
                                  : value_text(column.type, facts.low) + " .. " + value_text(column.type, facts.high);
  }
  std::string text = counted(std::ssize(column.values), "value");
  std::size_t shown = 0;
  for (const std::string& value : column.values) {
    const std::string piece = fmt::format("{}{} ({})", shown == 0 ? ": " : ", ", one_line(value), facts.counts[shown]);
    if (width_of(text) + width_of(piece) > kValuesWidth) break;
    text += piece;
    ++shown;
  }
  return shown < column.values.size() && shown > 0 ? text + ", ..." : text;
}

Json column_json(const Column& column, const ColumnFacts& facts) {
  Json json = {{"name", column.name},
               {"type", std::string(to_string(column.type))},
               {"role", std::string(to_string(column.role))},
               {"nominal", column.nominal()},
               {"missing", facts.missing}};
  if (column.nominal()) {
    json["values"] = column.values;
    json["counts"] = facts.counts;
  } else {
    json["min"] = facts.low <= facts.high ? Json(facts.low) : Json(nullptr);
    json["max"] = facts.low <= facts.high ? Json(facts.high) : Json(nullptr);
  }
  return json;
}

std::string cuts_text(const AttributeCuts& cuts) {
  std::string text;
  for (std::int64_t i = 0; i < cuts.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string piece =
        (i == 0 ? "" : ", ") + (cuts.symbolic ? one_line(cuts.values[at]) : fmt::format("{:.6g}", cuts.numbers[at]));
    if (i > 0 && width_of(text) + width_of(piece) > kValuesWidth) return text + ", ...";
    text += piece;
  }
  return text;
}

Json cuts_json(const CutSet& cuts) {
  Json json = Json::array();
  for (const AttributeCuts& one : cuts) {
    json.push_back({{"name", one.name}, {"symbolic", one.symbolic}, {"cuts", one.size()}});
  }
  return json;
}

class Info : public Command {
 public:
  explicit Info(CLI::App& program)
      : Command(program, "info", "Show what is in a table or a model file",
                "Shows the rows and columns of a table: names, types, roles, missing values, values and ranges. For a "
                "model file it shows its kind, options, tables, and the columns it was fitted to. For a file of cuts "
                "(.json) it shows the cuts of every attribute.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table, model or cuts to look at; '-' reads a table from stdin");
    OptionGroup group(*app, "Output");
    group.flag("--all", all_,
               fmt::format("Show every column, not only the first {}, and the tables inside a model", kColumnsShown));
    group.text("-o,--output", output_.path, "FILE", "File for the text; default: stdout");
    output_.add_format_to(*app, "info",
                          "Format; default: from the suffix of FILE, else txt, for people. The others list the columns "
                          "of a table");
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    std::optional<OutputFile> file;
    const bool writes = !common.json || !output_.path.empty();  // --json says it all, so no text is needed
    if (writes && session.wants_data(output_.path)) file.emplace(output_path(output_.path), session.run().cancel);
    if (is_model_file(table_, session.run())) {
      require_text("a model");
      show_model(session, file);
      return;
    }
    if (table_.ends_with(".json") || table_.ends_with(".json.gz") || table_.ends_with(".json.zst")) {
      require_text("a file of cuts");
      show_cuts(session, file, read_cuts_of(session));
      return;
    }
    const auto read =
        session.timed("read", [&] { return std::make_shared<const Table>(tables_.read_first(table_, session)); });
    const Table& table = *read;
    session.note_input("table", table_, table);
    if (is_records()) {
      session.json()["rows"] = table.n_rows;
      if (file) write_columns(*file, table, session);
      commit_files(session, {&file});
      if (!common.json) return;
    }
    std::string text = head(table) + sheets(session);
    TextTable lines({Align::right, Align::left, Align::left, Align::left, Align::right, Align::left});
    lines.row({"#", "name", "type", "role", "missing", ""});
    const std::size_t shown = all_ ? table.columns.size() : std::min(table.columns.size(), kColumnsShown);
    for (std::size_t i = 0; file && i < shown; ++i) {
      const Column& column = table.columns[i];
      const ColumnFacts facts = facts_of(column, session.run().cancel);
      lines.row({std::to_string(i + 1), column.name, type_text(column.type), std::string(to_string(column.role)),
                 std::to_string(facts.missing), values_text(column, facts)});
    }
    text += "\n" + lines.text(0);
    if (shown < table.columns.size()) {
      text += fmt::format("... and {} more columns (--all)\n", table.columns.size() - shown);
    }
    session.json()["rows"] = table.n_rows;
    session.json()["columns"] =
        session.long_array(std::ssize(table.columns), [read, cancel = session.run().cancel](std::int64_t i) {
          const Column& column = read->columns[static_cast<std::size_t>(i)];
          return column_json(column, facts_of(column, cancel));
        });
    if (is_records()) return;
    if (file) file->write(text);
    commit_files(session, {&file});
  }

 private:
  bool is_records() const {
    const std::string word = output_.word();
    return !word.empty() && word != "txt";
  }

  void require_text(const std::string& what) const {
    if (!is_records() || output_.word() == "md") return;
    throw Error(ErrorCode::invalid_argument, "what is shown of " + what + " is text, and --json has it as JSON",
                {.file = table_, .option = "output_format"});
  }

  void write_columns(OutputFile& file, const Table& table, Session& session) const {
    RecordWriter out(file, output_.format);
    for (const char* name : {"column", "name", "type", "role", "missing", "values", "min", "max"}) out.text(name);
    out.end_row();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      const ColumnFacts facts = facts_of(column, session.run().cancel);
      out.integer(static_cast<std::int64_t>(i) + 1).text(column.name).text(type_text(column.type));
      out.text(to_string(column.role)).integer(facts.missing);
      if (column.nominal()) {
        out.integer(std::ssize(column.values)).empty().empty();
      } else if (facts.low > facts.high) {
        out.empty().empty().empty();
      } else if (column.type == ValueType::date) {
        out.empty().text(value_text(column.type, facts.low)).text(value_text(column.type, facts.high));
      } else {
        out.empty().number(facts.low).number(facts.high);
      }
      out.end_row();
    }
    out.finish();
  }

  void show_model(Session& session, std::optional<OutputFile>& file) {
    const ModelSummary summary = session.timed("read", [&] { return summarize_model(table_, session.run()); });
    session.json()["model"] = model_json(summary);
    if (file) file->write(model_text(table_, summary, all_));
    commit_files(session, {&file});
  }

  // A JSON file can hold cuts alone. If it holds none, the reader of tables knows better what it is. A pipe gives its
  // bytes only once.
  CutSet read_cuts_of(Session& session) {
    try {
      return session.timed("read", [&] { return read_cuts(table_, session.run()); });
    } catch (const Error& cuts) {
      if (cuts.code() != ErrorCode::invalid_data || !std::filesystem::is_regular_file(table_)) throw;
      try {
        tables_.read_first(table_, session);
      } catch (const Error& table) {
        if (table.code() != ErrorCode::unsupported) throw cuts;
        throw Error(cuts.code(), "is no file of cuts: " + cuts.message() + "; it " + table.message(), cuts.place());
      }
      throw;
    }
  }

  void show_cuts(Session& session, std::optional<OutputFile>& file, const CutSet& cuts) {
    session.json()["cuts"] = cuts_json(cuts);
    TextTable lines({Align::left, Align::left, Align::right, Align::left});
    lines.row({"name", "type", "cuts", ""});
    const std::size_t shown = all_ ? cuts.size() : std::min(cuts.size(), kColumnsShown);
    for (std::size_t i = 0; i < shown; ++i) {
      const AttributeCuts& one = cuts[i];
      lines.row({one.name, one.symbolic ? "nominal" : "numeric", std::to_string(one.size()), cuts_text(one)});
    }
    std::string text =
        fmt::format("{}: cuts of {}\n\n{}", one_line(table_), counted(std::ssize(cuts), "attribute"), lines.text(0));
    if (shown < cuts.size()) text += fmt::format("... and {} more attributes (--all)\n", cuts.size() - shown);
    if (file) file->write(text);
    commit_files(session, {&file});
  }

  // The sheets of a workbook: which of them is read is seldom obvious.
  std::string sheets(Session& session) const {
    const Format format = tables_.read.format == Format::automatic ? format_of(table_) : tables_.read.format;
    if (format != Format::sheet || !std::filesystem::is_regular_file(table_)) return "";
    std::string text;
    Json json = Json::array();
    for (const SheetName& sheet : sheets_of(table_, session.run())) {
      text += (text.empty() ? "sheets: " : ", ") + one_line(sheet.name) + (sheet.shown ? "" : " (hidden)");
      json.push_back({{"name", sheet.name}, {"shown", sheet.shown}});
    }
    session.json()["sheets"] = json;
    return text + "\n";
  }

  std::string head(const Table& table) const {
    std::int64_t numeric = 0, nominal = 0;
    for (const std::int64_t feature : table.features()) {
      ++(table.columns[static_cast<std::size_t>(feature)].nominal() ? nominal : numeric);
    }
    return fmt::format("{}: {}, {}; features: {} numeric, {} nominal; {}\n", one_line(table_),
                       counted(table.n_rows, "row"), counted(std::ssize(table.columns), "column"), numeric, nominal,
                       storage_text(table));
  }

  std::string table_;
  OutputArguments output_;
  bool all_ = false;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_info(CLI::App& program) {
  return std::make_unique<Info>(program);
}

}  // namespace stope::cli
