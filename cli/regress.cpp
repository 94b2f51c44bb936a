// stope regress: a number for every row of a test table, the mean of its neighbours.
#include "command.hpp"
#include "prediction.hpp"
#include "score_report.hpp"
#include "stope/eval.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope regress train.csv test.csv --target price\n"
    "  stope regress train.csv test.csv --target price -k 9 --weights distance --normalize range -o out.csv\n";

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
    const auto regressor =
        session.timed("fit", [&] { return KnnRegressor::fit(job.train, job.options, session.run()); });
    SearchReport report;
    const std::vector<std::vector<double>> results = session.timed("search", [&] {
      return regressor.predict_each(job.test, {arguments_.n_neighbors}, arguments_.vote(), session.run(), &report);
    });
    note_prediction(session, arguments_, report);
    write_predictions(session, job, {"prediction"},
                      [&](CsvWriter& csv, std::int64_t row) { csv.number(results[0][static_cast<std::size_t>(row)]); });
    const Column* label = label_to_score(session, job.test, ValueType::real);
    if (label == nullptr) return;
    std::vector<double> truth(results[0].size());
    for (std::size_t row = 0; row < truth.size(); ++row) truth[row] = label->at(static_cast<std::int64_t>(row));
    const RegressionScores scores = score_regression(truth, results[0]);
    session.json()["scores"] = score_json(scores);
    session.say(scores.n_rows > 0 ? score_text(scores) : "no row of the test table has a label: no scores\n");
  }

 private:
  PredictionArguments arguments_;
};

}  // namespace

std::unique_ptr<Command> add_regress(CLI::App& program) {
  return std::make_unique<Regress>(program);
}

}  // namespace stope::cli
