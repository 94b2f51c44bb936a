// Options, tables and output of classify and regress (cli/commands/prediction.hpp).
#include "commands/prediction.hpp"

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "report/score_report.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"

namespace stope::cli {

void PredictionArguments::add_to(CLI::App& app, std::string_view command) {
  add_argument(app, "TRAIN", train, "TABLE", "Training table; '-' reads stdin");
  add_argument(app, "TEST", test, "TABLE",
               "Table to predict; its columns are matched by name, its label may be missing; may itself be absent "
               "where --model-out is given",
               Required::no);
  OptionGroup group(app, "Prediction");
  group.integer("-k,--n-neighbors", n_neighbors, "K", "Neighbours that vote [" + std::to_string(n_neighbors) + "]");
  group.choice("--weights", weights,
               "Votes: all the same, or by 1/distance (RapidMiner's weighted vote under --compat rapidminer)");
  output.add_to(app, command, "File for the predictions; default: stdout");
  add_scores(app, scores);
  model.add_to(app);
  explain.add_to(app);
  knn.add_to(app);
  tables.add_to(app, Tables::two);
}

void add_scores(CLI::App& app, bool& scores) {
  OptionGroup(app, "Output")
      .parsed("--scores", "yes|no", "Whether predictions are scored where the table has the label [yes]",
              [&scores](const std::string& word) {
                require_choice(word, {"yes", "no"}, "--scores");
                scores = word == "yes";
              });
}

VoteOptions PredictionArguments::vote() const {
  VoteOptions vote;
  vote.n_neighbors = n_neighbors;
  vote.weights = weights;
  if (n_neighbors < 1) {
    throw Error(ErrorCode::invalid_argument, "-k: " + std::to_string(n_neighbors) + " is not at least 1");
  }
  return vote;
}

PredictionJob open_prediction(Session& session, PredictionArguments& arguments) {
  arguments.vote();
  arguments.knn.options();
  arguments.knn.normalization();
  require_one_stdin(arguments.train, arguments.test);
  require_backend(session.run());
  const bool predicts = !arguments.test.empty();
  if (!predicts && !arguments.model.wanted()) {
    throw Error(ErrorCode::invalid_argument,
                "TEST is missing: which table is to be predicted? (--model-out only saves)");
  }
  if (!predicts && !arguments.output.path.empty()) {
    throw Error(ErrorCode::invalid_argument, "-o needs TEST");
  }

  if (!predicts && arguments.explain.wanted()) {
    throw Error(ErrorCode::invalid_argument, "--explain-out needs TEST");
  }

  PredictionJob job;
  arguments.explain.open(session, arguments.output.path);
  if (predicts) job.file.emplace(session.data_path(arguments.output.path, "predictions"), session.run().cancel);
  arguments.model.open(session, predicts ? arguments.output.path : "the model alone");
  Table train;
  session.timed("read", [&] {
    train = arguments.tables.read_first(arguments.train, session);
    session.hold({&train});
    require_rows(train, arguments.train);
    if (train.find(Role::label) < 0) {
      throw Error(ErrorCode::invalid_argument, "which column is the label?",
                  {.file = arguments.train, .option = "target"});
    }
    if (predicts) job.test = arguments.tables.read_second(arguments.test, train, session);
    session.hold({&train, &job.test});
  });
  session.note_input("train", arguments.train, train);
  if (predicts) session.note_input("test", arguments.test, job.test);
  job.columns = outline(train);
  job.model = arguments.knn.prepare(session, train, predicts ? &job.test : nullptr, arguments.vote());
  return job;
}

const Column* label_to_score(Session& session, const PredictionJob& job, ValueType wanted, std::int64_t row_bytes) {
  const Column* label = column_of(job.test, Role::label);
  if (label == nullptr) return nullptr;
  const Column* const learned = column_of(job.model.train, Role::label);
  if (learned->nominal() != is_nominal(wanted)) return nullptr;  // the fit refuses it, and says so
  if (label->nominal() != is_nominal(wanted)) {
    session.warn("no scores: the label '" + label->name + "' of the test table is " +
                 (label->nominal() ? "nominal" : "numeric") + ", but the training table's label is not");
    return nullptr;
  }
  const std::int64_t limit = session.run().memory_limit;
  if (limit > 0 && job.test.n_rows > limit / 2 / row_bytes) {
    session.warn("no scores: they need " + std::to_string(row_bytes) + " bytes per row, and the memory limit leaves " +
                 std::to_string(limit) + " bytes");
    return nullptr;
  }
  session.hold({&job.model.train, &job.test}, job.test.n_rows * row_bytes);
  return label;
}

void note_prediction(Session& session, const PredictionArguments& arguments, const SearchReport& report) {
  arguments.knn.note(session, {{"n_neighbors", arguments.n_neighbors}, {"weights", to_string(arguments.weights)}},
                     report);
}

void explain_predictions(Session& session, PredictionArguments& arguments, const PredictionJob& job) {
  if (!arguments.explain.wanted()) return;
  NeighborsModel model = job.model;
  model.normalizer = {};  // the test table is normalised already
  arguments.explain.write(session, Predictor({job.columns, std::move(model)}, session.run()), job.test);
}

void save_neighbors(Session& session, PredictionArguments& arguments, PredictionJob& job) {
  if (arguments.model.wanted()) arguments.model.write(session, {job.columns, job.model});
  commit_files(session, {&job.file, &arguments.model.file, &arguments.explain.file});
}

PredictionWriter::PredictionWriter(const RunOptions& run, std::optional<OutputFile>& file, const std::string& format,
                                   const Table& test, const std::vector<std::string>& names)
    : run_(run), n_rows_(test.n_rows), n_cells_(1 + std::ssize(names)), id_(column_of(test, Role::id)) {
  if (!file) return;
  csv_.emplace(*file, format).text("row");
  for (const std::string& name : names) csv_->text(name);
  if (id_ != nullptr) csv_->text(id_->name);
  csv_->end_row();
}

void PredictionWriter::end_row(std::int64_t row) {
  if (!csv_) return;
  constexpr std::int64_t kCells = std::int64_t{1} << 21;  // some tenths of a second
  if (id_ != nullptr) csv_->cell(*id_, row);
  csv_->end_row();
  untold_ += n_cells_;
  if (untold_ < kCells) return;
  untold_ = 0;
  run_.cancel.check();
  if (run_.progress) run_.progress("write", row + 1, n_rows_);
}

void PredictionWriter::flush() {
  if (csv_) csv_->finish();
}

namespace {

std::vector<std::string> names_of(const Values& classes, const std::vector<std::string>& more) {
  std::vector<std::string> names = {"prediction"};
  for (const std::string& name : classes) names.push_back("confidence(" + name + ")");
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::vector<std::string> number_names(const std::vector<std::string>& more) {
  std::vector<std::string> names = {"prediction"};
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

}  // namespace

ClassOutput::ClassOutput(const RunOptions& run, std::optional<OutputFile>& file, const std::string& format,
                         const Table& test, const Values& classes, bool with_confidences, const Column* label,
                         const std::vector<std::string>& more)
    : label_(label),
      classes_(classes),
      with_confidences_(with_confidences),
      out_(run, file, format, test, names_of(with_confidences ? classes : Values(), more)) {}

void ClassOutput::write(RecordWriter& csv, const Classification& block, std::size_t i) const {
  const std::int32_t code = block.codes[i];
  csv.text(code < 0 ? "?" : classes_[code]);
  const std::size_t n = with_confidences_ ? classes_.size() : 0;
  for (std::size_t c = 0; c < n; ++c) csv.number(block.confidences[i * n + c]);
}

void ClassOutput::score(Session& session) {
  if (label_ != nullptr) scores_ = score_against(*label_, {classes_, predicted_, {}}, session.run());
}

void ClassOutput::report(Session& session) {
  if (scores_) report_scores(session, *std::move(scores_));
}

NumberOutput::NumberOutput(const RunOptions& run, std::optional<OutputFile>& file, const std::string& format,
                           const Table& test, const Column* label, const std::vector<std::string>& more)
    : label_(label), out_(run, file, format, test, number_names(more)) {}

void NumberOutput::report(Session& session) const {
  if (label_ != nullptr) report_scores(session, score_against(*label_, predicted_));
}

}  // namespace stope::cli
