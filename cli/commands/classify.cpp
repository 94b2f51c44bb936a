// stope classify predicts the class of every row of a test table, by the votes of its neighbours.
#include <functional>

#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "commands/prediction.hpp"
#include "stope/eval.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope classify train.csv test.csv --target class\n"
    "  stope classify train.csv test.csv --target class -k 11 --weights distance --normalize z --proba -o out.csv\n"
    "  stope classify train.arff test.arff --target class --metric gower --json -o out.csv > run.json\n";

// What scoring holds per row: its class, the predicted class, and what the scores need.
std::int64_t score_bytes(const PredictionJob& job) {
  return static_cast<std::int64_t>(2 * sizeof(std::int32_t)) +
         score_bytes_per_row(column_of(job.model.train, Role::label)->values);
}

class Classify : public Command {
 public:
  explicit Classify(CLI::App& program)
      : Command(program, "classify", "Predict the class of every row of a table",
                "Predicts the class of every row of TEST from its nearest rows in TRAIN, and writes CSV: row, "
                "prediction and, "
                "with "
                "--proba, a confidence for every class. Where TEST has the label, the scores go to stderr.") {
    arguments_.add_to(*app, "classify");
    OptionGroup(*app, "Prediction").flag("--proba", with_confidences_, "Write the confidence of every class, too");
    arguments_.knn.add_class_weights(*app);
    add_common(kExamples);
    arguments_.tables.read.target_is_nominal = true;
  }

  void run(Session& session) override {
    PredictionJob job = open_prediction(session, arguments_);
    const bool predicts = !arguments_.test.empty();
    const Column* const label =
        predicts && arguments_.scores ? label_to_score(session, job, ValueType::nominal, score_bytes(job)) : nullptr;
    const auto classifier =
        session.timed("fit", [&] { return KnnClassifier::fit(job.model.train, job.model.options, session.run()); });
    if (!predicts) {
      save_neighbors(session, arguments_, job);
      return;
    }
    const Column& classes = *column_of(job.model.train, Role::label);
    ClassOutput out(session.run(), job.file, arguments_.output.format, job.test, classes.values, with_confidences_,
                    label);
    VoteOptions vote = job.model.vote();
    vote.confidences = with_confidences_ ? Confidences::all : Confidences::none;
    const SearchReport report =
        session.timed("search", [&] { return classifier.predict(job.test, vote, session.run(), std::ref(out)); });
    out.flush();
    out.score(session);
    explain_predictions(session, arguments_, job);
    save_neighbors(session, arguments_, job);
    note_prediction(session, arguments_, report);
    out.report(session);
  }

 private:
  PredictionArguments arguments_;
  bool with_confidences_ = false;
};

}  // namespace

std::unique_ptr<Command> add_classify(CLI::App& program) {
  return std::make_unique<Classify>(program);
}

}  // namespace stope::cli
