// stope evaluate measures how well a model does on a table: k-NN for one or many k, measures and normalisations, trees
// or least squares, by cross-validation, hold-out or leave-one-out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "arguments/knn_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/tree_arguments.hpp"
#include "arguments/typed_words.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "page/command_line.hpp"
#include "page/job_pages.hpp"
#include "report/evaluation_report.hpp"
#include "report/output.hpp"
#include "report/page_output.hpp"
#include "report/record_writer.hpp"
#include "report/score_report.hpp"
#include "report/text_table.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope evaluate table.csv --target class\n"
    "  stope evaluate table.csv --target class --loo -k 1..50 --normalize range\n"
    "  stope evaluate table.csv --target class --metric gower,heom,euclidean --normalize none,z -k 1,5,15 --repeats 5\n"
    "  stope evaluate table.csv --target class --model tree --prune-holdout 0.3 --predictions-out seen.csv\n"
    "  stope evaluate table.csv --target price --cv 5 -k 1,3,5,9 --weights distance --json\n";

enum class ModelKind { knn, tree, lsq };
constexpr std::array kModelNames = {"knn", "tree", "lsq"};

ModelKind parse_model(const std::string& word) {
  constexpr std::array kAliases = {std::pair("k-nn", ModelKind::knn),           std::pair("neighbors", ModelKind::knn),
                                   std::pair("decision-tree", ModelKind::tree), std::pair("ols", ModelKind::lsq),
                                   std::pair("ridge", ModelKind::lsq),          std::pair("linear", ModelKind::lsq)};
  for (const auto& [alias, kind] : kAliases) {
    if (word == alias) return kind;
  }
  return static_cast<ModelKind>(require_choice(word, {kModelNames.begin(), kModelNames.end()}, "--model"));
}

class Evaluate : public Command {
 public:
  explicit Evaluate(CLI::App& program)
      : Command(program, "evaluate", "Score a model on a table: k-NN for many k, a tree, least squares",
                "Scores a model on a table whose label is known: classification where the label is nominal, regression "
                "where "
                "it is numeric. For k-NN one search serves every k, and several measures and normalisations are "
                "compared on "
                "the same splits. Prints the scores, for people on stdout; -o and --json hold those of every line.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table with the label; '-' reads stdin");
    add_splits();
    OptionGroup group(*app, "Prediction");
    group.parsed("--model", "knn|tree|lsq", "What is scored: nearest neighbours, a decision tree, least squares [knn]",
                 [this](const std::string& word) { model_ = parse_model(word); });
    group.parsed("-k,--n-neighbors", "K", "knn: one k or many: 5, or 1,3,5, or 1..50 [5]",
                 [this](const std::string& word) { options_.ks = parse_k_list(word, "-k"); });
    group.choice("--weights", options_.weights,
                 "knn: votes: all the same, or by 1/distance (RapidMiner's weighted vote under --compat rapidminer)");
    knn_.add_class_weights(*app);
    OptionGroup(*app, "Output")
        .text(
            "-o,--output", output_.path, "FILE",
            "File for the scores of every line; without it and without --output-format: a table for people on stdout");
    output_.add_format_to(*app, "evaluate",
                          "Format of the scores of every line; default: from the suffix of FILE, else csv");
    OptionGroup(*app, "Output")
        .text("--predictions-out", predictions_path_, "FILE",
              "File for what was predicted for every row when it was not in training, by the best of the lines");
    knn_.add_to(*app, Measures::several);
    add_tree_options(*app, tree_.fit);
    add_missing_policy(*app, "Tree", tree_.fit.tree.missing,
                       "tree: what a missing value means, as in stope tree; lsq: fill is the column's mean [error]");
    add_lsq_options();
    page_.add_to(*app);
    tables_.after.add_to(*app, Saves::nothing);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check();
    require_backend(session.run());
    std::optional<OutputFile> file, predictions;
    open(session, file, predictions);
    page_.open(session, file ? output_.path : "no data");
    const Table table = read(session);
    const std::string& label = column_of(table, Role::label)->name;
    Json options = note_splits();
    std::string text;
    switch (model_) {
      case ModelKind::knn: text = run_knn(session, table, std::move(options)); break;
      case ModelKind::tree: text = run_tree(session, table, std::move(options)); break;
      case ModelKind::lsq: text = run_lsq(session, table, std::move(options)); break;
    }
    text = heading(table, label) + text;
    const bool for_people = output_.path.empty() && output_.format.empty();
    session.say(file && for_people ? "" : text);  // which also wipes the progress line
    if (file && for_people) file->write(text);
    if (file && !for_people) {
      RecordWriter records(*file, output_.format);
      write_evaluation(records, lines_, shape_);
    }
    if (predictions) {
      RecordWriter records(*predictions);
      write_predictions(records, table, kept_, session.run());
    }
    page_.write(session, [&] { return page_of(table); });
    commit_files(session, {&file, &predictions, &page_.file});
  }

 private:
  void add_splits() {
    OptionGroup split(*app, "Splits");
    split.parsed("--cv", "FOLDS", fmt::format("Cross-validation [{}]", options_.n_folds),
                 [this](const std::string& word) {
                   options_.scheme = Scheme::cross_validation;
                   options_.n_folds = parse_integer(word, "--cv");
                 });
    split.parsed("--holdout", "FRACTION", "Hold out this part of the rows for testing, e.g. 0.3",
                 [this](const std::string& word) {
                   options_.scheme = Scheme::holdout;
                   options_.holdout = parse_real(word, "--holdout");
                   if (options_.holdout <= 0 || options_.holdout >= 1) {
                     throw Error(ErrorCode::invalid_argument, "--holdout: " + word + " is not between 0 and 1");
                   }
                 });
    split.flag("--loo", leave_one_out_, "Leave-one-out: every row is predicted from all others");
    split.integer("--repeats", options_.n_repeats, "R",
                  "Repeat --cv or --holdout with the seeds SEED, SEED + 1, ...; scores are means over them [1]");
    split.text("--exclude-group", options_.exclude_group, "COLUMN",
               "knn with --loo: rows with the same value in this column do not vote; it is not a feature");
  }

  void add_lsq_options() {
    OptionGroup group(*app, "Least squares");
    group.real("--alpha", lsq_.lsq.alpha, "A",
               "Ridge: penalty on the squares of the coefficients, not the intercept [0]");
    group.flag("--no-intercept", no_intercept_, "Fit without an intercept");
    group.flag("--numeric-only", numeric_only_, "Leave nominal attributes out; without it they are an error");
  }

  // ---- before the run ----

  void check() {
    refuse_options_of_other_models();
    knn_.options();
    const bool several = count("--cv") + count("--holdout") + count("--loo") > 1;
    if (several) throw Error(ErrorCode::invalid_argument, "--cv, --holdout and --loo exclude each other");
    if (leave_one_out_) options_.scheme = Scheme::leave_one_out;
    if (!options_.exclude_group.empty() && !leave_one_out_) {
      throw Error(ErrorCode::invalid_argument, "--exclude-group needs --loo");
    }
    if (options_.n_repeats < 1) {
      throw Error(ErrorCode::invalid_argument, fmt::format("--repeats: {} is not at least 1", options_.n_repeats));
    }
    if (options_.n_repeats > 1 && leave_one_out_) {
      throw Error(ErrorCode::invalid_argument,
                  "--repeats: --loo has one way to split a table; every repeat is the same");
    }
    options_.seed = common.seed;
    options_.predictions = predictions_path_.empty() ? Predictions::dropped : Predictions::kept;
    set_splits(tree_);
    set_splits(lsq_);
    tree_.fit.seed = common.seed;
    knn_.class_weights.set(tree_.fit.tree);
    check_tree_options(tree_.fit.tree);
    check_lsq();
  }

  template <class Options>
  void set_splits(Options& to) const {
    to.scheme = options_.scheme;
    to.n_folds = options_.n_folds;
    to.holdout = options_.holdout;
    to.seed = options_.seed;
    to.n_repeats = options_.n_repeats;
    to.predictions = options_.predictions;
  }

  void check_lsq() {
    lsq_.lsq.fit_intercept = !no_intercept_;
    lsq_.lsq.nominal = numeric_only_ ? NominalFeatures::skip : NominalFeatures::error;
    const MissingPolicy missing = tree_.fit.tree.missing;
    lsq_.lsq.missing = missing == MissingPolicy::fill ? MissingValues::mean : MissingValues::error;
    if (lsq_.lsq.alpha < 0) throw Error(ErrorCode::invalid_argument, "--alpha is below 0");
    if (model_ != ModelKind::lsq || missing == MissingPolicy::error || missing == MissingPolicy::fill) return;
    throw Error(ErrorCode::invalid_argument, "--missing-policy: least squares take error or fill");
  }

  // An option that has no effect is a mistake.
  void refuse_options_of_other_models() const {
    const auto refuse = [this](const std::string& option, const std::string& models) {
      if (count(option) == 0) return;
      throw Error(ErrorCode::invalid_argument, fmt::format("{} has no effect on --model {}: it is for {}", option,
                                                           kModelNames[static_cast<std::size_t>(model_)], models));
    };
    if (model_ != ModelKind::knn) {
      for (const char* option : {"-k", "--weights", "--metric", "--metric-param", "--feature-weights", "--normalize",
                                 "--compat", "--exclude-group"}) {
        refuse(option, "knn");
      }
    }
    if (model_ != ModelKind::tree) {
      for (const std::string& option : tree_option_names()) refuse(option, "tree");
    }
    if (model_ == ModelKind::knn) refuse("--missing-policy", "tree and lsq");
    if (model_ == ModelKind::lsq) refuse("--class-weight", "knn and tree");
    if (model_ != ModelKind::lsq) {
      for (const char* option : {"--alpha", "--no-intercept", "--numeric-only"}) refuse(option, "lsq");
    }
  }

  void open(Session& session, std::optional<OutputFile>& file, std::optional<OutputFile>& predictions) const {
    const bool scores = !output_.path.empty() ? session.wants_data(output_.path) : !common.json;
    if (!predictions_path_.empty()) {
      require_distinct(session, {predictions_path_, scores ? output_path(output_.path) : ""});
    }
    if (scores) file.emplace(output_path(output_.path), session.run().cancel);
    if (!predictions_path_.empty()) predictions.emplace(predictions_path_, session.run().cancel);
  }

  // The page of the best line.
  std::string page_of(const Table& table) const {
    const page::JobPage job{table_, page::command_line("evaluate", table_, typed_words(*app, TypedOptions::all))};
    if (model_ == ModelKind::tree)
      return page::tree_scores_page(job, tree_scores_, tree_.confidences, table, scheme_text());
    if (model_ == ModelKind::lsq) return page::lsq_scores_page(job, lsq_scores_, table, scheme_text());
    const EvaluationOfMeasure& best = grid_->cells[grid_->best];
    EvaluateOptions options = options_;
    options.knn.metric = best.metric;
    options.normalize = best.normalize;
    return page::evaluation_page(job, best.evaluation, options, table);
  }

  Table read(Session& session) {
    if (model_ == ModelKind::tree) tables_.read.target_is_nominal = true;
    Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    require_rows(table, table_);
    session.note_input("table", table_, table);
    tables_.after.warn_of_scores(session);
    if (column_of(table, Role::label) == nullptr) {
      throw Error(ErrorCode::invalid_argument, "which column is the label?", {.file = table_, .option = "target"});
    }
    if (!options_.exclude_group.empty()) {
      options_.exclude_group =
          table.columns[static_cast<std::size_t>(table.find(options_.exclude_group, "--exclude-group"))].name;
      table.leave_out(options_.exclude_group);
    }
    return table;
  }

  // ---- the models ----

  std::string run_knn(Session& session, const Table& table, Json options) {
    options_.knn = knn_.options();
    options_.knn.feature_weights = knn_.weights(table, session.run());
    options_.confidences = confidences(session, table, std::ssize(options_.ks));
    const auto found = session.timed("search", [&] {
      return std::make_shared<EvaluationGrid>(
          evaluate_grid(table, options_, knn_.all_metrics(), knn_.all_normalizations(), session.run()));
    });
    grid_ = found;
    Evaluation& best = found->cells[found->best].evaluation;
    kept_ = std::exchange(best.of_k[best.best].predictions, {});
    shape_ = {best.label_is_nominal, options_.n_repeats > 1};
    options["n_neighbors"] = options_.ks;
    options["weights"] = to_string(options_.weights);
    options["exclude_group"] = options_.exclude_group.empty() ? Json(nullptr) : Json(options_.exclude_group);
    options["normalize_fitted_on"] =
        normalizes() ? Json(leave_one_out_ ? "whole table" : "training rows of each split") : Json(nullptr);
    knn_.note(session, std::move(options), best.report);
    make_lines(*found);
    note_grid(session, found);
    return knn_text(*found);
  }

  std::string run_tree(Session& session, const Table& table, Json options) {
    tree_.confidences = confidences(session, table, 1);
    const auto found = session.timed(
        "evaluate", [&] { return std::make_shared<TreeEvaluation>(evaluate_tree(table, tree_, session.run())); });
    kept_ = std::exchange(found->predictions, {});
    tree_scores_ = *found;
    const TreeOptions& tree = tree_.fit.tree;
    options["criterion"] = std::string(to_string(tree.criterion));
    options["missing"] = std::string(to_string(tree.missing));
    options["max_depth"] = tree.max_depth ? Json(*tree.max_depth) : Json(nullptr);
    options["min_samples_leaf"] = tree.min_samples_leaf;
    options["min_score"] = tree.min_score;
    options["class_weight"] = knn_.class_weights.json();
    options["ccp_alpha"] = tree.ccp_alpha;
    options["prune_holdout"] = tree_.fit.prune_holdout;
    session.json()["options"] = std::move(options);
    shape_ = {true, tree_.n_repeats > 1};
    note_model(session, found->repeats, found->fold_scores, score_json(session, {found, &found->scores}));
    session.json()["mean_leaves"] = found->mean_leaves;
    return fmt::format("tree, {:.4g} leaves on average: ", found->mean_leaves) + score_text(found->scores) + "\n" +
           probability_text(found->repeats, found->probabilities, found->scores.n_rows) + repeats_text();
  }

  std::string run_lsq(Session& session, const Table& table, Json options) {
    const auto found = session.timed("evaluate", [&] {
      try {
        return std::make_shared<LsqEvaluation>(evaluate_lsq(table, lsq_, session.run()));
      } catch (const Error& error) {  // what helps has other names than for the other models
        Place place = error.place();
        if (place.option == "nominal" || place.option == "missing") place.option = "lsq_" + place.option;
        throw Error(error.code(), error.message(), std::move(place));
      }
    });
    kept_ = std::exchange(found->predictions, {});
    lsq_scores_ = *found;
    options["alpha"] = lsq_.lsq.alpha;
    options["intercept"] = lsq_.lsq.fit_intercept;
    options["missing"] = std::string(to_string(lsq_.lsq.missing));
    session.json()["options"] = std::move(options);
    shape_ = {false, lsq_.n_repeats > 1};
    note_model(session, found->repeats, found->fold_scores, score_json(session, {found, &found->scores}));
    return (lsq_.lsq.alpha > 0 ? "ridge: " : "least squares: ") + score_text(found->scores) + repeats_text();
  }

  // ROC AUC and log loss are left out where their confidences are too many.
  Confidences confidences(Session& session, const Table& table, std::int64_t n_ks) const {
    const Column& label = *column_of(table, Role::label);
    const Confidences found = affordable_confidences(table, n_ks);
    if (found == Confidences::none && label.nominal()) {
      session.warn(fmt::format(
          "no ROC AUC and no log loss: the confidences of {} and {}, for every k, would take more than 1 GiB",
          counted(table.n_rows, "row"), counted(label.values.size(), "class", "classes")));
    }
    return found;
  }

  // ---- what is told ----

  bool normalizes() const {
    const std::vector<NormalizeOptions> all = knn_.all_normalizations();
    return std::any_of(all.begin(), all.end(),
                       [](const NormalizeOptions& one) { return one.method != Normalization::none; });
  }

  std::string scheme_text() const {
    std::string text = fmt::format("{}-fold cross-validation", options_.n_folds);
    if (options_.scheme == Scheme::leave_one_out) text = "leave-one-out";
    if (options_.scheme == Scheme::holdout) text = fmt::format("hold-out of {:g}", options_.holdout);
    return options_.n_repeats > 1 ? fmt::format("{}, repeated {} times,", text, options_.n_repeats) : text;
  }

  Json note_splits() const {
    Json options = {{"model", kModelNames[static_cast<std::size_t>(model_)]},
                    {"scheme", options_.scheme == Scheme::leave_one_out ? "leave_one_out"
                               : options_.scheme == Scheme::holdout     ? "holdout"
                                                                        : "cross_validation"}};
    if (options_.scheme == Scheme::cross_validation) options["n_folds"] = options_.n_folds;
    if (options_.scheme == Scheme::holdout) options["holdout"] = options_.holdout;
    options["n_repeats"] = options_.n_repeats;
    options["seed"] = options_.seed;
    return options;
  }

  std::string heading(const Table& table, const std::string& label) const {
    const bool guessed = model_ == ModelKind::knn && !shape_.classes;
    std::string text = fmt::format("{} of '{}', {}{}\n", scheme_text(), one_line(label), counted(table.n_rows, "row"),
                                   guessed ? ": regression, since the label is numeric" : "");
    if (guessed) text += "(--nominal with the name of the label makes it a classification)\n";
    if (model_ == ModelKind::knn && leave_one_out_ && normalizes()) {
      text += "the normalisation is fitted once, to the whole table, so it includes each row's own values\n";
    }
    return text;
  }

  void make_lines(const EvaluationGrid& grid) {
    for (std::size_t c = 0; c < grid.cells.size(); ++c) {
      const EvaluationOfMeasure& cell = grid.cells[c];
      for (std::size_t i = 0; i < cell.evaluation.of_k.size(); ++i) {
        const EvaluationOfK& of_k = cell.evaluation.of_k[i];
        lines_.push_back({knn_.all_metrics().size() > 1 ? cell.metric.name : "",
                          knn_.all_normalizations().size() > 1 ? std::string(to_string(cell.normalize.method)) : "",
                          of_k.k, &of_k.repeats, c == grid.best && i == cell.evaluation.best});
      }
    }
  }

  std::string knn_text(const EvaluationGrid& grid) {
    const EvaluationOfMeasure& cell = grid.cells[grid.best];
    const EvaluationOfK& best = cell.evaluation.of_k[cell.evaluation.best];
    std::string text;
    if (lines_.size() > 1) {
      text = "\n" + evaluation_text(lines_, shape_) + fmt::format("\nbest k {}", best.k);
      if (knn_.all_metrics().size() > 1) text += " of " + one_line(cell.metric.name);
      if (knn_.all_normalizations().size() > 1) text += fmt::format(", normalize {}", to_string(cell.normalize.method));
    } else {
      text = fmt::format("k {}", best.k);
    }
    if (!shape_.classes) return text + ": " + score_text(best.regression) + repeats_text();
    return text + ": " + score_text(best.classification) + "\n" +
           probability_text(best.repeats, best.probabilities, best.classification.n_rows) + repeats_text();
  }

  // The means and deviations of the best line.
  std::string repeats_text() const {
    const auto best = std::find_if(lines_.begin(), lines_.end(), [](const EvaluationLine& line) { return line.best; });
    if (!shape_.repeated || best == lines_.end()) return "";
    return "\nmeans and standard deviations over the repeats\n" + cli::repeats_text(*best->repeats, shape_.classes);
  }

  void note_grid(Session& session, const std::shared_ptr<EvaluationGrid>& found) const {
    const Json all = cells_json(session, found);
    const Evaluation& best = found->cells[found->best].evaluation;
    session.json()["best_k"] = best.of_k[best.best].k;
    session.json()["scores"] = all[found->best]["of_k"][best.best]["scores"];
    session.json()["of_k"] = all[found->best]["of_k"];
    if (found->cells.size() == 1) return;
    session.json()["best"] = {{"metric", all[found->best]["metric"]},
                              {"normalize", all[found->best]["normalize"]},
                              {"k", best.of_k[best.best].k}};
    session.json()["grid"] = all;
  }

  Json cells_json(Session& session, const std::shared_ptr<EvaluationGrid>& found) const {
    Json cells = Json::array();
    for (const EvaluationOfMeasure& cell : found->cells) {
      Json of_k = Json::array();
      for (const EvaluationOfK& entry : cell.evaluation.of_k) {
        Json scores =
            cell.evaluation.label_is_nominal
                ? score_json(session, std::shared_ptr<const ClassificationScores>(found, &entry.classification))
                : score_json(session, std::shared_ptr<const RegressionScores>(found, &entry.regression));
        of_k.push_back({{"k", entry.k}});
        of_k.back().update(line_json(entry.repeats, entry.fold_scores, std::move(scores)));
      }
      cells.push_back({{"metric", cell.metric.name},
                       {"normalize", std::string(to_string(cell.normalize.method))},
                       {"of_k", std::move(of_k)}});
    }
    return cells;
  }

  Json line_json(const std::vector<RepeatScores>& repeats, const std::vector<double>& fold_scores, Json scores) const {
    if (shape_.classes) {
      scores["balanced_accuracy"] = spread(repeats, &RepeatScores::balanced_accuracy).mean;
      scores["roc_auc"] = spread(repeats, &RepeatScores::roc_auc).mean;
      scores["log_loss"] = spread(repeats, &RepeatScores::log_loss).mean;
    }
    Json line = {{"scores", std::move(scores)}, {"fold_scores", fold_scores}};
    if (shape_.repeated) line["repeats"] = repeats_json(repeats, shape_.classes);
    return line;
  }

  void note_model(Session& session, const std::vector<RepeatScores>& repeats, const std::vector<double>& fold_scores,
                  Json scores) {
    lines_ = {{"", "", 0, &repeats_, true}};
    repeats_ = repeats;
    const Json line = line_json(repeats, fold_scores, std::move(scores));
    for (const auto& [key, value] : line.items()) session.json()[key] = value;
  }

  std::string table_, predictions_path_;
  OutputArguments output_;
  PageOutput page_;
  TreeEvaluation tree_scores_;
  LsqEvaluation lsq_scores_;
  bool leave_one_out_ = false, no_intercept_ = false, numeric_only_ = false;
  ModelKind model_ = ModelKind::knn;
  EvaluateOptions options_;
  TreeEvaluationOptions tree_;
  LsqEvaluationOptions lsq_;
  TableArguments tables_;
  KnnArguments knn_;

  std::vector<EvaluationLine> lines_;
  EvaluationShape shape_;
  std::shared_ptr<const EvaluationGrid> grid_;  // the lines point into it, or to
  std::vector<RepeatScores> repeats_;           // those of a model without k
  OutOfFold kept_;
};

}  // namespace

std::unique_ptr<Command> add_evaluate(CLI::App& program) {
  return std::make_unique<Evaluate>(program);
}

}  // namespace stope::cli
