// stope impute fills missing values in from the nearest rows that have them.
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "arguments/knn_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "report/impute_report.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
#include "report/record_writer.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/impute.hpp"
#include "stope/warning.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope impute table.csv -o complete.csv\n"
    "  stope impute mixed.csv --normalize range --weights distance --target class -o complete.csv\n"
    "  stope impute train.csv --apply test.csv --model-out fill.stope -o test-complete.csv\n"
    "  stope predict fill.stope more.csv -o more-complete.csv\n"
    "  stope impute table.csv --columns 'lab_*,age' --filled-out filled.csv -o complete.csv\n";

class Impute : public Command {
 public:
  explicit Impute(CLI::App& program)
      : Command(program, "impute", "Fill missing values in from the nearest rows",
                "Fills every missing value of a feature in from the K nearest rows that have the column: numbers with "
                "the mean of these donors, nominal values with the most frequent one. Writes the table as CSV. Label, "
                "id and weight stay as they are unless --columns names them. Where no donor has a distance, the "
                "column's mean or most frequent value is taken.") {
    knn_.metric = ImputeOptions{}.metric.name;
    add_argument(*app, "TABLE", table_, "TABLE", "Table with the donors; '-' reads stdin");
    OptionGroup group(*app, "Imputation");
    group.text("--apply", apply_, "TABLE", "Fill this table in from the rows of TABLE, which is not written");
    group.integer("-k,--n-neighbors", options_.n_neighbors, "K",
                  "Donors of a value [" + std::to_string(options_.n_neighbors) + "]");
    group.choice("--weights", options_.weights, "Donors count alike, or by 1/distance");
    group.choice("--strategy", options_.strategy, "What a number becomes: the mean or the median of its donors");
    group.list("--columns", columns_, "COLUMN,...",
               "Columns to fill in, whatever their role, by name or pattern (* ? [a-z]); default: all features");
    group.flag("--indicators", indicators_,
               "Append a column missing(NAME) of 0 and 1 for each column that lacks a value in TABLE");
    output_.add_to(*app, "impute", "File for the table; default: stdout");
    OptionGroup(*app, "Output")
        .text("--filled-out", filled_out_, "FILE",
              "File for every value that was missing: row, column, value, n_donors, distance, donors");
    model_.add_to(*app);
    tables_.after.add_to(*app);
    knn_.add_distance_to(*app);
    tables_.add_to(*app, Tables::two);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check();
    std::optional<OutputFile> file, filled;
    file.emplace(session.data_path(output_.path, "table"), session.run().cancel);
    if (!filled_out_.empty()) filled.emplace(filled_out_, session.run().cancel);
    model_.open(session, output_.path);
    require_backend(session.run());
    const Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    require_rows(table, table_);
    const bool applies = !apply_.empty();
    Table other;
    if (applies) {
      other = session.timed("read", [&] { return tables_.read_second(apply_, table, session); });
      session.hold({&table, &other});
      session.note_input("apply", apply_, other);
    }
    set_options(table, session);
    const Imputer imputer = session.timed("fit", [&] { return Imputer::fit(table, options_, session.run()); });
    ImputeReport report;
    std::optional<FilledCells> cells;
    if (filled) cells.emplace(*filled, session.run());
    const Table result = session.timed("impute", [&] {
      const FilledSink sink = cells ? FilledSink(std::ref(*cells)) : FilledSink();
      return imputer.apply(applies ? other : table, session.run(), &report, sink);
    });
    if (cells) cells->finish();
    session.timed("write", [&] { write_result(*file, output_.format, result, {}, session.run()); });
    model_.write(session, tables_.after.joined({outline(table), imputer}));
    commit_files(session, {&file, &filled, &model_.file});
    note(session, report);
  }

 private:
  void check() const {
    knn_.options();
    require_one_stdin(table_, apply_);
    if (options_.n_neighbors < 1) {
      throw Error(ErrorCode::invalid_argument, "-k: " + std::to_string(options_.n_neighbors) + " is not at least 1");
    }
  }

  void set_options(const Table& table, Session& session) {
    options_.metric = knn_.options().metric;
    options_.feature_weights = knn_.weights(table, session.run());
    options_.normalize = knn_.normalization();
    options_.indicators = indicators_ ? Indicators::append : Indicators::none;
    if (knn_.normalize != Normalization::none) session.ignore_warning(warning::kRangesApart);
    for (const std::string& pattern : columns_) add_columns(table, pattern);
  }

  // A column of that name or number, or all that the pattern fits.
  void add_columns(const Table& table, const std::string& pattern) {
    const auto add = [&](const std::string& name) {
      std::vector<std::string>& columns = options_.columns;
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    };
    if (table.find(pattern) >= 0 || pattern.find_first_of("*?[") == std::string::npos) {
      add(table.columns[static_cast<std::size_t>(table.find(pattern, "--columns"))].name);
      return;
    }
    bool any = false;
    for (const Column& column : table.columns) {
      if (column.role == Role::ignore || ::fnmatch(pattern.c_str(), column.name.c_str(), 0) != 0) continue;
      any = true;
      add(column.name);
    }
    if (any) return;
    throw Error(ErrorCode::invalid_argument, "--columns: no column fits the pattern '" + pattern + "'");
  }

  void note(Session& session, const ImputeReport& report) const {
    session.json()["options"] = {{"n_neighbors", options_.n_neighbors},
                                 {"weights", to_string(options_.weights)},
                                 {"strategy", to_string(options_.strategy)},
                                 {"metric", options_.metric.name},
                                 {"normalize", to_string(options_.normalize.method)},
                                 {"columns", options_.columns},
                                 {"indicators", to_string(options_.indicators)}};
    tell(session, report);
  }

  std::string table_, apply_, filled_out_;
  std::vector<std::string> columns_;
  bool indicators_ = false;
  ImputeOptions options_;
  OutputArguments output_;
  TableArguments tables_;
  KnnArguments knn_;
  ModelOutput model_;
};

}  // namespace

std::unique_ptr<Command> add_impute(CLI::App& program) {
  return std::make_unique<Impute>(program);
}

}  // namespace stope::cli
