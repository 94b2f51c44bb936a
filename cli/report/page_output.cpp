#include "report/page_output.hpp"

#include "arguments/option.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "stope/error.hpp"

namespace stope::cli {

void PageOutput::add_to(CLI::App& app) {
  OptionGroup(app, "Output").text("--report", path, "FILE", "File for a page to look at, *.html, with the pictures");
}

void PageOutput::open(const Session& session, const std::string& data_path) {
  if (!wanted()) return;
  if (is_stdout(path) && is_stdout(output_path(data_path))) {
    throw Error(ErrorCode::invalid_argument, "--report " + path + ": stdout is for the data; give them a file with -o");
  }
  require_distinct(session, {path, data_path});
  file.emplace(path, session.run().cancel);
}

void PageOutput::write(Session& session, const std::function<std::string()>& make) {
  if (!file) return;
  session.timed("page", [&] { file->write(make()); });
}

}  // namespace stope::cli
