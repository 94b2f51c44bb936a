// stope stats computes statistics of every column of a table, and of its classes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/typed_words.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "page/command_line.hpp"
#include "page/job_pages.hpp"
#include "report/correlation_output.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "report/page_output.hpp"
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
    "  stope stats table.csv --quantiles 0.05,0.5,0.95\n"
    "  stope stats table.csv --target price --correlation -\n"
    "  stope stats table.csv.gz --one-pass --json\n";

constexpr std::int64_t kMostBins = 65536;  // as describe() has it

class Stats : public Command {
 public:
  explicit Stats(CLI::App& program)
      : Command(program, "stats", "Show statistics of every column",
                "Shows for every column its missing values, range, quartiles, mean, standard deviation, number of "
                "different "
                "values, and a small histogram. CSV and JSON also hold the first rows of the extremes, zeros, sum, "
                "variance "
                "and skewness. With --correlation it also correlates the numeric columns.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to look at; '-' reads stdin");
    OptionGroup group(*app, "Statistics");
    group.text("--by", by_, "COLUMN", "Also show the statistics of every class of rows; the column is read as nominal");
    group.integer("--bins", bins_, "N", fmt::format("Bins of the histograms, up to {} [{}]", kMostBins, bins_));
    group.list("--quantiles", quantile_words_, "Q,...",
               "Quantiles of numeric columns, as shares from 0 to 1; 0.5 is the median [0.25,0.5,0.75]");
    group.flag("--one-pass", one_pass_,
               "Leave out what needs a second look at the values: histograms, distinct numbers, quantiles");
    OptionGroup pairs(*app, "Correlation");
    pairs.text(
        "--correlation", correlation_.path, "FILE",
        "File for the correlations of all pairs of numeric columns, those with --target first; '-' is stdout, in "
        "place of the statistics");
    pairs.choice("--method", correlation_.options.method,
                 "pearson: of values; spearman: of ranks, each pair over the rows that have both values");
    OptionGroup output(*app, "Output");
    output.flag("--all", all_, fmt::format("Show every column and class, not only the first {}", kMostShown));
    output.text("-o,--output", output_.path, "FILE", "File for the statistics; default: stdout");
    output_.add_format_to(*app, "stats",
                          "Format; default: from the suffix of FILE, else csv, but txt, a table for people, on stdout");
    page_.add_to(*app);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    if (bins_ < 1 || bins_ > kMostBins) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--bins: {} is not a number from 1 to {}", bins_, kMostBins));
    }
    const std::vector<double> quantiles = wanted_quantiles();
    if (count("--method") > 0 && !correlation_.wanted()) {
      throw Error(ErrorCode::invalid_argument, "--method belongs to --correlation");
    }
    std::optional<OutputFile> file;
    const bool writes = !common.json || !output_.path.empty();  // --json says it all, so no text is needed
    const bool on_stdout = is_stdout(output_path(output_.path));
    if (correlation_.takes_stdout() && on_stdout && !output_.path.empty()) {
      throw Error(ErrorCode::invalid_argument, "--correlation -: stdout is for the statistics, as -o says");
    }
    if (writes && !(on_stdout && correlation_.takes_stdout()) && session.wants_data(output_.path)) {
      file.emplace(output_path(output_.path), session.run().cancel);
    }
    correlation_.open(session);
    page_.open(session, file ? output_.path : "no data");
    require_backend(session.run());
    ReadOptions& read = tables_.read;
    if (!by_.empty() && std::find(read.nominal.begin(), read.nominal.end(), by_) == read.nominal.end()) {
      read.nominal.push_back(by_);
    }
    const auto read_table = session.timed("read", [&] { return std::make_shared<Table>(read_input(session)); });
    const Table& table = *read_table;
    session.hold({&table});
    session.note_input("table", table_, table);
    StatsOptions options;
    if (!by_.empty()) options.by = table.columns[static_cast<std::size_t>(table.find(by_, "--by"))].name;
    if (!one_pass_) {
      options.histogram_bins = bins_;
      options.distinct = StatsOptions::Distinct::count;
      options.quantiles = quantiles;
    }
    std::shared_ptr<Statistics> found;
    std::shared_ptr<PackedStatistics> packed;
    session.timed("statistics", [&] {
      if (packs(table)) {
        packed = std::make_shared<PackedStatistics>(read_table, options, session.run());
        return;
      }
      const Table shown = shows_some(table) ? first_columns(table) : Table();
      found = std::make_shared<Statistics>(describe(shown.columns.empty() ? table : shown, options, session.run()));
    });
    session.note_plan(packed ? packed->report() : found->report);
    session.json()["options"] = {{"by", options.by.empty() ? Json(nullptr) : Json(options.by)},
                                 {"bins", one_pass_ ? 0 : bins_},
                                 {"one_pass", one_pass_},
                                 {"quantiles", options.quantiles}};
    session.json()["rows"] = table.n_rows;
    if (common.json && packed) add_json(session, packed, options.quantiles);
    if (common.json && found) add_json(session, read_table, found, options.quantiles);
    page_.write(session, [&] {
      return page::statistics_page({table_, page::command_line("stats", table_, typed_words(*app, TypedOptions::all))},
                                   table, *found, options.by, session.run());
    });
    correlation_.write(session, one_line(table_), table, all_);
    if (file && packed) write_rows(*file, output_.word(), *packed, options.quantiles);
    if (file && found) write(*file, table, *found, options);
    commit_files(session, {&file, &correlation_.file, &page_.file});
  }

 private:
  // Whether a table for people is all that is written, and leaves columns out: those need no statistics, which take
  // more memory than a few rows.
  bool shows_some(const Table& table) const {
    return is_text() && !all_ && !common.json && !page_.wanted() && by_.empty() && table.columns.size() > kMostShown;
  }

  // Whether the statistics are only written, a row or a JSON object a column, and those of all columns would take more
  // memory than the table.
  bool packs(const Table& table) const {
    const bool only_json = common.json && output_.path.empty();
    const bool many = std::ssize(table.columns) > kPackedColumns;
    return many && (only_json || !is_text()) && !page_.wanted() && by_.empty();
  }

  static Table first_columns(const Table& table) {
    Table first;
    first.n_rows = table.n_rows;
    first.source = table.source;
    first.columns.assign(table.columns.begin(), table.columns.begin() + kMostShown);
    return first;
  }

  bool is_text() const {
    const std::string format = output_.word();
    return format == "txt" || (format.empty() && output_.path.empty());
  }

  void write(OutputFile& file, const Table& table, const Statistics& statistics, const StatsOptions& options) const {
    const std::string format = output_.word();
    if (is_text()) {
      file.write(statistics_text(one_line(table_), table, statistics, options, all_));
    } else {
      write_rows(file, format, table, statistics, options.quantiles);
    }
  }

  std::vector<double> wanted_quantiles() const {
    if (count("--quantiles") == 0) return {0.25, 0.5, 0.75};
    if (one_pass_)
      throw Error(ErrorCode::invalid_argument, "--quantiles need a second pass, and --one-pass allows none");
    std::vector<double> quantiles;
    quantiles.reserve(quantile_words_.size());
    for (const std::string& word : quantile_words_) {
      const double share = parse_real(word, "--quantiles");
      if (!(share >= 0.0 && share <= 1.0)) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("--quantiles: '{}' is not between 0 and 1; {}", word,
                                share > 1.0 && share <= 100.0 ? fmt::format("{:g} % is {:g}", share, share / 100.0)
                                                              : "0.5 is the median"));
      }
      if (std::find(quantiles.begin(), quantiles.end(), share) == quantiles.end()) quantiles.push_back(share);
    }
    if (quantiles.size() > 1000) {
      throw Error(ErrorCode::invalid_argument, "--quantiles: more than 1000 of them");
    }
    return quantiles;
  }

  // The column of --by is read as nominal. If there is none, the message is about --by, not about --nominal.
  Table read_input(Session& session) {
    try {
      return tables_.read_first(table_, session);
    } catch (const Error& error) {
      if (by_.empty() || error.option() != "nominal" || error.feature() != by_) throw;
      std::string message = error.message();
      const std::size_t at = message.find("(nominal)");
      if (at != std::string::npos) message.replace(at, std::string_view("(nominal)").size(), "(by)");
      Place place = error.place();
      place.option = "by";
      throw Error(error.code(), message, place);
    }
  }

  std::string table_, by_;
  std::vector<std::string> quantile_words_;
  CorrelationOutput correlation_;
  OutputArguments output_;
  PageOutput page_;
  std::int64_t bins_ = 8;
  bool one_pass_ = false, all_ = false;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_stats(CLI::App& program) {
  return std::make_unique<Stats>(program);
}

}  // namespace stope::cli
