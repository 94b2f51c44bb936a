// stope lsq fits least squares and ridge regression, and predicts with their coefficients.
#include "stope/lsq.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "arguments/decompose_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "commands/command.hpp"
#include "commands/prediction.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
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
    "  stope lsq table.csv --target price --standard-errors -o coefficients.csv\n"
    "  stope lsq genes.csv --target survival --alpha 10 -o coefficients.csv\n"
    "  stope lsq more.csv --apply coefficients.csv --target price -o predictions.csv\n";

class Lsq : public Command {
 public:
  explicit Lsq(CLI::App& program)
      : Command(
            program, "lsq", "Least squares and ridge regression",
            "Fits the target as a linear function of the numeric attributes and writes the coefficients as CSV. With "
            "--apply it writes the predictions of an earlier fit instead: row, prediction; where the table has the "
            "target, the scores go to stderr.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to fit or to predict; '-' reads stdin");
    OptionGroup group(*app, "Least squares");
    group.real("--alpha", options_.alpha, "A",
               "Ridge: penalty on the squares of the coefficients, not the intercept [0]");
    group.flag("--no-intercept", no_intercept_, "Fit without an intercept");
    group.flag("--standard-errors", options_.standard_errors, "Also compute standard errors of the coefficients");
    group.real("--tolerance", options_.tolerance, "T",
               "lsqr stops at this angle between residual and attributes [1e-10]");
    group.integer(
        "--max-iterations", options_.max_iterations, "N",
        "lsqr takes at most this many steps; default: four times the smaller of rows and attributes, and 100");
    decompose_.add_to(*app, "coefficients");
    output_.add_to(*app, "lsq", "File for coefficients or predictions; default: stdout");
    model_.add_to(*app);
    tables_.after.add_to(*app);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check_options();
    std::optional<OutputFile> file;
    file.emplace(session.data_path(output_.path, decompose_.apply.empty() ? "coefficients" : "predictions"),
                 session.run().cancel);
    model_.open(session, output_.path);
    require_backend(session.run());
    if (decompose_.apply.empty()) {
      fit(session, file);
    } else {
      predict(session, file);
    }
    commit_files(session, {&file, &model_.file});
  }

 private:
  void check_options() {
    tables_.refuse_imputation_as_spelling();
    options_.fit_intercept = !no_intercept_;
    options_.missing = decompose_.missing();
    options_.nominal = decompose_.nominal();
    if (count("--max-iterations") > 0 && options_.max_iterations < 1) {
      throw Error(ErrorCode::invalid_argument, "--max-iterations is below 1");
    }
    if (decompose_.apply.empty()) {
      if (tables_.read.target.empty() && tables_.read.schema.empty()) {
        throw Error(ErrorCode::invalid_argument, "--target names the column to fit");
      }
      return;
    }
    for (const char* option :
         {"--alpha", "--no-intercept", "--standard-errors", "--tolerance", "--max-iterations", "--model-out"}) {
      if (count(option) == 0) continue;
      throw Error(ErrorCode::invalid_argument,
                  std::string(option) + " cannot be used with --apply, which fits nothing");
    }
    require_one_stdin(table_, decompose_.apply);
  }

  Table read(Session& session) {
    Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    return table;
  }

  void fit(Session& session, std::optional<OutputFile>& file) {
    const Table table = read(session);
    const LinearModel model = session.timed("fit", [&] { return LinearModel::fit(table, options_, session.run()); });
    const DecomposeReport& report = model.report();
    session.note_plan(report);
    const double rmse = std::sqrt(model.residual_sum_of_squares() / static_cast<double>(report.n_samples));
    session.json()["options"] = {{"alpha", options_.alpha},
                                 {"intercept", options_.fit_intercept},
                                 {"standard_errors", options_.standard_errors},
                                 {"impute", decompose_.impute}};
    session.json()["fit"] = {{"r2", model.r2()},
                             {"residual_sum_of_squares", model.residual_sum_of_squares()},
                             {"intercept", model.intercept()}};
    if (model.rank() >= 0) session.json()["fit"]["rank"] = model.rank();
    session.say(fmt::format("{} from {}: R2 {}, residual sum of squares {}, root mean square {}\n",
                            counted(report.n_features, "coefficient"), counted(report.n_samples, "row"),
                            format_score(model.r2()), format_value(model.residual_sum_of_squares()),
                            format_value(rmse)));
    if (file) write_result(*file, output_.format, model.to_table(), {}, session.run());
    model_.write(session, tables_.after.joined({outline(table), model}));
  }

  void predict(Session& session, std::optional<OutputFile>& file) {
    const LinearModel model = session.timed("read", [&] {
      return LinearModel::from_table(read_fitted(decompose_.apply, session.run()), decompose_.missing());
    });
    const Table table = read(session);
    const std::vector<double> predicted = session.timed("predict", [&] { return model.predict(table, session.run()); });
    write_predictions(session.run(), file, table, predicted);
    const std::int64_t label = table.find(Role::label);
    if (label < 0) return;
    const Column& column = table.columns[static_cast<std::size_t>(label)];
    if (column.nominal()) {
      session.warn("no scores: the target '" + column.name + "' is nominal here");
      return;
    }
    report_scores(session, score_against(column, predicted));
  }

  void write_predictions(const RunOptions& run, std::optional<OutputFile>& file, const Table& table,
                         const std::vector<double>& predicted) const {
    PredictionWriter out(run, file, output_.format, table, {"prediction"});
    for (std::size_t row = 0; row < predicted.size(); ++row) {
      out.row(static_cast<std::int64_t>(row), [&](RecordWriter& csv) { csv.number(predicted[row]); });
    }
    out.flush();
  }

  std::string table_;
  OutputArguments output_;
  bool no_intercept_ = false;
  LsqOptions options_;
  ModelOutput model_;
  DecomposeArguments decompose_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_lsq(CLI::App& program) {
  return std::make_unique<Lsq>(program);
}

}  // namespace stope::cli
