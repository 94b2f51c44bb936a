#include "report/model_output.hpp"

#include "arguments/option.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "stope/error.hpp"

namespace stope::cli {

void ModelOutput::add_to(CLI::App& app) {
  OptionGroup(app, "Output")
      .text("--model-out", path, "MODEL",
            "File for the fitted model, which stope predict applies and stope info shows");
}

void ModelOutput::open(const Session& session, const std::string& data_path) {
  if (!wanted()) return;
  if (is_stdout(path) && is_stdout(output_path(data_path))) {
    throw Error(ErrorCode::invalid_argument,
                "--model-out " + path + ": stdout is for the data; give them a file with -o");
  }
  require_distinct(session, {path, data_path});
  file.emplace(path, session.run().cancel);
}

void ModelOutput::write(Session& session, const Model& model) {
  if (!file) return;
  session.timed("write", [&] { write_model(*file, model); });
}

}  // namespace stope::cli
