// Declares the option --model-out and holds its file, which is opened before anything is computed.
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
  std::string path;                // empty = no model is wanted
  std::optional<OutputFile> file;  // present once the file has been opened

  void add_to(CLI::App& app);
  bool wanted() const { return !path.empty(); }
  /// Opens the file. Throws io if it cannot be written, and invalid_argument if data go to stdout as well.
  void open(const Session& session, const std::string& data_path);
  void write(Session& session, const Model& model);
};

}  // namespace stope::cli
