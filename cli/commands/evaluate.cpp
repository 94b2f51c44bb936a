// stope evaluate measures how well k-NN does on a table, by cross-validation, hold-out or leave-one-out, for one or
// many k.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "arguments/knn_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/typed_words.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "page/command_line.hpp"
#include "page/job_pages.hpp"
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
    "  stope evaluate table.csv --target price --cv 5 -k 1,3,5,9 --weights distance --json\n";

class Evaluate : public Command {
 public:
  explicit Evaluate(CLI::App& program)
      : Command(
            program, "evaluate", "Score k-NN on a table, for one or many k",
            "Scores k-NN on a table whose label is known: classification where the label is nominal, regression where "
            "it is numeric. One search serves every k. Prints the scores, for people on stdout; -o and --json hold "
            "those of every k.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table with the label; '-' reads stdin");
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
    split.text("--exclude-group", options_.exclude_group, "COLUMN",
               "With --loo: rows with the same value in this column do not vote; it is not a feature");
    OptionGroup group(*app, "Prediction");
    group.parsed("-k,--n-neighbors", "K", "One k or many: 5, or 1,3,5, or 1..50 [5]",
                 [this](const std::string& word) { options_.ks = parse_k_list(word, "-k"); });
    group.choice("--weights", options_.weights,
                 "Votes: all the same, or by 1/distance (RapidMiner's weighted vote under --compat rapidminer)");
    OptionGroup(*app, "Output")
        .text("-o,--output", output_.path, "FILE",
              "File for the scores of every k; without it and without --output-format: a table for people on stdout");
    output_.add_format_to(*app, "evaluate",
                          "Format of the scores of every k; default: from the suffix of FILE, else csv");
    page_.add_to(*app);
    knn_.add_to(*app);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check();
    require_backend(session.run());
    std::optional<OutputFile> file;
    if (!output_.path.empty() ? session.wants_data(output_.path) : !common.json)
      file.emplace(output_path(output_.path), session.run().cancel);
    page_.open(session, file ? output_.path : "no data");
    Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    require_rows(table, table_);
    session.note_input("table", table_, table);
    const Column* label = column_of(table, Role::label);
    if (label == nullptr) {
      throw Error(ErrorCode::invalid_argument, "which column is the label?", {.file = table_, .option = "target"});
    }
    if (!options_.exclude_group.empty()) {
      options_.exclude_group =
          table.columns[static_cast<std::size_t>(table.find(options_.exclude_group, "--exclude-group"))].name;
      table.leave_out(options_.exclude_group);
    }
    options_.knn = knn_.options();
    options_.knn.feature_weights = knn_.weights(table, session.run());
    options_.normalize = knn_.normalization();
    const auto found = session.timed(
        "search", [&] { return std::make_shared<const Evaluation>(evaluate(table, options_, session.run())); });
    const Evaluation& evaluation = *found;
    note(session, found);
    const std::string text = report(evaluation, table, label->name);
    const bool for_people = output_.path.empty() && output_.format.empty();
    session.say(file && for_people ? "" : text);  // which also wipes the progress line
    if (file && for_people) file->write(text);
    if (file && !for_people) write_scores(*file, output_.format, evaluation);
    page_.write(session, [&] {
      return page::evaluation_page(
          {table_, page::command_line("evaluate", table_, typed_words(*app, TypedOptions::all))}, evaluation, options_,
          table);
    });
    commit_files(session, {&file, &page_.file});
  }

 private:
  void check() {
    knn_.options();
    knn_.normalization();
    const bool several = count("--cv") + count("--holdout") + count("--loo") > 1;
    if (several) throw Error(ErrorCode::invalid_argument, "--cv, --holdout and --loo exclude each other");
    if (leave_one_out_) options_.scheme = Scheme::leave_one_out;
    if (!options_.exclude_group.empty() && !leave_one_out_) {
      throw Error(ErrorCode::invalid_argument, "--exclude-group needs --loo");
    }
    options_.seed = common.seed;
  }

  std::string scheme_text() const {
    if (options_.scheme == Scheme::leave_one_out) return "leave-one-out";
    if (options_.scheme == Scheme::holdout) return fmt::format("hold-out of {:g}", options_.holdout);
    return fmt::format("{}-fold cross-validation", options_.n_folds);
  }

  bool fits_once() const { return leave_one_out_ && knn_.normalize != Normalization::none; }

  static void write_scores(OutputFile& file, const std::string& format, const Evaluation& evaluation) {
    RecordWriter records(file, format);
    const bool nominal = evaluation.label_is_nominal;
    records.text("k");
    for (const char* name : {nominal ? "accuracy" : "rmse", nominal ? "kappa" : "mae", nominal ? "macro_f1" : "r2"}) {
      records.text(name);
    }
    records.end_row();
    for (const EvaluationOfK& of_k : evaluation.of_k) {
      records.integer(of_k.k);
      if (nominal) {
        records.number(of_k.classification.accuracy)
            .number(of_k.classification.kappa)
            .number(of_k.classification.macro_f1);
      } else {
        records.number(of_k.regression.rmse).number(of_k.regression.mae).number(of_k.regression.r2);
      }
      records.end_row();
    }
    records.finish();
  }

  void note(Session& session, const std::shared_ptr<const Evaluation>& found) const {
    const Evaluation& evaluation = *found;
    Json options = {{"scheme", options_.scheme == Scheme::leave_one_out ? "leave_one_out"
                               : options_.scheme == Scheme::holdout     ? "holdout"
                                                                        : "cross_validation"}};
    if (options_.scheme == Scheme::cross_validation) options["n_folds"] = options_.n_folds;
    if (options_.scheme == Scheme::holdout) options["holdout"] = options_.holdout;
    options["n_neighbors"] = options_.ks;
    options["weights"] = to_string(options_.weights);
    options["seed"] = options_.seed;
    options["exclude_group"] = options_.exclude_group.empty() ? Json(nullptr) : Json(options_.exclude_group);
    options["normalize_fitted_on"] = knn_.normalize == Normalization::none
                                         ? Json(nullptr)
                                         : Json(fits_once() ? "whole table" : "training rows of each split");
    knn_.note(session, std::move(options), evaluation.report);

    const auto scores_of = [&](const EvaluationOfK& entry) {
      using std::shared_ptr;
      return evaluation.label_is_nominal
                 ? score_json(session, shared_ptr<const ClassificationScores>(found, &entry.classification))
                 : score_json(session, shared_ptr<const RegressionScores>(found, &entry.regression));
    };
    Json of_k = Json::array();
    for (const EvaluationOfK& entry : evaluation.of_k) {
      of_k.push_back({{"k", entry.k}, {"scores", scores_of(entry)}, {"fold_scores", entry.fold_scores}});
    }
    const EvaluationOfK& best = evaluation.of_k[evaluation.best];
    session.json()["best_k"] = best.k;
    session.json()["scores"] = scores_of(best);
    session.json()["of_k"] = of_k;
  }

  std::string report(const Evaluation& evaluation, const Table& table, const std::string& label) const {
    const bool nominal = evaluation.label_is_nominal;
    std::string text = fmt::format("{} of '{}', {}{}\n", scheme_text(), one_line(label), counted(table.n_rows, "row"),
                                   nominal ? "" : ": regression, since the label is numeric");
    if (!nominal) text += "(--nominal with the name of the label makes it a classification)\n";
    if (fits_once()) {
      text += "the normalisation is fitted once, to the whole table, so it includes each row's own values\n";
    }
    const EvaluationOfK& best = evaluation.of_k[evaluation.best];
    if (evaluation.of_k.size() > 1) {
      text += "\n" + table_of_ks(evaluation) + fmt::format("\nbest k {}: ", best.k);
    } else {
      text += fmt::format("k {}: ", best.k);
    }
    return text + (nominal ? score_text(best.classification) : score_text(best.regression));
  }

  static std::string table_of_ks(const Evaluation& evaluation) {
    const bool nominal = evaluation.label_is_nominal;
    TextTable text({Align::right, Align::right, Align::right, Align::right, Align::left});
    text.row(nominal ? std::vector<std::string>{"k", "accuracy", "kappa", "macro F1", ""}
                     : std::vector<std::string>{"k", "RMSE", "MAE", "R2", ""});
    for (std::size_t i = 0; i < evaluation.of_k.size(); ++i) {
      const EvaluationOfK& of_k = evaluation.of_k[i];
      const std::string mark = i == evaluation.best ? "best" : "";
      if (nominal) {
        const ClassificationScores& s = of_k.classification;
        text.row(
            {std::to_string(of_k.k), format_score(s.accuracy), format_score(s.kappa), format_score(s.macro_f1), mark});
      } else {
        const RegressionScores& s = of_k.regression;
        text.row({std::to_string(of_k.k), format_value(s.rmse), format_value(s.mae), format_score(s.r2), mark});
      }
    }
    return text.text(2);
  }

  std::string table_;
  OutputArguments output_;
  PageOutput page_;
  bool leave_one_out_ = false;
  EvaluateOptions options_;
  TableArguments tables_;
  KnnArguments knn_;
};

}  // namespace

std::unique_ptr<Command> add_evaluate(CLI::App& program) {
  return std::make_unique<Evaluate>(program);
}

}  // namespace stope::cli
