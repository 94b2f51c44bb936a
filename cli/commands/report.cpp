// stope report writes one page about a table: columns, best cuts, neighbours, a tree, components, in words and
// pictures.
#include "page/report_page.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "arguments/knn_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/typed_words.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "page/command_line.hpp"
#include "report/output.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/metric.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope report table.csv --target class -o report.html\n"
    "  stope report houses.csv --target price -o houses.html\n"
    "  stope report genes.csv.gz --target class --permutations 999 --max-columns 100 -o genes.html\n";

constexpr std::int64_t kMostColumns = 500;

class Report : public Command {
 public:
  explicit Report(CLI::App& program)
      : Command(program, "report", "Write a page about a table, to look at",
                "Writes one HTML page about a table: its columns with histograms by class, the best cuts with their "
                "p-values, the accuracy of nearest neighbours over k, confusions, a pruned tree and principal "
                "components. A numeric label gets correlations and least squares instead of cuts and a tree. The page "
                "needs no network and no script. Costly parts look at a sample of the rows, and say so.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to report on; '-' reads stdin");
    OptionGroup group(*app, "Report");
    group.text("-o,--output", output_, "FILE", "File for the page, *.html; '-' is stdout");
    group.integer("--max-columns", most_columns_, "N",
                  fmt::format("Columns with a picture, at most {} [{}]", kMostColumns, most_columns_));
    group.choice("--criterion", find_.criterion,
                 "What a cut is worth, in the ranking and in the tree: pairs separated, or impurity or bits of "
                 "uncertainty removed");
    group.parsed("--max-samples", "N", "Rows that costly parts look at; default: as many as take about a minute",
                 [this](const std::string& word) { find_.max_samples = parse_positive(word, "--max-samples"); });
    group.parsed("--permutations", "B",
                 "Permutations of the classes for the p-values of cuts; 0: none; default: as many as take some seconds",
                 [this](const std::string& word) {
                   find_.n_permutations = parse_integer(word, "--permutations");
                   if (*find_.n_permutations < 0) {
                     throw Error(ErrorCode::invalid_argument, "--permutations: the number is less than 0");
                   }
                 });
    group.parsed("-k,--n-neighbors", "K", "Numbers of neighbours to try: 5, or 1,3,5, or 1..50; default: up to 101",
                 [this](const std::string& word) { find_.ks = parse_k_list(word, "-k"); });
    group.flag("--timings", timings_, "Also say how long each part took; then two pages of one table differ");
    knn_.normalize = Normalization::z;
    knn_.add_to(*app);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check();
    std::optional<OutputFile> file;
    if (!common.json || !output_.empty()) {
      session.wants_data(output_);
      file.emplace(output_, session.run().cancel);
    }
    require_backend(session.run());
    Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    find_.knn.feature_weights = knn_.weights(table, session.run());
    const std::string name = table_ == "-" ? "standard input" : std::filesystem::path(table_).filename().string();
    page::Subject subject =
        session.timed("statistics", [&] { return page::subject_of(name, std::move(table), session.run()); });
    session.hold({&subject.table});
    const page::Findings findings = page::find_all(
        std::move(subject), find_, session.run(),
        [&](const std::string& phase, const std::function<void()>& work) { session.timed(phase, work); });
    note(session, findings);
    page::ReportOptions options;
    options.most_cards = static_cast<std::size_t>(most_columns_);
    options.command = command_words();
    options.warnings = session.warnings();
    if (timings_) options.seconds = session.seconds();
    const std::string text = session.timed("page", [&] { return page::report_page(findings, options, session.run()); });
    if (file) file->write(text);
    commit_files(session, {&file});
  }

 private:
  static std::int64_t parse_positive(const std::string& word, const std::string& option) {
    const std::int64_t n = parse_integer(word, option);
    if (n >= 1) return n;
    throw Error(ErrorCode::invalid_argument, option + ": '" + word + "' is not at least 1");
  }

  void check() {
    find_.knn = knn_.options();
    check_metric();
    find_.normalize = knn_.normalization();
    find_.seed = common.seed;
    find_.reading = typed_words(*app, TypedOptions::reading);
    find_.reading.insert(find_.reading.begin(), table_);
    if (most_columns_ < 0 || most_columns_ > kMostColumns) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--max-columns: {} is not from 0 to {}", most_columns_, kMostColumns));
    }
    if (output_.empty() && !common.json) {
      throw Error(ErrorCode::invalid_argument,
                  "where does the page go? -o report.html writes it to a file, -o - to stdout");
    }
  }

  // The library would say so where neighbours are looked for, if at all.
  void check_metric() const {
    const Metric& metric = find_.knn.metric;
    const MetricInfo& info = find_metric(metric.name);
    for (const auto& [key, value] : metric.params) {
      const std::string known = " " + std::string(info.params) + " ";
      if (key.find(' ') == std::string::npos && known.find(" " + key + " ") != std::string::npos) continue;
      throw Error(ErrorCode::invalid_argument, fmt::format("metric {} has no parameter '{}'", info.name, key));
    }
  }

  std::string command_words() const {
    std::vector<std::string> words = {"stope", "report", table_};
    const std::vector<std::string> typed = typed_words(*app, TypedOptions::all);
    words.insert(words.end(), typed.begin(), typed.end());
    words.insert(words.end(), {"-o", "report.html"});
    return page::shell_line(words);
  }

  static Json why(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

  void note(Session& session, const page::Findings& findings) const {
    Json& json = session.json();
    json["options"] = {{"max_columns", most_columns_},
                       {"max_samples", find_.max_samples == 0 ? Json(nullptr) : Json(find_.max_samples)},
                       {"criterion", to_string(find_.criterion)},
                       {"metric", find_.knn.metric.name},
                       {"normalize", to_string(find_.normalize.method)},
                       {"seed", find_.seed}};
    Json left_out = Json::array();
    for (const page::LeftOut& one : findings.subject.left_out)
      left_out.push_back({{"name", one.name}, {"why", one.why}});
    json["left_out"] = left_out;
    json["parts"] = {
        {"cuts", {{"computed", findings.cuts.found.has_value()}, {"why_not", why(findings.cuts.why)}}},
        {"neighbors", {{"computed", findings.neighbors.found.has_value()}, {"why_not", why(findings.neighbors.why)}}},
        {"tree", {{"computed", findings.tree.found.has_value()}, {"why_not", why(findings.tree.why)}}},
        {"correlations",
         {{"computed", findings.correlations.found.has_value()}, {"why_not", why(findings.correlations.why)}}},
        {"least_squares", {{"computed", findings.linear.found.has_value()}, {"why_not", why(findings.linear.why)}}},
        {"components",
         {{"computed", findings.components.found.has_value()}, {"why_not", why(findings.components.why)}}}};
  }

  std::string table_, output_;
  std::int64_t most_columns_ = 40;
  bool timings_ = false;
  page::FindOptions find_;
  TableArguments tables_;
  KnnArguments knn_;
};

}  // namespace

std::unique_ptr<Command> add_report(CLI::App& program) {
  return std::make_unique<Report>(program);
}

}  // namespace stope::cli
