// What to tell of a file whose meaning was guessed: the guesses that were close, and digits that were lost.
#pragma once

#include <vector>

#include "io/csv/parse.hpp"
#include "io/csv/plan.hpp"
#include "io/csv/segments.hpp"
#include "stope/io.hpp"
#include "stope/table.hpp"

namespace stope::io::csv {

/// A file that has been read.
struct ReadFile {
  const Text& text;
  const Plan& plan;
  const Layout& layout;
  const std::vector<Segment>& segments;
  const Table& table;
  const OddFields& odd;
  const RaggedRecords& ragged;
  ThreadPool& pool;  ///< that looks at the columns
};

/// Calls run.warn at most once for each code (stope/warning.hpp). A warning names the first column it is about, with
/// the places of at most three cells, and the names of the other columns. Columns to ignore are not looked at.
void warn_of_guesses(const ReadFile& file, const ReadOptions& options, const RunOptions& run);

}  // namespace stope::io::csv
