// stope classify predicts the class of every row of a test table, by the votes of its neighbours.
#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "commands/prediction.hpp"
#include "report/score_report.hpp"
#include "stope/eval.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope classify train.csv test.csv --target class\n"
    "  stope classify train.csv test.csv --target class -k 11 --weights distance --normalize z --proba -o out.csv\n"
    "  stope classify train.arff test.arff --target class --metric gower --json -o out.csv > run.json\n";

constexpr std::int64_t kScoreBytes = 2 * sizeof(std::int32_t);  // per row: its class and the predicted class

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
    if (arguments_.test.empty()) {
      save(session, job);
      return;
    }
    const Column* label = label_to_score(session, job, ValueType::nominal, kScoreBytes);
    const auto classifier =
        session.timed("fit", [&] { return KnnClassifier::fit(job.train, job.options, session.run()); });
    const std::vector<std::string>& classes = column_of(job.train, Role::label)->values;
    PredictionWriter out(job.file, job.test, names(classes));
    std::vector<std::int32_t> predicted;
    const SearchReport report = session.timed("search", [&] {
      return classifier.predict(job.test, arguments_.vote(), session.run(),
                                [&](std::int64_t first_row, const Classification& block) {
                                  write(out, first_row, block);
                                  if (label == nullptr) return;
                                  predicted.insert(predicted.end(), block.codes.begin(), block.codes.end());
                                });
    });
    out.flush();
    write_neighbors(session, arguments_, job);
    commit_files(session, {&job.file, &arguments_.model.file});
    note_prediction(session, arguments_, report);
    if (label != nullptr) report_scores(session, *label, classes, predicted);
  }

 private:
  void save(Session& session, const PredictionJob& job) {
    session.timed("fit",
                  [&] { return KnnClassifier::fit(job.train, job.options, session.run()); });  // fits, or refuses
    write_neighbors(session, arguments_, job);
    commit_files(session, {&arguments_.model.file});
  }

  std::vector<std::string> names(const std::vector<std::string>& classes) const {
    std::vector<std::string> names = {"prediction"};
    if (!with_confidences_) return names;
    for (const std::string& name : classes) names.push_back("confidence(" + name + ")");
    return names;
  }

  void write(PredictionWriter& out, std::int64_t first_row, const Classification& block) const {
    const std::size_t n_confidences = with_confidences_ ? block.classes.size() : 0;
    for (std::size_t i = 0; i < block.codes.size(); ++i) {
      out.row(first_row + static_cast<std::int64_t>(i), [&](CsvWriter& csv) {
        const std::int32_t code = block.codes[i];
        csv.text(code < 0 ? "?" : block.classes[static_cast<std::size_t>(code)]);
        for (std::size_t c = 0; c < n_confidences; ++c) csv.number(block.confidences[i * n_confidences + c]);
      });
    }
  }

  PredictionArguments arguments_;
  bool with_confidences_ = false;
};

}  // namespace

std::unique_ptr<Command> add_classify(CLI::App& program) {
  return std::make_unique<Classify>(program);
}

}  // namespace stope::cli
