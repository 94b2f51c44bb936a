// What classify and regress share (cli/prediction.hpp).
#include "prediction.hpp"

#include "option.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "value.hpp"

namespace stope::cli {

void PredictionArguments::add_to(CLI::App& app) {
  add_argument(app, "TRAIN", train, "TABLE", "Training table; '-' reads stdin");
  add_argument(app, "TEST", test, "TABLE",
               "Table to predict; its columns are matched by name, its label may be missing");
  OptionGroup group(app, "Prediction");
  group.integer("-k,--n-neighbors", n_neighbors, "K", "Neighbours that vote [" + std::to_string(n_neighbors) + "]");
  group.choice(
      "--weights", weights, {"uniform", "distance"},
      "Votes: all the same, or by 1/distance (RapidMiner's weighted vote under --compat rapidminer) [" + weights + "]");
  group.text("-o,--output", output, "FILE", "File for the predictions; without it stdout");
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

PredictionJob open_prediction(Session& session, const PredictionArguments& arguments) {
  arguments.vote();
  arguments.knn.options();
  arguments.knn.normalization();
  require_one_stdin(arguments.train, arguments.test);
  require_backend(session.run());

  PredictionJob job;
  if (session.wants_data(arguments.output)) job.file.emplace(output_path(arguments.output));
  session.timed("read", [&] {
    job.train = arguments.tables.read_first(arguments.train, session.run());
    session.hold({&job.train});
    require_rows(job.train, arguments.train);
    if (job.train.find(Role::label) < 0) {
      throw Error(ErrorCode::invalid_argument,
                  arguments.train + ": which column is the label? Name it with --target, or by its role in --schema");
    }
    job.test = arguments.tables.read_second(arguments.test, job.train, session.run());
    session.hold({&job.train, &job.test});
  });
  session.note_input("train", arguments.train, job.train);
  session.note_input("test", arguments.test, job.test);
  job.options = arguments.knn.prepare(session, job.train, &job.test);
  return job;
}

const Column* label_to_score(Session& session, const PredictionJob& job, ValueType wanted, std::int64_t row_bytes) {
  const Column* label = column_of(job.test, Role::label);
  if (label == nullptr) return nullptr;
  if (label->nominal() != is_nominal(wanted)) {
    session.warn("no scores: the label '" + label->name + "' of the test table is " +
                 (label->nominal() ? "nominal" : "numeric") + ", that of the training table is not");
    return nullptr;
  }
  const std::int64_t limit = session.run().memory_limit;
  if (limit > 0 && job.test.n_rows > limit / 2 / row_bytes) {
    session.warn("no scores: they need " + std::to_string(row_bytes) + " bytes a row, " + std::to_string(limit) +
                 " bytes are left of the memory limit");
    return nullptr;
  }
  session.hold({&job.train, &job.test}, job.test.n_rows * row_bytes);
  return label;
}

void note_prediction(Session& session, const PredictionArguments& arguments, const SearchReport& report) {
  arguments.knn.note(session, {{"n_neighbors", arguments.n_neighbors}, {"weights", arguments.weights}}, report);
}

PredictionWriter::PredictionWriter(PredictionJob& job, const std::vector<std::string>& names)
    : job_(job), id_(column_of(job.test, Role::id)) {
  if (!job.file) return;
  csv_.emplace(*job.file).text("row");
  for (const std::string& name : names) csv_->text(name);
  if (id_ != nullptr) csv_->text(id_->name);
  csv_->end_row();
}

void PredictionWriter::end_row(std::int64_t row) {
  if (!csv_) return;
  if (id_ != nullptr) csv_->cell(*id_, row);
  csv_->end_row();
}

void PredictionWriter::commit(Session& session) {
  if (!csv_ || !job_.file) return;
  CsvWriter& csv = *csv_;
  OutputFile& file = *job_.file;
  session.timed("write", [&] {
    csv.flush();
    file.commit();
  });
  session.note_output(file.path());
}

}  // namespace stope::cli
