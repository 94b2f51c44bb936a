// stope chain joins saved models into one: a table passes all of them.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope normalize train.csv --method z --target class --model-out scale.stope -o scaled.csv\n"
    "  stope tree scaled.csv --target class --model-out tree.stope -o tree.txt\n"
    "  stope chain scale.stope tree.stope -o both.stope\n"
    "  stope predict both.stope test.csv\n"
    "\n"
    "  stope tree train.csv --target class --after scale.stope --model-out both.stope    (the same chain at once)\n";

class Chain : public Command {
 public:
  explicit Chain(CLI::App& program)
      : Command(
            program, "chain", "Join saved models into one",
            "Joins models that --model-out has saved into one model: a table passes them in this order. All but the "
            "last give tables (normalisations, cuts, components); the last may be of any kind. Every model must "
            "find the columns to which it was fitted in what the one before it gives.") {
    add_arguments(*app, "MODEL", models_, "FILE",
                  "Model files, two or more, in the order in which a table passes them");
    OptionGroup(*app, "Output").text("-o,--output", output_, "FILE", "File for the chain", Required::yes);
    add_common(kExamples);
  }

  void run(Session& session) override {
    if (models_.size() < 2) {
      throw Error(ErrorCode::invalid_argument, "one model is no chain: name two or more");
    }
    std::optional<OutputFile> file;
    file.emplace(output_, session.run().cancel);
    std::vector<Model> models;
    models.reserve(models_.size());
    for (const std::string& path : models_) {
      models.push_back(session.timed("read", [&] { return read_model(path, session.run()); }));
    }
    const Model chain = make_chain(std::move(models));
    Json kinds = Json::array();
    std::string steps;
    for (const Model& step : std::get<ChainModel>(chain.fitted).steps) {
      kinds.push_back(std::string(step.kind()));
      steps += (steps.empty() ? "" : ", ") + std::string(step.kind());
    }
    session.json()["steps"] = std::move(kinds);
    session.timed("write", [&] { write_model(*file, chain); });
    commit_files(session, {&file});
    session.say(fmt::format("a chain of {} steps: {}\n", std::get<ChainModel>(chain.fitted).steps.size(), steps));
  }

 private:
  std::vector<std::string> models_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> add_chain(CLI::App& program) {
  return std::make_unique<Chain>(program);
}

}  // namespace stope::cli
