// stope check says whether a result of 'stope ata' is right.
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "commands/gram_run.hpp"
#include "report/output.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope check a.gram z.gram\n"
    "  stope check a.gram z.gram --json\n";

class Check : public Command {
 public:
  explicit Check(CLI::App& program)
      : Command(
            program, "check", "Recompute a gram file's result serially and compare",
            "Recomputes z = A^T (A x) of a gram file by two plain loops in double precision and compares RESULT with "
            "it, number by number, within the stated error bound (docs/numerics/gram.md). Prints the sizes, OK or "
            "the wrong numbers, and the times of the serial computation and of 'stope ata'. Exit code 1 if a number "
            "is wrong.") {
    add_argument(*app, "FILE", input_, "FILE", "Gram file; '-' reads stdin");
    add_argument(*app, "RESULT", result_, "FILE", "What 'stope ata' made of it");
    OptionGroup(*app, "Output").text("-o,--output", output_, "FILE", "File for the text; default: stdout");
    add_common(kExamples);
  }

  void run(Session& session) override {
    if (input_ == "-" && result_ == "-") {
      throw Error(ErrorCode::invalid_argument, "only one of FILE and RESULT can be '-'");
    }
    std::optional<OutputFile> file;
    const bool writes = !common.json || !output_.empty();
    if (writes && session.wants_data(output_)) file.emplace(output_path(output_), session.run().cancel);
    require_backend(session.run());
    const GramFile gram = session.timed("read", [&] { return read_gram_file(input_, session.run()); });
    session.hold({}, gram.held);
    const std::vector<float> z = read_gram_result(result_, session.run());
    note_gram(session, input_, gram);
    session.json()["inputs"].push_back({{"role", "result"}, {"path", result_}, {"numbers", z.size()}});
    if (static_cast<std::int64_t>(z.size()) != gram.n_columns) {
      throw Error(ErrorCode::invalid_data, fmt::format("{} has {} numbers, {} has {} columns: it cannot be its result",
                                                       result_, z.size(), input_, gram.n_columns));
    }
    GramReport report;
    const double multiply = seconds([&] { multiply_gram(gram, session.run(), report); });
    GramCheck check;
    const double serial = seconds([&] { check = check_gram(gram.matrix(), gram.vector, z, session.run()); });
    session.note_plan(report);
    n_wrong_ = check.n_wrong;
    note(session, check, serial, multiply);
    if (!file) return;
    file->write(text(gram, check, serial, multiply, report));
    file->commit();
  }

  int exit_code() const override { return n_wrong_ > 0 ? 1 : 0; }

 private:
  template <class Work>
  static double seconds(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  static std::string number(double value) {
    std::string text;
    append_number(text, value);
    return text;
  }

  std::string text(const GramFile& gram, const GramCheck& check, double serial, double multiply,
                   const GramReport& report) const {
    std::string text =
        fmt::format("matrix  {} columns x {} rows, {}\nresult  {} numbers\n", gram.n_columns, gram.n_rows,
                    format_bytes(static_cast<std::int64_t>(gram.values.size_bytes())), gram.n_columns);
    if (check.n_wrong == 0) {
      text += "OK\n";
    } else {
      text += fmt::format("WRONG   {} of {} numbers\n", check.n_wrong, gram.n_columns);
      for (const GramError& error : check.first) {
        text += fmt::format("  column {}: {}, wanted {} within {:.3g}\n", error.column, number(error.found),
                            number(error.wanted), error.bound);
      }
      if (check.n_wrong > static_cast<std::int64_t>(check.first.size())) text += "  ...\n";
    }
    return text + fmt::format("time    serial {:.4g} ms, {} {:.4g} ms\n", 1e3 * serial, report.backend, 1e3 * multiply);
  }

  void note(Session& session, const GramCheck& check, double serial, double multiply) const {
    Json wrong = Json::array();
    for (const GramError& error : check.first) {
      wrong.push_back(
          {{"column", error.column}, {"found", error.found}, {"wanted", error.wanted}, {"bound", error.bound}});
    }
    session.json()["check"] = {{"ok", check.n_wrong == 0},
                               {"wrong", check.n_wrong},
                               {"first", wrong},
                               {"serial_seconds", serial},
                               {"multiply_seconds", multiply}};
  }

  std::string input_, result_, output_;
  std::int64_t n_wrong_ = 0;
};

}  // namespace

std::unique_ptr<Command> add_check(CLI::App& program) {
  return std::make_unique<Check>(program);
}

}  // namespace stope::cli
