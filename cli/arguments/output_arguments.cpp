#include "arguments/output_arguments.hpp"

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "report/output_format.hpp"

namespace stope::cli {

void OutputArguments::add_to(CLI::App& app, std::string_view command, const std::string& file,
                             const std::string& formats) {
  OptionGroup(app, "Output").text("-o,--output", path, "FILE", file);
  add_format_to(app, command, formats + "; default: from the suffix of FILE, else csv");
}

void OutputArguments::add_format_to(CLI::App& app, std::string_view command, const std::string& help) {
  const std::vector<std::string> words = formats_of(command);
  std::string type;
  for (const std::string& word : words) type += (type.empty() ? "" : "|") + word;
  OptionGroup(app, "Output").parsed("--output-format,--format", type, help, [this, words](const std::string& word) {
    const std::string ours = word == "markdown" ? "md" : word;
    format = words[require_choice(ours, words, "--output-format")];
  });
}

std::string OutputArguments::word() const {
  return format_word(format, path);
}

void OutputArguments::require(std::span<const std::string_view> suffixes) const {
  if (format.empty()) {
    require_suffix("-o", path, suffixes);
  } else {
    require_format("--output-format", format, suffixes);
  }
}

}  // namespace stope::cli
