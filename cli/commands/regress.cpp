// stope regress predicts a number for every row of a test table: the mean of its neighbours' labels.
#include <functional>

#include "commands/command.hpp"
#include "commands/prediction.hpp"

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
    arguments_.add_to(*app, "regress");
    add_common(kExamples);
  }

  void run(Session& session) override {
    PredictionJob job = open_prediction(session, arguments_);
    const bool predicts = !arguments_.test.empty();
    const Column* const label =
        predicts && arguments_.scores ? label_to_score(session, job, ValueType::real, kScoreBytes) : nullptr;
    const auto regressor =
        session.timed("fit", [&] { return KnnRegressor::fit(job.model.train, job.model.options, session.run()); });
    if (!predicts) {
      save_neighbors(session, arguments_, job);
      return;
    }
    NumberOutput out(session.run(), job.file, arguments_.output.format, job.test, label);
    const SearchReport report = session.timed(
        "search", [&] { return regressor.predict(job.test, job.model.vote(), session.run(), std::ref(out)); });
    out.flush();
    note_prediction(session, arguments_, report);
    out.report(session);
    explain_predictions(session, arguments_, job);
    save_neighbors(session, arguments_, job);
  }

 private:
  PredictionArguments arguments_;
};

}  // namespace

std::unique_ptr<Command> add_regress(CLI::App& program) {
  return std::make_unique<Regress>(program);
}

}  // namespace stope::cli
