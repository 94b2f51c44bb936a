// stope normalize brings numeric columns to a common scale.
#include <optional>

#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
#include "report/record_writer.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"
#include "stope/normalize.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope normalize table.csv --method z -o scaled.csv\n"
    "  stope normalize table.csv --method range --min -1 --max 1 --target class > scaled.csv\n"
    "  stope normalize train.csv --method z --model-out scale.stope -o train-scaled.csv\n"
    "  stope normalize test.csv --apply scale.stope -o test-scaled.csv\n";

class Normalize : public Command {
 public:
  explicit Normalize(CLI::App& program)
      : Command(program, "normalize", "Bring numeric columns to a common scale",
                "Normalises the numeric features of a table and writes it as CSV, missing values as empty fields. "
                "Label, id, "
                "weight and ignored columns stay as they are.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to normalise; '-' reads stdin");
    OptionGroup group(*app, "Normalisation");
    group.text("--method,--normalize", method_, "z|range|proportion|interquartile",
               "z: mean 0, variance 1; range: from --min to --max; proportion: share of the column's sum; "
               "interquartile: (v - median) / ((q3 - q1) / 1.349)");
    group.text("--apply", apply_, "MODEL", "Normalise as a saved normalisation does, instead of fitting one");
    group.real("--min", options_.min, "A", "Lower end of range [0]");
    group.real("--max", options_.max, "B", "Upper end of range [1]");
    group.choice("--compat", options_.compat,
                 "Whose formulas for constant and missing values, and whose order of columns");
    output_.add_to(*app, "normalize", "File for the table; default: stdout");
    model_.add_to(*app);
    tables_.after.add_to(*app);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    if (!apply_.empty()) return apply(session);
    if (method_.empty()) {
      throw Error(ErrorCode::invalid_argument, "--method says how to normalise, --apply by which model: one is needed");
    }
    require_choice(method_, {"z", "range", "proportion", "interquartile"}, "--method");
    options_.method = normalization(method_);
    const bool bounded = count("--min") + count("--max") > 0;
    if (bounded && options_.method != Normalization::range) {
      throw Error(ErrorCode::invalid_argument, "--min and --max belong to --method range, not " + method_);
    }
    std::optional<OutputFile> file;
    file.emplace(session.data_path(output_.path, "table"), session.run().cancel);
    model_.open(session, output_.path);
    require_backend(session.run());
    const Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    const auto fit = [&] { return Normalizer::fit(table, options_, session.run()); };
    const Normalizer normalizer = session.timed("normalize", fit);
    if (file) {
      const Table result = session.timed("normalize", [&] { return normalizer.apply(table, session.run()); });
      session.timed("write", [&] { write_result(*file, output_.format, result, {}, session.run()); });
    }
    model_.write(session, tables_.after.joined({outline(table), normalizer}));
    commit_files(session, {&file, &model_.file});
    session.json()["options"] = {{"method", std::string(to_string(options_.method))},
                                 {"min", options_.min},
                                 {"max", options_.max},
                                 {"compat", to_string(options_.compat)}};
  }

 private:
  void apply(Session& session) {
    for (const char* option : {"--method", "--min", "--max", "--compat", "--model-out", "--after"}) {
      if (count(option) == 0) continue;
      throw Error(ErrorCode::invalid_argument,
                  std::string(option) + " cannot be used with --apply, which fits nothing");
    }
    require_one_stdin(table_, apply_);
    std::optional<OutputFile> file;
    file.emplace(session.data_path(output_.path, "table"), session.run().cancel);
    require_backend(session.run());
    const Model model = session.timed("read", [&] { return read_model(apply_, session.run()); });
    const auto* const normalizer = std::get_if<Normalizer>(&model.fitted);
    if (normalizer == nullptr) {
      throw Error(ErrorCode::invalid_argument, "--apply: " + apply_ + " (" + std::string(model.kind()) +
                                                   ") is no normalisation; stope predict applies models of every kind");
    }
    const Table table = session.timed("read", [&] { return tables_.read_second(table_, model.columns, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    const Table result = session.timed("normalize", [&] { return normalizer->apply(table, session.run()); });
    session.timed("write", [&] { write_result(*file, output_.format, result, {}, session.run()); });
    commit_files(session, {&file});
    session.json()["options"] = {{"apply", apply_}, {"method", std::string(to_string(normalizer->options().method))}};
  }

  std::string table_, method_, apply_;
  OutputArguments output_;
  NormalizeOptions options_;
  TableArguments tables_;
  ModelOutput model_;
};

}  // namespace

std::unique_ptr<Command> add_normalize(CLI::App& program) {
  return std::make_unique<Normalize>(program);
}

}  // namespace stope::cli
