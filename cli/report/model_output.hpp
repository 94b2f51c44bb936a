// --model-out: the option, and the file, which is opened before anything is computed.
#pragma once

#include <optional>
#include <string>

#include "report/session.hpp"
#include "stope/model.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct ModelOutput {
  std::string path;                // empty = none is wanted
  std::optional<OutputFile> file;  // as long as it is open

  void add_to(CLI::App& app);
  bool wanted() const { return !path.empty(); }
  /// Throws io where the file cannot be written, and invalid_argument where data go to stdout as well.
  void open(const Session& session, const std::string& data_path);
  void write(Session& session, const Model& model);
};

}  // namespace stope::cli
