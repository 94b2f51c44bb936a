// stope stats computes statistics of every column of a table, and of its classes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "arguments/option.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "report/backend_report.hpp"
#include "report/output.hpp"
#include "report/statistics_output.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/stats.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope stats table.csv\n"
    "  stope stats table.csv --by class -o statistics.csv\n"
    "  stope stats table.csv.gz --one-pass --json\n";

// The name of the column that NAME means: a name, or a number from 1.
std::string column_name(const Table& table, const std::string& name) {
  if (name.empty() || table.find(name) >= 0) return name;
  if (name.find_first_not_of("0123456789") != std::string::npos || name.size() > 18) return name;
  const std::int64_t number = parse_integer(name, "--by");
  if (number < 1 || number > static_cast<std::int64_t>(table.columns.size())) return name;
  return table.columns[static_cast<std::size_t>(number - 1)].name;
}

class Stats : public Command {
 public:
  explicit Stats(CLI::App& program)
      : Command(
            program, "stats", "Show statistics of every column",
            "Shows for every column its missing values, range, mean, standard deviation, number of different values, "
            "and a small histogram. CSV and JSON also hold the first rows of the extremes, zeros, sum, variance and "
            "skewness.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to look at; '-' reads stdin");
    OptionGroup group(*app, "Statistics");
    group.text("--by", by_, "COLUMN", "Also show the statistics of every class of rows; the column is read as nominal");
    group.integer("--bins", bins_, "N", fmt::format("Bins of the histograms, up to 65536 [{}]", bins_));
    group.flag("--one-pass", one_pass_,
               "Leave out what needs a second look at the values: histograms, distinct numbers");
    OptionGroup output(*app, "Output");
    output.flag("--all", all_, fmt::format("Show every column and class, not only the first {}", kMostShown));
    output.text("-o,--output", output_, "FILE",
                "File for the statistics as CSV; default: a table for people on stdout");
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    if (bins_ < 1) throw Error(ErrorCode::invalid_argument, "--bins: " + std::to_string(bins_) + " is less than 1");
    std::optional<OutputFile> file;
    const bool writes = !common.json || !output_.empty();  // --json says it all, so no text is needed
    if (writes && session.wants_data(output_)) file.emplace(output_path(output_));
    require_backend(session.run());
    ReadOptions& read = tables_.read;
    if (!by_.empty() && std::find(read.nominal.begin(), read.nominal.end(), by_) == read.nominal.end()) {
      read.nominal.push_back(by_);
    }
    const auto read_table =
        session.timed("read", [&] { return std::make_shared<Table>(tables_.read_first(table_, session.run())); });
    const Table& table = *read_table;
    session.hold({&table});
    session.note_input("table", table_, table);
    StatsOptions options;
    options.by = column_name(table, by_);
    if (!one_pass_) {
      options.histogram_bins = bins_;
      options.distinct = StatsOptions::Distinct::count;
    }
    const auto found = session.timed(
        "statistics", [&] { return std::make_shared<Statistics>(describe(table, options, session.run())); });
    const Statistics& statistics = *found;
    note_plan(session, statistics.report);
    if (!options.by.empty()) warn_of_missing_classes(session, table, statistics, options.by);
    session.json()["options"] = {{"by", options.by.empty() ? Json(nullptr) : Json(options.by)},
                                 {"bins", one_pass_ ? 0 : bins_},
                                 {"one_pass", one_pass_}};
    session.json()["rows"] = table.n_rows;
    if (common.json) add_json(session, read_table, found);
    if (!file) return;
    if (output_.empty()) {
      file->write(statistics_text(one_line(table_), table, statistics, options.by, all_));
    } else {
      write_csv(*file, table, statistics);
    }
    file->commit();
    if (!output_.empty()) session.note_output(output_);
  }

 private:
  static void warn_of_missing_classes(Session& session, const Table& table, const Statistics& statistics,
                                      const std::string& by) {
    std::int64_t known = 0;
    for (const ClassStatistics& one : statistics.classes) known += one.rows;
    if (known == table.n_rows) return;
    session.warn(
        fmt::format("{} of {} rows have no value of '{}' and are in no class", table.n_rows - known, table.n_rows, by));
  }

  void note_plan(Session& session, const StatsReport& report) const {
    Json plan = backend_json(report);
    plan.update({{"threads", report.threads},
                 {"bytes", report.bytes},
                 {"seconds", report.seconds},
                 {"second_pass_seconds", report.second_pass_seconds}});
    session.json()["plan"] = std::move(plan);
    if (!common.explain) return;
    const double rate = report.seconds > 0 ? static_cast<double>(report.bytes) / report.seconds : 0;
    say_backend(session, report);
    session.say(fmt::format("pass      {} of values in {:.3f} s ({} per second), {} threads\n",
                            format_bytes(report.bytes), report.seconds, format_bytes(static_cast<std::int64_t>(rate)),
                            report.threads));
    if (!one_pass_)
      session.say(fmt::format("again     {:.3f} s for histograms and distinct values\n", report.second_pass_seconds));
  }

  std::string table_, output_, by_;
  std::int64_t bins_ = 8;
  bool one_pass_ = false, all_ = false;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_stats(CLI::App& program) {
  return std::make_unique<Stats>(program);
}

}  // namespace stope::cli
