// stope discretize finds the best cut of every attribute, or sets of cuts, and writes coded tables.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "commands/command.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "report/record_writer.hpp"
#include "report/text_table.hpp"
#include "stope/cuts_file.hpp"
#include "stope/device.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"
#include "stope/find_cuts.hpp"
#include "stope/tree.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope discretize genes.csv.gz --target class --method best-cut -o ranking.csv\n"
    "  stope discretize genes.csv.gz --target class --method best-cut --permutations 1000 --seed 1 -o ranking.csv\n"
    "  stope discretize train.csv --target class --method mdlp --cuts-out cuts.json\n"
    "  stope discretize test.csv --target class --apply cuts.json -o coded.csv\n";

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

class Discretize : public Command {
 public:
  explicit Discretize(CLI::App& program)
      : Command(
            program, "discretize", "Cut numeric attributes where classes change",
            "Ranks the attributes of a table by their best cut, finds sets of cuts, and codes tables by them. A cut is "
            "worth the pairs of rows of different classes that it separates; x >= cut is right of it. Symbolic "
            "attributes are cut into one value and the others.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to discretise; '-' reads stdin");
    OptionGroup group(*app, "Discretisation");
    group.text(
        "--method", method_, "best-cut|md-local|md-global|mdlp|chimerge|equal-width|equal-frequency",
        "best-cut: every attribute by its best cut; md-local: the cuts of a tree (stope tree); md-global: one list of "
        "cuts that separates all pairs; mdlp: Fayyad and Irani; chimerge: Kerber; equal-width, equal-frequency: --bins "
        "of each attribute");
    group.text("--apply", apply_, "FILE", "Code TABLE by the cuts in FILE instead of finding some");
    group.choice(
        "--missing-policy", coding_.missing,
        "What a missing value means: error: it is refused; value: it is a value of its own, below all numbers; "
        "drop: its row is left out; fill: it is replaced by the attribute's mean or most frequent value");
    group.integer("--bins", cuts_.n_bins, "N",
                  fmt::format("Bins of equal-width and equal-frequency [{}]", cuts_.n_bins));
    group.integer("--max-cuts", cuts_.max_cuts, "N", "At most N cuts by md-global; 0: as many as needed [0]");
    group.real("--confidence", cuts_.confidence, "P",
               fmt::format("chimerge: level at which neighbours differ [{}]", cuts_.confidence));
    group.integer("--min-intervals", cuts_.min_intervals, "N",
                  fmt::format("chimerge: stop merging at this many intervals [{}]", cuts_.min_intervals));
    OptionGroup ranking(*app, "Ranking (best-cut)");
    ranking.choice("--criterion", ranking_.criterion,
                   "What a cut is worth: pairs separated, or impurity or bits of uncertainty removed");
    ranking.choice("--order", ranking_.order, "Order of the attributes");
    ranking.integer("--permutations", ranking_.n_permutations, "B",
                    "Permutations of the labels for p- and q-values; 0: none [0]");
    output_.add_to(*app, "discretize", "File for the ranking or the coded table; default: stdout",
                   "Format; rankings are csv, tsv, json or jsonl");
    OptionGroup output(*app, "Output");
    output.text("--cuts-out", cuts_out_, "FILE",
                "File for the cuts, as JSON; default: stdout if nothing else is written");
    output.flag("--labels", labels_, "Code by labels, (-inf,2.5) or =red, instead of s1, s2, ...");
    model_.add_to(*app);
    tables_.after.add_to(*app);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check_options();
    if (method_ == "best-cut") output_.require(kRecords);
    require_backend(session.run());
    if (!apply_.empty()) {
      apply(session);
    } else if (method_ == "best-cut") {
      rank(session);
    } else {
      find(session);
    }
  }

 private:
  void check_options() {
    tables_.refuse_policy_as_spelling();
    ranking_.missing = cuts_.missing = coding_.missing;
    coding_.style = labels_ ? CodeStyle::labels : CodeStyle::codes;
    if (method_.empty() && apply_.empty())
      refuse("--method says how to find cuts, --apply which to use: one is needed");
    if (!apply_.empty()) {
      if (!method_.empty()) refuse("--method finds cuts, --apply uses those of a file: only one of them");
      if (!cuts_out_.empty()) refuse("--cuts-out is for cuts that are found, not for those of --apply");
      if (coding_.missing == MissingPolicy::fill) {
        refuse("--missing-policy fill: a file of cuts does not hold the means of the table they were found in");
      }
    } else if (method_ != "best-cut") {
      cuts_.method = discretize_method(method_);
      if (cuts_out_.empty() && output_.path.empty() && !model_.wanted() && !common.json) cuts_out_ = "-";
      if (model_.wanted() && coding_.missing == MissingPolicy::fill) {
        refuse("--missing-policy fill: a model of cuts does not hold the means of the table they were found in");
      }
    }
    if (labels_ && (method_ == "best-cut" || (apply_.empty() && output_.path.empty() && !model_.wanted()))) {
      refuse("--labels is about a coded table");
    }
    belongs_to("--bins", method_ == "equal-width" || method_ == "equal-frequency", "equal-width and equal-frequency");
    belongs_to("--max-cuts", method_ == "md-global", "md-global");
    belongs_to("--confidence", method_ == "chimerge", "chimerge");
    belongs_to("--min-intervals", method_ == "chimerge", "chimerge");
    for (const char* option : {"--criterion", "--order", "--permutations"}) {
      belongs_to(option, method_ == "best-cut", "best-cut");
    }
    if (method_ == "best-cut" && !cuts_out_.empty())
      refuse("--cuts-out: best-cut makes a ranking (-o), no set of cuts");
    if (model_.wanted() && (method_ == "best-cut" || !apply_.empty()))
      refuse("--model-out is for a set of cuts that is found");
    if (ranking_.n_permutations < 0) refuse("--permutations: the number is less than 0");
  }

  void belongs_to(const std::string& option, bool fits, const std::string& methods) const {
    if (fits || count(option) == 0) return;
    refuse(option + " belongs to --method " + methods + (method_.empty() ? "" : ", not " + method_));
  }

  Table read(Session& session, bool classes) {
    tables_.read.target_is_nominal = classes;
    Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    return table;
  }

  void rank(Session& session) {
    std::optional<OutputFile> file;
    file.emplace(session.data_path(output_.path, "ranking"), session.run().cancel);
    const Table table = read(session, true);
    ranking_.seed = common.seed;
    const BestCuts found = session.timed("discretize", [&] { return best_cuts(table, ranking_, session.run()); });
    note(session, found);
    if (!file) return;
    session.timed("write", [&] {
      write_ranking(*file, found);
      file->commit();
    });
    session.note_output(file->path());
  }

  void write_ranking(OutputFile& file, const BestCuts& found) const {
    RecordWriter csv(file, output_.format);
    const bool tested = ranking_.n_permutations > 0;
    for (const char* name : {"attr", "name", "score", "cut"}) csv.text(name);
    if (tested) csv.text("p_value").text("q_value");
    csv.end_row();
    for (const BestCut& one : found.cuts) {
      csv.integer(one.attribute).text(one.name);
      one.pairs ? csv.integer(*one.pairs) : csv.number(one.score);
      one.cut ? csv.number(*one.cut) : one.value ? csv.text(*one.value) : csv.empty();
      if (tested) csv.number(one.p_value.value_or(1.0)).number(one.q_value.value_or(1.0));
      csv.end_row();
    }
    csv.finish();
  }

  void note(Session& session, const BestCuts& found) const {
    const DiscretizeReport& report = found.report;
    session.json()["options"] = {{"method", method_},
                                 {"criterion", to_string(ranking_.criterion)},
                                 {"order", to_string(ranking_.order)},
                                 {"missing", to_string(coding_.missing)},
                                 {"permutations", ranking_.n_permutations},
                                 {"seed", common.seed}};
    session.note_plan(report);
    session.json()["rows"] = report.n_rows;
    session.json()["attributes"] = report.n_attributes;
    session.json()["classes"] = found.classes;
  }

  void find(Session& session) {
    require_distinct(session, {cuts_out_, output_.path, model_.path});
    std::optional<OutputFile> cuts_file, coded_file;
    if (!cuts_out_.empty() || common.json) {
      cuts_file.emplace(session.data_path(cuts_out_, "cut_points"), session.run().cancel);
    }
    if (!output_.path.empty()) coded_file.emplace(output_.path, session.run().cancel);
    model_.open(session, output_.path.empty() ? "no data" : output_.path);
    const bool classes =
        cuts_.method != DiscretizeMethod::equal_width && cuts_.method != DiscretizeMethod::equal_frequency;
    const Table table = read(session, classes);
    BackendReport report;
    const CutSet cuts = session.timed("discretize", [&] { return find_cuts(table, cuts_, session.run(), &report); });
    if (common.explain) session.say(to_text(report));
    std::int64_t n_cuts = 0;
    for (const AttributeCuts& one : cuts) n_cuts += one.size();
    session.json()["options"] = {{"method", method_}, {"missing", to_string(coding_.missing)}};
    session.json()["cuts"] = n_cuts;
    session.json()["attributes_with_cuts"] = cuts.size();
    session.say(fmt::format("{} of {}\n", counted(n_cuts, "cut"), counted(std::ssize(cuts), "attribute")));
    if (cuts_file) write_cuts(*cuts_file, cuts);
    if (coded_file) code(session, table, cuts, *coded_file);
    model_.write(session, tables_.after.joined({outline(table), CutsModel{cuts, coding_}}));
    commit_files(session, {&cuts_file, &coded_file, &model_.file});
  }

  void apply(Session& session) {
    std::optional<OutputFile> file;
    file.emplace(session.data_path(output_.path, "table"), session.run().cancel);
    require_one_stdin(table_, apply_);
    const CutSet cuts = read_cuts(apply_, session.run());
    ReadOptions& read_options = tables_.read;
    const Format format = read_options.format == Format::automatic ? format_of(table_) : read_options.format;
    const bool text = format == Format::csv || format == Format::tsv || format == Format::automatic;
    for (const AttributeCuts& one : cuts) {  // values such as "1" do not show a type
      if (one.symbolic && text && read_options.schema.empty()) read_options.nominal.push_back(one.name);
    }
    const Table table = read(session, false);
    session.json()["options"] = {{"apply", apply_}, {"missing", to_string(coding_.missing)}, {"labels", labels_}};
    session.json()["attributes_with_cuts"] = cuts.size();
    if (!file) return;
    code(session, table, cuts, *file);
    file->commit();
    session.note_output(file->path());
  }

  void code(Session& session, const Table& table, const CutSet& cuts, OutputFile& file) const {
    const Table coded = session.timed("code", [&] { return apply_cuts(table, cuts, coding_, session.run()); });
    session.timed("write", [&] { write_result(file, output_.format, coded, {}, session.run()); });
  }

  std::string table_, method_, apply_, cuts_out_;
  OutputArguments output_;
  bool labels_ = false;
  BestCutOptions ranking_;
  DiscretizeOptions cuts_;
  ApplyOptions coding_;
  ModelOutput model_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_discretize(CLI::App& program) {
  return std::make_unique<Discretize>(program);
}

}  // namespace stope::cli
