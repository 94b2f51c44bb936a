// stope classify: the class of every row of a test table, by the votes of its neighbours.
#include <unordered_map>

#include "command.hpp"
#include "option.hpp"
#include "prediction.hpp"
#include "score_report.hpp"
#include "stope/eval.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope classify train.csv test.csv --target class\n"
    "  stope classify train.csv test.csv --target class -k 11 --weights distance --normalize z --proba -o out.csv\n"
    "  stope classify train.arff test.arff --target class --metric gower --json -o out.csv > run.json\n";

/// Scores against the label of the test table, its values matched by name. A value the training table does not know
/// becomes a further class, which no prediction can hit: such a row counts as wrong.
ClassificationScores score(const Classification& result, const Column& label) {
  std::vector<std::string> classes = result.classes;
  std::unordered_map<std::string, std::int32_t> code_of;
  for (std::size_t c = 0; c < classes.size(); ++c) code_of.emplace(classes[c], static_cast<std::int32_t>(c));
  std::vector<std::int32_t> truth(result.codes.size(), kMissingCode);
  for (std::size_t row = 0; row < truth.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row);
    if (label.missing(at)) continue;
    const std::string& value = label.values[static_cast<std::size_t>(label.codes()[at])];
    const auto [entry, is_new] = code_of.emplace(value, static_cast<std::int32_t>(classes.size()));
    if (is_new) classes.push_back(value);
    truth[row] = entry->second;
  }
  return score_classification(classes, truth, result.codes);
}

class Classify : public Command {
 public:
  explicit Classify(CLI::App& program)
      : Command(program, "classify", "Predict the class of every row of a table",
                "Predicts the class of every row of TEST from its nearest rows in TRAIN, and writes CSV: row, "
                "prediction and, "
                "with "
                "--proba, a confidence for every class. Where TEST has the label, the scores go to stderr.") {
    arguments_.add_to(*app);
    OptionGroup(*app, "Prediction").flag("--proba", with_confidences_, "Write the confidence of every class, too");
    add_common(kExamples);
    arguments_.tables.read.target_is_nominal = true;
  }

  void run(Session& session) override {
    PredictionJob job = open_prediction(session, arguments_);
    const auto classifier =
        session.timed("fit", [&] { return KnnClassifier::fit(job.train, job.options, session.run()); });
    SearchReport report;
    const std::vector<Classification> results = session.timed("search", [&] {
      return classifier.predict_each(job.test, {arguments_.n_neighbors}, arguments_.vote(), session.run(), &report);
    });
    note_prediction(session, arguments_, report);
    write(session, job, results[0]);
    const Column* label = label_to_score(session, job.test, ValueType::nominal);
    if (label == nullptr) return;
    const ClassificationScores scores = score(results[0], *label);
    session.json()["scores"] = score_json(scores);
    session.say(scores.n_rows > 0 ? score_text(scores) : "no row of the test table has a label: no scores\n");
  }

 private:
  void write(Session& session, PredictionJob& job, const Classification& result) const {
    const std::size_t n_confidences = with_confidences_ ? result.classes.size() : 0;
    std::vector<std::string> names = {"prediction"};
    for (std::size_t c = 0; c < n_confidences; ++c) names.push_back("confidence(" + result.classes[c] + ")");
    write_predictions(session, job, names, [&](CsvWriter& csv, std::int64_t at) {
      const auto row = static_cast<std::size_t>(at);
      const std::int32_t code = result.codes[row];
      csv.text(code < 0 ? "?" : result.classes[static_cast<std::size_t>(code)]);
      for (std::size_t c = 0; c < n_confidences; ++c) csv.number(result.confidences[row * n_confidences + c]);
    });
  }

  PredictionArguments arguments_;
  bool with_confidences_ = false;
};

}  // namespace

std::unique_ptr<Command> add_classify(CLI::App& program) {
  return std::make_unique<Classify>(program);
}

}  // namespace stope::cli
