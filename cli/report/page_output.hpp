// Declares the option --report and holds its file, which is opened before anything is computed.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "report/session.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct PageOutput {
  std::string path;                // empty = no page is wanted
  std::optional<OutputFile> file;  // present once the file has been opened

  void add_to(CLI::App& app);
  bool wanted() const { return !path.empty(); }
  /// Opens the file. Throws io if it cannot be written, and invalid_argument if data go to stdout as well.
  void open(const Session& session, const std::string& data_path);
  /// Writes the page that `make` returns, if one is wanted; the caller commits.
  void write(Session& session, const std::function<std::string()>& make);
};

}  // namespace stope::cli
