// stope gen writes test files for the gram operator, and synthetic tables.
#include <algorithm>
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
#include "stope/generate.hpp"
#include "stope/gram_file.hpp"

namespace stope::cli {
namespace {

std::string details() {
  std::string text =
      "X is the number of columns, Y the number of rows: 'stope gen blobs 10 100000' makes a table of 10 columns and "
      "100,000 rows. With X and Y alone it makes a gram file: random float32 values and a vector, for 'stope ata' and "
      "'stope check'. With a KIND in front it makes a table of X features, which may be larger than memory. The same "
      "seed gives the same bytes on every machine. Kinds of tables: ";
  for (const GeneratedKind& kind : generated_kinds()) text += kind.name + ": " + kind.summary + "; ";
  text.resize(text.size() - 2);
  return text + ".";
}

constexpr const char* kExamples =
    "Examples\n"
    "  stope gen 512 768 -o a.gram\n"
    "  stope gen blobs 10 100000 --classes 5 --seed 1 -o blobs.csv\n"
    "  stope gen wide 61359 161 -o genes.npy --no-label\n"
    "  stope gen fvecs 128 1000000 -o base.fvecs\n";

class Gen : public Command {
 public:
  explicit Gen(CLI::App& program) : Command(program, "gen", "Make test matrices and synthetic tables", details()) {
    add_argument(*app, "KIND", first_, "blobs|mixed|rules|linear|wide|fvecs", "Kind of table; without it a gram file");
    add_argument(*app, "X", second_, "N", "Number of columns");
    add_argument(*app, "Y", third_, "N", "Number of rows", Required::no);
    OptionGroup table(*app, "Tables");
    table.integer("--classes", options_.n_classes, "N", "Classes of blobs, mixed and wide");
    table.parsed("--missing-share", "P", "Share of missing values of mixed",
                 [this](const std::string& word) { options_.missing = share(word, "--missing-share"); });
    table.parsed("--noise", "S", "Noise; its meaning depends on the kind",
                 [this](const std::string& word) { options_.noise = share(word, "--noise"); });
    table.flag("--no-label", no_label_, "Leave out the class or target, for formats that hold numbers alone");
    output_.add_to(*app, "gen table", "File to write; default: stdout", "Format of a table");
    OptionGroup output(*app, "Output");
    output.choice("--output-dtype", write_.dtype, {"float32", "float64"},
                  "Type of the values of npy and raw [float32]");
    add_common(kExamples);
  }

  void run(Session& session) override {
    const bool is_table = !third_.empty();
    check_options(is_table);
    if (output_.format.empty()) check_suffix(is_table ? "gen table" : "gen gram", "-o", output_.path);
    std::optional<OutputFile> file;
    if (session.wants_data(output_.path)) file.emplace(output_path(output_.path), session.run().cancel);
    if (is_table) {
      options_.kind = first_;
      options_.n_columns = parse_integer(second_, "X");
      options_.n_rows = parse_integer(third_, "Y");
      write_table(session, file);
    } else {
      write_gram(session, file);
    }
    if (!file) return;
    session.timed("write", [&] { file->commit(); });
    session.note_output(file->path());
  }

 private:
  static double share(const std::string& word, const std::string& option) {
    const double value = parse_real(word, option);
    if (value < 0.0) throw Error(ErrorCode::invalid_argument, option + ": " + word + " is negative");
    return value;
  }

  void check_options(bool is_table) const {
    if (count("--classes") > 0 && options_.n_classes < 1) {
      throw Error(ErrorCode::invalid_argument,
                  "--classes: " + std::to_string(options_.n_classes) + " is not at least 1");
    }
    if (is_table) return;
    for (const GeneratedKind& kind : generated_kinds()) {
      if (first_ != kind.name) continue;
      throw Error(ErrorCode::invalid_argument,
                  "gen " + first_ + ": the number of rows is missing (gen " + first_ + " X Y)");
    }
    for (const char* option :
         {"--classes", "--missing-share", "--noise", "--no-label", "--output-format", "--output-dtype"}) {
      if (count(option) == 0) continue;
      throw Error(ErrorCode::invalid_argument, std::string(option) + " applies only to tables: gen KIND X Y");
    }
  }

  void write_gram(Session& session, std::optional<OutputFile>& file) const {
    const std::int64_t n_columns = parse_integer(first_, "X"), n_rows = parse_integer(second_, "Y");
    session.json()["options"] = {
        {"kind", "gram"}, {"columns", n_columns}, {"rows", n_rows}, {"seed", session.arguments().seed}};
    if (!file) return;
    session.timed("write",
                  [&] { write_random_gram_file(*file, n_columns, n_rows, session.arguments().seed, session.run()); });
  }

  void write_table(Session& session, std::optional<OutputFile>& file) {
    options_.seed = session.arguments().seed;
    const TableGenerator generator(options_, session.run());
    session.json()["options"] = {
        {"kind", options_.kind}, {"columns", options_.n_columns}, {"rows", options_.n_rows}, {"seed", options_.seed}};
    if (!file) return;
    session.timed("write", [&] {
      if (is_record_format(output_.word())) {
        write_records(generator, *file, session.run());
      } else {
        write_parts(generator, *file, session.run());
      }
    });
  }

  void write_parts(const TableGenerator& generator, OutputFile& file, const RunOptions& run) {
    write_.format = format_of("." + output_.word());
    if (write_.dtype.empty()) write_.dtype = "float32";
    TablePartsWriter writer(file, options_.n_rows, write_);
    for_each_part(generator, run, [&](const Table& part) { writer.append(part, run); });
    writer.finish();
  }

  void write_records(const TableGenerator& generator, OutputFile& file, const RunOptions& run) const {
    RecordWriter out(file, output_.format);
    bool named = false;
    for_each_part(generator, run, [&](const Table& part) {
      if (!named) write_names(out, part);
      named = true;
      write_cells(out, part, run);
    });
    out.finish();
  }

  template <class Take>
  void for_each_part(const TableGenerator& generator, const RunOptions& run, const Take& take) const {
    // A part takes about ten megabytes, whatever the table's width.
    constexpr std::int64_t kPartValues = std::int64_t{1} << 21;
    const std::int64_t part_rows = std::max<std::int64_t>(1, kPartValues / (options_.n_columns + 1));
    for (std::int64_t first = 0; first < options_.n_rows; first += part_rows) {
      Table part = generator.rows(first, std::min(part_rows, options_.n_rows - first), run);
      if (no_label_ && options_.kind != "fvecs") part.columns.pop_back();
      take(part);
    }
  }

  std::string first_, second_, third_;
  OutputArguments output_;
  bool no_label_ = false;
  GenerateOptions options_;
  WriteOptions write_;
};

}  // namespace

std::unique_ptr<Command> add_gen(CLI::App& program) {
  return std::make_unique<Gen>(program);
}

}  // namespace stope::cli
