// What stope impute and stope predict tell of an imputation: a summary for people and scripts, and the filled cells.
#pragma once

#include <cstdint>
#include <string>

#include "report/record_writer.hpp"
#include "report/session.hpp"
#include "stope/impute.hpp"

namespace stope::cli {

/// Notes how it ran, and says on stderr which columns were filled from how many donors.
void tell(Session& session, const ImputeReport& report);

/// The cells that were filled in, one record each: row, column, value, n_donors, distance, donors. Rows count from 0.
class FilledCells {
 public:
  FilledCells(OutputFile& file, const RunOptions& run);
  void operator()(const FilledCell& cell);
  void finish() { out_.finish(); }

 private:
  RecordWriter out_;
  const RunOptions& run_;
  std::int64_t n_cells_ = 0;
};

}  // namespace stope::cli
