// The options --explain-out and --explain-attributes, which predict, classify and regress share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "report/session.hpp"
#include "stope/io.hpp"
#include "stope/predictor.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct ExplainArguments {
  std::string path;  // empty: nothing is explained
  std::int64_t n_attributes = 5;
  std::optional<OutputFile> file;

  void add_to(CLI::App& app);
  bool wanted() const { return !path.empty(); }
  /// Opens the file. Throws invalid_argument where the data at `data_path` go to stdout as well, and for
  /// --explain-attributes alone.
  void open(const Session& session, const std::string& data_path);
  /// Explains k-NN's prediction of every row of `table`. The caller commits the file.
  void write(Session& session, const Predictor& predictor, const Table& table);

 private:
  bool n_is_given_ = false;
};

}  // namespace stope::cli
