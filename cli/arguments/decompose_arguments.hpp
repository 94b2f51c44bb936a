// Shared by pca and lsq: the options for nominal and missing values, model files, and the report of a run.
#pragma once

#include <cstdint>
#include <string>

#include "report/session.hpp"
#include "stope/decompose.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct DecomposeArguments {
  std::string impute = "none";
  bool numeric_only = false;
  std::string apply;  // a file of an earlier run

  /// `what` is the file's content, for the help of --apply.
  void add_to(CLI::App& app, const std::string& what);
  MissingValues missing() const;
  NominalFeatures nominal() const;
};

/// Reads a table that a model's to_table() made.
Table read_fitted(const std::string& path, const RunOptions& run);

}  // namespace stope::cli
