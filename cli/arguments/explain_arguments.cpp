#include "arguments/explain_arguments.hpp"

#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "report/explanation_output.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "stope/error.hpp"

namespace stope::cli {

void ExplainArguments::add_to(CLI::App& app) {
  OptionGroup group(app, "Output");
  group.text("--explain-out", path, "FILE",
             "k-NN: file for the neighbours that decided each row, their votes and what their distances consist of; "
             ".txt or - : the first rows, for people");
  group.parsed(
      "--explain-attributes", "N",
      "k-NN: attributes of each neighbour in that file, largest share first [" + std::to_string(n_attributes) + "]",
      [this](const std::string& word) {
        n_attributes = parse_integer(word, "--explain-attributes");
        n_is_given_ = true;
        if (n_attributes >= 0) return;
        throw Error(ErrorCode::invalid_argument, "--explain-attributes: " + word + " is below 0");
      });
}

void ExplainArguments::open(const Session& session, const std::string& data_path) {
  if (!wanted()) {
    if (n_is_given_) throw Error(ErrorCode::invalid_argument, "--explain-attributes needs --explain-out");
    return;
  }
  if (is_stdout(path) && is_stdout(output_path(data_path))) {
    throw Error(ErrorCode::invalid_argument,
                "--explain-out " + path + ": stdout is for the data; give them a file with -o");
  }
  require_distinct(session, {path, data_path});
  file.emplace(path, session.run().cancel);
}

void ExplainArguments::write(Session& session, const Predictor& predictor, const Table& table) {
  if (!file) return;
  session.timed("explain", [&] { write_explanations(session, *file, predictor, table, n_attributes); });
}

}  // namespace stope::cli
