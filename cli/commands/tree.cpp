// stope tree grows a tree by local discretisation, writes it (text, JSON, DOT, SVG, rules, a model) and scores it.
#include "stope/tree.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "arguments/class_weight_arguments.hpp"
#include "arguments/knn_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/tree_arguments.hpp"
#include "arguments/typed_words.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "page/command_line.hpp"
#include "page/job_pages.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "report/page_output.hpp"
#include "report/score_report.hpp"
#include "report/text_table.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/tree_format.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope tree table.csv --target class\n"
    "  stope tree train.csv --target class --missing-policy value --test test.csv --format rules -o rules.txt\n"
    "  stope tree genes.csv.gz --target class --cv 10 --model-out genes.stope -o tree.txt\n"
    "  stope predict genes.stope more.csv --proba --explain -o predictions.csv\n";

TreeFormat format_of_suffix(const std::string& path) {
  const std::string suffix = suffix_of(path);
  const bool named = suffix == ".json" || suffix == ".dot" || suffix == ".svg" || suffix == ".rules";
  return named ? tree_format(suffix.substr(1)) : TreeFormat::text;
}

class TreeCommand : public Command {
 public:
  explicit TreeCommand(CLI::App& program)
      : Command(program, "tree", "Grow a decision tree by local discretisation",
                "Grows a binary tree whose splits separate the most pairs of rows of different classes: numbers by a "
                "cut, nominal values by one value against the rest. Ties go to the first attribute, then to the lowest "
                "cut. Writes the tree, or its rules; the scores of --test and --cv go to stderr.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table with the label; '-' reads stdin");
    add_growth();
    add_scores();
    OptionGroup output(*app, "Output");
    output.choice("--format,--output-format", format_, "What is written; default: from the suffix of FILE, else text");
    output.text("-o,--output", output_, "FILE", "File for the tree; default: stdout");
    model_.add_to(*app);
    page_.add_to(*app);
    tables_.add_to(*app, Tables::two);
    add_common(kExamples);
    tables_.read.target_is_nominal = true;
  }

  void run(Session& session) override {
    check();
    if (count("--format") == 0) format_ = format_of_suffix(output_);
    std::optional<OutputFile> file;
    if (common.json && output_.empty()) format_ = TreeFormat::json;
    file.emplace(session.data_path(output_, "model"), session.run().cancel);
    model_.open(session, output_);
    page_.open(session, output_);
    require_backend(session.run());
    const Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    require_rows(table, table_);
    session.note_input("table", table_, table);
    if (column_of(table, Role::label) == nullptr) {
      throw Error(ErrorCode::invalid_argument, "which column is the label?", {.file = table_, .option = "target"});
    }
    require_folds(table);
    const std::optional<Table> test = read_test(session, table);  // read before a tree grows, since it may be refused
    const DecisionTree tree = session.timed("grow", [&] { return fit_tree(table, options_.fit, session.run()); });
    note(session, tree);
    const std::string text = format_tree(tree, format_);
    file->write(common.json ? text : for_terminal(output_, text));
    model_.write(session, {outline(table), tree});
    if (test) score_test(session, tree, *test);
    const auto scores = evaluates() ? cross_validate(session, table) : nullptr;
    page_.write(session, [&] {
      return page::tree_page({table_, page::command_line("tree", table_, typed_words(*app, TypedOptions::all))}, tree,
                             table, scores == nullptr ? std::nullopt : std::optional(*scores), scheme_text());
    });
    commit_files(session, {&file, &model_.file, &page_.file});
  }

 private:
  void add_growth() {
    add_tree_options(*app, options_.fit);
    add_missing_policy(
        *app, "Tree", options_.fit.tree.missing,
        "What a missing value means: error: it is refused; value: it is a value of its own, below all numbers; "
        "drop: its row is left out; fill: it is replaced by the attribute's mean or most frequent value [error]");
    OptionGroup group(*app, "Tree");
    class_weights_.add_to(group,
                          "Weights of classes, which multiply those of rows; balanced: all classes weigh the same");
  }

  void add_scores() {
    OptionGroup group(*app, "Scores");
    group.text("--test", test_, "TABLE", "Predict the classes of these rows, too, and score them");
    group.parsed("--cv", "FOLDS", "Also score by cross-validation with this many folds",
                 [this](const std::string& word) {
                   options_.scheme = Scheme::cross_validation;
                   options_.n_folds = parse_integer(word, "--cv");
                   if (options_.n_folds < 2)
                     throw Error(ErrorCode::invalid_argument, "--cv: " + word + " folds: at least 2");
                 });
    group.parsed("--holdout", "FRACTION", "Also score on this part of the rows, held out from training, e.g. 0.3",
                 [this](const std::string& word) {
                   options_.scheme = Scheme::holdout;
                   options_.holdout = parse_share(word, "--holdout");
                 });
    group.flag("--loo", leave_one_out_, "Also score by leave-one-out: every row is predicted from all others");
  }

  bool evaluates() const { return count("--cv") + count("--holdout") + count("--loo") > 0; }

  void check() {
    tables_.refuse_policy_as_spelling();
    if (count("--cv") + count("--holdout") + count("--loo") > 1) {
      throw Error(ErrorCode::invalid_argument, "--cv, --holdout and --loo exclude each other");
    }
    if (!test_.empty()) require_one_stdin(table_, test_);
    if (leave_one_out_) options_.scheme = Scheme::leave_one_out;
    options_.seed = options_.fit.seed = common.seed;
    class_weights_.set(options_.fit.tree);
    check_tree_options(options_.fit.tree);
  }

  void note(Session& session, const DecisionTree& tree) const {
    const TreeOptions& options = tree.options();
    Json weights = Json::object();
    for (const auto& [name, weight] : options.class_weights) weights[name] = weight;
    session.json()["options"] = {{"criterion", std::string(to_string(options.criterion))},
                                 {"missing", std::string(to_string(options.missing))},
                                 {"max_depth", options.max_depth ? Json(*options.max_depth) : Json(nullptr)},
                                 {"min_samples_leaf", options.min_samples_leaf},
                                 {"min_score", options.min_score},
                                 {"class_weight", options.balanced ? Json("balanced") : weights},
                                 {"ccp_alpha", options.ccp_alpha},
                                 {"prune_holdout", options_.fit.prune_holdout},
                                 {"seed", options_.seed}};
    std::int64_t impure = 0;
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      impure += tree.nodes()[i].leaf() && !tree.pure(static_cast<std::int64_t>(i)) ? 1 : 0;
    }
    session.json()["tree"] = {{"nodes", tree.nodes().size()},
                              {"leaves", tree.n_leaves()},
                              {"depth", tree.max_depth()},
                              {"impure_leaves", impure},
                              {"attributes", tree.cuts().size()}};
    session.note_plan(tree.report());
    session.say(fmt::format("tree: {}, depth {}, {} of {}, {}\n", counted(tree.n_leaves(), "leaf", "leaves"),
                            tree.max_depth(), tree.cuts().size(), counted(std::ssize(tree.attributes()), "attribute"),
                            counted(impure, "impure leaf", "impure leaves")));
  }

  void require_folds(const Table& table) const {
    if (count("--cv") == 0 || options_.n_folds <= table.n_rows) return;
    throw Error(ErrorCode::invalid_argument, fmt::format("--cv: {} folds of {}: at most one per row", options_.n_folds,
                                                         counted(table.n_rows, "row")));
  }

  std::optional<Table> read_test(Session& session, const Table& train) {
    if (test_.empty()) return std::nullopt;
    std::optional<Table> test = session.timed("read", [&] { return tables_.read_second(test_, train, session); });
    session.hold({&train, &*test});
    session.note_input("test", test_, *test);
    if (column_of(*test, Role::label) != nullptr) return test;
    throw Error(ErrorCode::invalid_data, test_ + ": the column '" + column_of(train, Role::label)->name +
                                             "', which is to be scored, is missing");
  }

  void score_test(Session& session, const DecisionTree& tree, const Table& test) {
    const Classification classes =
        session.timed("predict", [&] { return tree.classes_of(tree.apply(test, session.run()), Confidences::none); });
    session.say("\ntest table: ");
    report_scores(session, score_against(*column_of(test, Role::label), classes, session.run()));
  }

  std::string scheme_text() const {
    return options_.scheme == Scheme::leave_one_out ? "leave-one-out"
           : options_.scheme == Scheme::holdout     ? fmt::format("hold-out of {:g}", options_.holdout)
                                                    : fmt::format("{}-fold cross-validation", options_.n_folds);
  }

  std::shared_ptr<const TreeEvaluation> cross_validate(Session& session, const Table& table) {
    const auto found = session.timed("evaluate", [&] {
      return std::make_shared<const TreeEvaluation>(evaluate_tree(table, options_, session.run()));
    });
    const TreeEvaluation& evaluation = *found;
    const std::string scheme = scheme_text();
    session.json()["evaluation"] = {{"scheme", scheme},
                                    {"scores", score_json(session, {found, &found->scores})},
                                    {"fold_scores", evaluation.fold_scores},
                                    {"mean_leaves", evaluation.mean_leaves}};
    session.say(fmt::format("\n{}, {:.4g} leaves on average: ", scheme, evaluation.mean_leaves));
    session.say(score_text(evaluation.scores));
    return found;
  }

  std::string table_, test_, output_;
  TreeFormat format_ = TreeFormat::text;
  ClassWeightArguments class_weights_;
  bool leave_one_out_ = false;
  TreeEvaluationOptions options_;
  ModelOutput model_;
  PageOutput page_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_tree(CLI::App& program) {
  return std::make_unique<TreeCommand>(program);
}

}  // namespace stope::cli
