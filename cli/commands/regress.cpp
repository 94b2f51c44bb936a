// stope regress predicts a number for every row of a test table: the mean of its neighbours' labels.
#include <span>

#include "commands/command.hpp"
#include "commands/prediction.hpp"
#include "report/score_report.hpp"
#include "stope/eval.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope regress train.csv test.csv --target price\n"
    "  stope regress train.csv test.csv --target price -k 9 --weights distance --normalize range -o out.csv\n";

// What the scores hold per row: its label, the prediction, and the terms of three sums.
constexpr std::int64_t kScoreBytes = 5 * sizeof(double);

class Regress : public Command {
 public:
  explicit Regress(CLI::App& program)
      : Command(
            program, "regress", "Predict a number for every row of a table",
            "Predicts the label of every row of TEST as the mean of its nearest rows in TRAIN, and writes CSV: row, "
            "prediction. "
            "Where TEST has the label, the scores go to stderr.") {
    arguments_.add_to(*app);
    add_common(kExamples);
  }

  void run(Session& session) override {
    PredictionJob job = open_prediction(session, arguments_);
    if (arguments_.test.empty()) {
      save(session, job);
      return;
    }
    const Column* label = label_to_score(session, job, ValueType::real, kScoreBytes);
    const auto regressor =
        session.timed("fit", [&] { return KnnRegressor::fit(job.train, job.options, session.run()); });
    PredictionWriter out(job.file, job.test, {"prediction"});
    std::vector<double> predicted;
    const SearchReport report = session.timed("search", [&] {
      return regressor.predict(
          job.test, arguments_.vote(), session.run(), [&](std::int64_t first_row, std::span<const double> block) {
            for (std::size_t i = 0; i < block.size(); ++i) {
              out.row(first_row + static_cast<std::int64_t>(i), [&](CsvWriter& csv) { csv.number(block[i]); });
            }
            if (label != nullptr) predicted.insert(predicted.end(), block.begin(), block.end());
          });
    });
    out.flush();
    write_neighbors(session, arguments_, job);
    commit_files(session, {&job.file, &arguments_.model.file});
    note_prediction(session, arguments_, report);
    if (label != nullptr) report_scores(session, score_against(*label, predicted));
  }

 private:
  void save(Session& session, const PredictionJob& job) {
    session.timed("fit", [&] { return KnnRegressor::fit(job.train, job.options, session.run()); });  // fits, or refuses
    write_neighbors(session, arguments_, job);
    commit_files(session, {&arguments_.model.file});
  }

  PredictionArguments arguments_;
};

}  // namespace

std::unique_ptr<Command> add_regress(CLI::App& program) {
  return std::make_unique<Regress>(program);
}

}  // namespace stope::cli
