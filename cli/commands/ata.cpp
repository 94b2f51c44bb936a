// stope ata computes z = A^T (A x) of a gram file.
#include <fmt/format.h>

#include <optional>

#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "commands/gram_run.hpp"
#include "report/json.hpp"
#include "report/output.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope gen 512 768 -o a.gram\n"
    "  stope ata a.gram -o z.gram\n"
    "  stope check a.gram z.gram\n";

class Ata : public Command {
 public:
  explicit Ata(CLI::App& program)
      : Command(program, "ata", "Multiply a gram file's matrix and its transpose with its vector",
                "Computes z = A^T (A x) of the matrix A and the vector x of a gram file ('stope gen' makes them), "
                "reading A "
                "once, in double precision, and writes z as float32. The same bytes on every machine and device.") {
    add_argument(*app, "FILE", input_, "FILE", "Gram file; '-' reads stdin");
    OptionGroup(*app, "Output").text("-o,--output", output_, "FILE", "File for z; default: stdout");
    add_common(kExamples);
  }

  void run(Session& session) override {
    std::optional<OutputFile> file;
    file.emplace(session.data_path(output_, "z"), session.run().cancel);
    require_backend(session.run());
    const GramFile gram = session.timed("read", [&] { return read_gram_file(input_, session.run()); });
    session.hold({}, gram.held);
    note_gram(session, input_, gram);
    GramReport report;
    const std::vector<float> z = session.timed("multiply", [&] { return multiply_gram(gram, session.run(), report); });
    session.note_plan(report);
    session.timed("write", [&] {
      if (common.json && output_.empty()) {
        file->write(Json(z).dump());
      } else {
        write_gram_result(*file, z);
      }
    });
    commit_files(session, {&file});
  }

 private:
  std::string input_, output_;
};

}  // namespace

std::unique_ptr<Command> add_ata(CLI::App& program) {
  return std::make_unique<Ata>(program);
}

}  // namespace stope::cli
