// stope normalize brings numeric columns to a common scale.
#include <optional>

#include "arguments/option.hpp"
#include "arguments/table_arguments.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/normalize.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope normalize table.csv --method z -o scaled.csv\n"
    "  stope normalize table.csv --method range --min -1 --max 1 --target class > scaled.csv\n";

class Normalize : public Command {
 public:
  explicit Normalize(CLI::App& program)
      : Command(program, "normalize", "Bring numeric columns to a common scale",
                "Normalises the numeric features of a table and writes it as CSV, missing values as empty fields. "
                "Label, id, "
                "weight and ignored columns stay as they are.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to normalise; '-' reads stdin");
    OptionGroup group(*app, "Normalisation");
    group.text("--method", method_, "z|range|proportion|interquartile",
               "z: mean 0, variance 1; range: from --min to --max; proportion: share of the column's sum; "
               "interquartile: (v - median) / ((q3 - q1) / 1.349)",
               Required::yes);
    group.real("--min", options_.min, "A", "Lower end of range [0]");
    group.real("--max", options_.max, "B", "Upper end of range [1]");
    group.choice("--compat", compat_, {"none", "rapidminer"},
                 "Whose formulas for constant and missing values, and whose order of columns [" + compat_ + "]");
    OptionGroup output(*app, "Output");
    output.text("-o,--output", output_, "FILE", "File for the table; default: stdout");
    output.parsed("--output-format", "csv|tsv|arff|npy|fvecs|ivecs|raw",
                  "Format; default: from the suffix of FILE, else csv",
                  [this](const std::string& word) { write_.format = parse_format(word, "--output-format"); });
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    options_.method = normalization(method_);
    options_.compat = compat_ == "rapidminer" ? Compat::rapidminer : Compat::none;
    const bool bounded = count("--min") + count("--max") > 0;
    if (bounded && options_.method != Normalization::range) {
      throw Error(ErrorCode::invalid_argument, "--min and --max belong to --method range, not " + method_);
    }
    std::optional<OutputFile> file;
    if (session.wants_data(output_)) file.emplace(output_path(output_));
    require_backend(session.run());
    const Table table = session.timed("read", [&] { return tables_.read_first(table_, session.run()); });
    session.hold({&table});
    session.note_input("table", table_, table);
    const Table result = session.timed(
        "normalize", [&] { return Normalizer::fit(table, options_, session.run()).apply(table, session.run()); });
    if (file) {
      session.timed("write", [&] {
        write_table(*file, result, write_, session.run());
        file->commit();
      });
      session.note_output(file->path());
    }
    session.json()["options"] = {{"method", std::string(to_string(options_.method))},
                                 {"min", options_.min},
                                 {"max", options_.max},
                                 {"compat", compat_}};
  }

 private:
  std::string table_, output_, method_;
  std::string compat_ = "none";
  NormalizeOptions options_;
  WriteOptions write_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_normalize(CLI::App& program) {
  return std::make_unique<Normalize>(program);
}

}  // namespace stope::cli
