// The options of a command's data: -o and --output-format. The table of cli/report/output_format.cpp says which formats
// there are.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stope/io.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

struct OutputArguments {
  std::string path;    // empty: stdout
  std::string format;  // as --output-format names it; empty: from the suffix of the path

  /// Adds both options. `command` is the name in the table of outputs; `file` and `formats` are their help texts.
  void add_to(CLI::App& app, std::string_view command, const std::string& file, const std::string& formats = "Format");
  /// Adds --output-format alone, for a command whose path is an argument, too.
  void add_format_to(CLI::App& app, std::string_view command, const std::string& help);

  /// The format as a word; empty where neither option says anything.
  std::string word() const;
  /// Throws invalid_argument unless the format that either option names is one of these suffixes.
  void require(std::span<const std::string_view> suffixes) const;
};

}  // namespace stope::cli
