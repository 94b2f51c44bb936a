// The option --correlation: correlations as a table for people, as CSV and as JSON.
#pragma once

#include <optional>
#include <string>

#include "report/session.hpp"
#include "stope/correlation.hpp"
#include "stope/io.hpp"

namespace stope::cli {

struct CorrelationOutput {
  std::string path;  // empty: none are wanted
  CorrelationOptions options;
  std::optional<OutputFile> file;

  bool wanted() const { return !path.empty(); }
  bool takes_stdout() const;
  /// Opens the file, before anything is read.
  void open(Session& session);
  /// Correlates and writes: text for people where the file is .txt or stdout, else one row for every pair. Under --json
  /// the object has the names and the matrix. `table_name` is for people.
  void write(Session& session, const std::string& table_name, const Table& table, bool all);
};

}  // namespace stope::cli
