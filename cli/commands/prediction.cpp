// Options, tables and output of classify and regress (cli/commands/prediction.hpp).
#include "commands/prediction.hpp"

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"

namespace stope::cli {

void PredictionArguments::add_to(CLI::App& app) {
  add_argument(app, "TRAIN", train, "TABLE", "Training table; '-' reads stdin");
  add_argument(app, "TEST", test, "TABLE",
               "Table to predict; its columns are matched by name, its label may be missing; may itself be absent "
               "where --model-out is given",
               Required::no);
  OptionGroup group(app, "Prediction");
  group.integer("-k,--n-neighbors", n_neighbors, "K", "Neighbours that vote [" + std::to_string(n_neighbors) + "]");
  group.choice(
      "--weights", weights, {"uniform", "distance"},
      "Votes: all the same, or by 1/distance (RapidMiner's weighted vote under --compat rapidminer) [" + weights + "]");
  OptionGroup(app, "Output").text("-o,--output", output, "FILE", "File for the predictions; default: stdout");
  model.add_to(app);
  knn.add_to(app);
  tables.add_to(app, Tables::two);
}

VoteOptions PredictionArguments::vote() const {
  VoteOptions vote;
  vote.n_neighbors = n_neighbors;
  vote.weights = weights == "distance" ? VoteWeights::distance : VoteWeights::uniform;
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
  if (!predicts && !arguments.output.empty()) {
    throw Error(ErrorCode::invalid_argument, "-o needs TEST");
  }

  PredictionJob job;
  if (predicts && session.wants_data(arguments.output)) job.file.emplace(output_path(arguments.output));
  arguments.model.open(session, predicts ? arguments.output : "the model alone");
  session.timed("read", [&] {
    job.train = arguments.tables.read_first(arguments.train, session.run());
    session.hold({&job.train});
    require_rows(job.train, arguments.train);
    if (job.train.find(Role::label) < 0) {
      throw Error(ErrorCode::invalid_argument,
                  arguments.train + ": which column is the label? Name it with --target, or by its role in --schema");
    }
    if (predicts) job.test = arguments.tables.read_second(arguments.test, job.train, session.run());
    session.hold({&job.train, &job.test});
  });
  session.note_input("train", arguments.train, job.train);
  if (predicts) session.note_input("test", arguments.test, job.test);
  job.columns = outline(job.train);
  job.options = arguments.knn.prepare(session, job.train, predicts ? &job.test : nullptr, &job.normalizer);
  return job;
}

const Column* label_to_score(Session& session, const PredictionJob& job, ValueType wanted, std::int64_t row_bytes) {
  const Column* label = column_of(job.test, Role::label);
  if (label == nullptr) return nullptr;
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
  session.hold({&job.train, &job.test}, job.test.n_rows * row_bytes);
  return label;
}

void note_prediction(Session& session, const PredictionArguments& arguments, const SearchReport& report) {
  arguments.knn.note(session, {{"n_neighbors", arguments.n_neighbors}, {"weights", arguments.weights}}, report);
}

void write_neighbors(Session& session, PredictionArguments& arguments, const PredictionJob& job) {
  if (!arguments.model.wanted()) return;
  NeighborsModel fitted;
  fitted.train = job.train;
  fitted.options = job.options;
  fitted.normalizer = job.normalizer;
  fitted.n_neighbors = arguments.n_neighbors;
  fitted.weights = arguments.vote().weights;
  arguments.model.write(session, {job.columns, fitted});
}

PredictionWriter::PredictionWriter(std::optional<OutputFile>& file, const Table& test,
                                   const std::vector<std::string>& names)
    : id_(column_of(test, Role::id)) {
  if (!file) return;
  csv_.emplace(*file).text("row");
  for (const std::string& name : names) csv_->text(name);
  if (id_ != nullptr) csv_->text(id_->name);
  csv_->end_row();
}

void PredictionWriter::end_row(std::int64_t row) {
  if (!csv_) return;
  if (id_ != nullptr) csv_->cell(*id_, row);
  csv_->end_row();
}

void PredictionWriter::flush() {
  if (csv_) csv_->flush();
}

}  // namespace stope::cli
