// Shared by classify and regress: their options, the preparation of both tables, and the output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments/explain_arguments.hpp"
#include "arguments/knn_arguments.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
#include "report/record_writer.hpp"
#include "report/session.hpp"
#include "stope/eval.hpp"
#include "stope/knn.hpp"

namespace stope::cli {

struct PredictionArguments {
  std::string train, test;
  OutputArguments output;
  bool scores = true;  // where the test table has the label
  std::int64_t n_neighbors = VoteOptions{}.n_neighbors;
  VoteWeights weights = VoteWeights::uniform;
  TableArguments tables;
  KnnArguments knn;
  ModelOutput model;
  ExplainArguments explain;

  /// `command` is the name in the table of outputs.
  void add_to(CLI::App& app, std::string_view command);
  VoteOptions vote() const;
};

/// Adds --scores, which classify, regress and predict have.
void add_scores(CLI::App& app, bool& scores);

/// Both tables, ready for a search, and the open output.
struct PredictionJob {
  std::optional<OutputFile> file;  // absent where nothing is predicted
  Table columns;                   // columns of the training table as it was read
  NeighborsModel model;
  Table test;  // normalised; without columns if only a model is wanted
};

/// Checks the options, opens the outputs, reads and prepares the tables. This order makes mistakes show early.
PredictionJob open_prediction(Session& session, PredictionArguments& arguments);

/// Explains the predictions, if that is wanted: before anything is committed.
void explain_predictions(Session& session, PredictionArguments& arguments, const PredictionJob& job);

/// Writes the model into its open file, if a model is wanted, and commits all files.
void save_neighbors(Session& session, PredictionArguments& arguments, PredictionJob& job);

/// The label column of the test table to score against, or null, with a warning if scoring is impossible: the column is
/// of another kind, or the memory limit has no room for the `row_bytes` per row that scoring holds.
const Column* label_to_score(Session& session, const PredictionJob& job, ValueType wanted, std::int64_t row_bytes);

/// Notes the options and the plan.
void note_prediction(Session& session, const PredictionArguments& arguments, const SearchReport& report);

/// Writes the output, if there is one, row by row: the row's number, its cells under `names`, and its id if the test
/// table has an id column. `format` is that of --output-format. Tells `run`, which outlives it, of long writing.
class PredictionWriter {
 public:
  PredictionWriter(const RunOptions& run, std::optional<OutputFile>& file, const std::string& format, const Table& test,
                   const std::vector<std::string>& names);

  /// `cells` writes the cells under the names.
  template <class Cells>
  void row(std::int64_t row, const Cells& cells) {
    if (!csv_) return;
    csv_->integer(row);
    cells(*csv_);
    end_row(row);
  }
  /// Hands all that is buffered to the file, which the caller commits.
  void flush();

 private:
  void end_row(std::int64_t row);

  const RunOptions& run_;
  std::int64_t n_rows_, n_cells_;  // all rows; cells of one
  std::int64_t untold_ = 0;        // cells
  const Column* id_ = nullptr;
  std::optional<RecordWriter> csv_;
};

/// Writes classes as they are predicted: a sink. Keeps them where there is a label to score against.
class ClassOutput {
 public:
  /// `more` names columns behind those of the classes; `cells` of row() fills them.
  ClassOutput(const RunOptions& run, std::optional<OutputFile>& file, const std::string& format, const Table& test,
              const Values& classes, bool with_confidences, const Column* label,
              const std::vector<std::string>& more = {});

  void operator()(std::int64_t first_row, const Classification& block) {
    for (std::size_t i = 0; i < block.codes.size(); ++i) row(first_row, block, i, [](RecordWriter&) {});
  }
  template <class Cells>
  void row(std::int64_t first_row, const Classification& block, std::size_t i, const Cells& cells) {
    if (label_ != nullptr) predicted_.push_back(block.codes[i]);
    out_.row(first_row + static_cast<std::int64_t>(i), [&](RecordWriter& csv) {
      write(csv, block, i);
      cells(csv);
    });
  }
  void flush() { out_.flush(); }
  /// Computes the scores, if there is a label: before the output is committed, so that what fails leaves none behind.
  void score(Session& session);
  /// Reports the scores.
  void report(Session& session);

 private:
  void write(RecordWriter& csv, const Classification& block, std::size_t i) const;

  const Column* label_;
  Values classes_;
  bool with_confidences_;
  PredictionWriter out_;
  std::vector<std::int32_t> predicted_;
  std::optional<ClassificationScores> scores_;
};

/// Writes numbers as they are predicted, and keeps them for the scores.
class NumberOutput {
 public:
  /// `more` names columns behind the prediction; `cells` of row() fills them.
  NumberOutput(const RunOptions& run, std::optional<OutputFile>& file, const std::string& format, const Table& test,
               const Column* label, const std::vector<std::string>& more = {});
  void operator()(std::int64_t first_row, std::span<const double> block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      row(first_row + static_cast<std::int64_t>(i), block[i], [](RecordWriter&) {});
    }
  }
  template <class Cells>
  void row(std::int64_t row, double number, const Cells& cells) {
    if (label_ != nullptr) predicted_.push_back(number);
    out_.row(row, [&](RecordWriter& csv) {
      csv.number(number);
      cells(csv);
    });
  }
  void flush() { out_.flush(); }
  void report(Session& session) const;

 private:
  const Column* label_;
  PredictionWriter out_;
  std::vector<double> predicted_;
};

}  // namespace stope::cli
