// Shared by classify and regress: their options, the preparation of both tables, and the output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arguments/knn_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
#include "report/session.hpp"
#include "stope/knn.hpp"

namespace stope::cli {

struct PredictionArguments {
  std::string train, test, output;
  std::int64_t n_neighbors = VoteOptions{}.n_neighbors;
  std::string weights = "uniform";
  TableArguments tables;
  KnnArguments knn;
  ModelOutput model;

  void add_to(CLI::App& app);
  VoteOptions vote() const;
};

/// Both tables, ready for a search, and the open output.
struct PredictionJob {
  std::optional<OutputFile> file;  // absent where --json leaves no room for data
  Table columns;                   // columns of the training table as it was read
  Table train, test;               // test has no columns if only a model is wanted
  Normalizer normalizer;
  KnnOptions options;
};

/// Checks the options, opens the outputs, reads and prepares the tables. This order makes mistakes show early.
PredictionJob open_prediction(Session& session, PredictionArguments& arguments);

/// Writes the model into its open file, if a model is wanted.
void write_neighbors(Session& session, PredictionArguments& arguments, const PredictionJob& job);

/// The label column of the test table to score against, or null, with a warning if scoring is impossible: the column is
/// of another kind, or the memory limit has no room for the `row_bytes` per row that scoring holds.
const Column* label_to_score(Session& session, const PredictionJob& job, ValueType wanted, std::int64_t row_bytes);

/// Notes the options and the plan.
void note_prediction(Session& session, const PredictionArguments& arguments, const SearchReport& report);

/// Writes the output, if there is one, row by row: the row's number, its cells under `names`, and its id if the test
/// table has an id column.
class PredictionWriter {
 public:
  PredictionWriter(std::optional<OutputFile>& file, const Table& test, const std::vector<std::string>& names);

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

  const Column* id_ = nullptr;
  std::optional<CsvWriter> csv_;
};

}  // namespace stope::cli
