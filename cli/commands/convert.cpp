// stope convert converts a table from one format to another.
#include <optional>

#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"
#include "report/output_format.hpp"
#include "report/record_writer.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope convert table.arff table.csv\n"
    "  stope convert base.fvecs base.npy\n"
    "  stope convert - table.csv --input-format tsv --missing '?,-' < table.txt\n"
    "  stope convert values.raw - --n-features 128 --dtype float32 --output-format csv\n";

class Convert : public Command {
 public:
  explicit Convert(CLI::App& program)
      : Command(program, "convert", "Write a table in another format",
                "Reads a table and writes it in another format; missing values of CSV are empty fields.") {
    add_argument(*app, "IN", input_, "TABLE", "Table to read; '-' reads stdin");
    add_argument(*app, "OUT", output_, "FILE", "File to write; '-' or nothing is stdout", Required::no);
    OptionGroup group(*app, "Output");
    group.text("-o,--output", option_.path, "FILE", "The same as OUT");
    option_.add_format_to(*app, "convert", "Format to write; default: from the suffix of OUT, csv on stdout");
    group.parsed("--output-sep", "CHAR", "Separator of CSV fields [,]",
                 [this](const std::string& word) { write_.separator = parse_character(word, "--output-sep"); });
    group.choice("--output-dtype", write_.dtype, {"float32", "float64", "int32", "int64", "uint8"},
                 "Type of the values of npy [float64] and raw [float32]");
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    if (!output_.empty() && !option_.path.empty()) {
      throw Error(ErrorCode::invalid_argument, "OUT and -o are the same thing: give one");
    }
    const std::string path = output_.empty() ? option_.path : output_;
    const bool to_stdout = path.empty() || path == "-";
    if (option_.format.empty() && !to_stdout && suffix_of(path).empty() && !is_stream(path)) {
      throw Error(ErrorCode::invalid_argument,
                  path + ": without a suffix: name the format with --output-format csv, tsv, arff, npy, ...");
    }
    std::optional<OutputFile> file;
    file.emplace(session.data_path(path, "table"), session.run().cancel);
    Table table = session.timed("read", [&] { return tables_.read_first(input_, session); });
    std::erase_if(table.columns, [](const Column& column) { return column.role == Role::ignore; });
    session.note_input("table", input_, table);
    session.timed("write", [&] {
      write_result(*file, option_.format, table, write_, session.run());
      file->commit();
    });
    session.note_output(file->path());
  }

 private:
  std::string input_, output_;
  OutputArguments option_;
  WriteOptions write_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_convert(CLI::App& program) {
  return std::make_unique<Convert>(program);
}

}  // namespace stope::cli
