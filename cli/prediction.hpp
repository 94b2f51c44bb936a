// What classify and regress share: their options, reading and preparing both tables, and the output's outline.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "knn_arguments.hpp"
#include "output.hpp"
#include "session.hpp"
#include "stope/knn.hpp"
#include "table_arguments.hpp"

namespace stope::cli {

struct PredictionArguments {
  std::string train, test, output;
  std::int64_t n_neighbors = VoteOptions{}.n_neighbors;
  std::string weights = "uniform";
  TableArguments tables;
  KnnArguments knn;

  void add_to(CLI::App& app);
  VoteOptions vote() const;
};

/// Both tables, ready for a search, and the open output.
struct PredictionJob {
  std::optional<OutputFile> file;  // absent where --json leaves no room for data
  Table train, test;
  KnnOptions options;
};

/// Checks the options, opens the output, reads and prepares the tables: in this order, so that what can fail early
/// does.
PredictionJob open_prediction(Session& session, const PredictionArguments& arguments);

/// The label column of a table, or null with a warning where it cannot be scored against (another kind of column).
const Column* label_to_score(Session& session, const Table& test, ValueType wanted);

/// Notes the options and the plan.
void note_prediction(Session& session, const PredictionArguments& arguments, const SearchReport& report);

/// Writes the output, if there is one. Every row of the test table: its number, what `cells` writes under `names`, and
/// its id where the table has an id column.
void write_predictions(Session& session, PredictionJob& job, const std::vector<std::string>& names,
                       const std::function<void(CsvWriter&, std::int64_t)>& cells);

}  // namespace stope::cli
