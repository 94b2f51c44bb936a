// stope pca computes the principal components of the numeric attributes of a table, and the scores of its rows.
#include "stope/pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "arguments/decompose_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/table_arguments.hpp"
#include "arguments/typed_words.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "page/command_line.hpp"
#include "page/job_pages.hpp"
#include "report/model_output.hpp"
#include "report/output.hpp"
#include "report/page_output.hpp"
#include "report/record_writer.hpp"
#include "report/text_table.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope pca table.csv --n-components 2 --normalize z -o scores.csv\n"
    "  stope pca genes.csv.gz --target class --n-components 0.95 -o scores.csv --components-out components.csv\n"
    "  stope pca more.csv --apply components.csv -o more-scores.csv\n";

constexpr std::size_t kShownComponents = 20;

class PcaCommand : public Command {
 public:
  explicit PcaCommand(CLI::App& program)
      : Command(program, "pca", "Principal components of the numeric attributes",
                "Fits principal components to the numeric attributes of a table and writes the scores of its rows as a "
                "table: pc1, pc2, ..., then its label, id and weight columns. The variances go to stderr.") {
    add_argument(*app, "TABLE", table_, "TABLE", "Table to decompose; '-' reads stdin");
    OptionGroup group(*app, "Components");
    group.parsed("--n-components", "N|SHARE",
                 "How many, or, between 0 and 1, the share of the variance they explain; default: all",
                 [this](const std::string& word) { set_n_components(word); });
    group.choice("--normalize", options_.scaling, "z: attributes are divided by their standard deviation");
    group.flag("--no-center", uncentred_,
               "Do not subtract the means: scikit-learn's TruncatedSVD. The variances are those of the scores");
    group.flag("--whiten", options_.whiten, "Divide scores by their standard deviation");
    group.real("--tolerance", options_.tolerance, "T",
               "Block Lanczos stops at this residual, as a share of the largest variance [1e-12]");
    group.integer("--max-iterations", options_.max_iterations, "N", "Block Lanczos restarts at most this often [500]");
    decompose_.add_to(*app, "components");
    output_.add_to(*app, "pca", "File for the scores; default: stdout", "Format of the scores");
    OptionGroup output(*app, "Output");
    output.text("--components-out", components_, "FILE", "File for means, components and variances (CSV)");
    model_.add_to(*app);
    tables_.after.add_to(*app);
    page_.add_to(*app);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    check_options();
    require_distinct(session, {common.json ? output_.path : output_path(output_.path), components_, model_.path});
    std::optional<OutputFile> scores, components;
    scores.emplace(session.data_path(output_.path, "scores"), session.run().cancel);
    if (!components_.empty()) components.emplace(components_, session.run().cancel);
    model_.open(session, output_.path);
    page_.open(session, output_.path);
    require_backend(session.run());
    const bool fits = decompose_.apply.empty();
    const std::optional<Pca> given = fits ? std::nullopt : std::optional(read_components(session));
    const Table table = session.timed("read", [&] { return tables_.read_first(table_, session); });
    session.hold({&table});
    session.note_input("table", table_, table);
    const Pca pca = fits ? session.timed("fit", [&] { return Pca::fit(table, options_, session.run()); }) : *given;
    if (fits) note(session, pca);
    if (scores) {
      const Table result = session.timed("scores", [&] { return pca.transform(table, session.run()); });
      page_.write(session, [&] {
        return page::components_page({table_, page::command_line("pca", table_, typed_words(*app, TypedOptions::all))},
                                     pca, table, &result);
      });
      session.timed("write", [&] { write_result(*scores, output_.format, result, {}, session.run()); });
    }
    if (components) {
      const Format format = format_of(components_) == Format::tsv ? Format::tsv : Format::csv;
      write_table(*components, pca.to_table(), {.format = format}, session.run());
    }
    model_.write(session, tables_.after.joined({outline(table), pca}));
    commit_files(session, {&scores, &components, &model_.file, &page_.file});
  }

 private:
  void set_n_components(const std::string& word) {
    options_.n_components = parse_real(word, "--n-components");
    if (options_.n_components == 0.0) {
      throw Error(ErrorCode::invalid_argument,
                  "--n-components: must be above 0; leave the option out for all components");
    }
    if (options_.n_components == 1.0 && word.find_first_of(".eE") != std::string::npos) {
      throw Error(ErrorCode::invalid_argument, "--n-components: " + word +
                                                   " may mean one component (write 1) or all of the variance (leave "
                                                   "the option out)");
    }
  }

  void check_options() {
    tables_.refuse_imputation_as_spelling();
    options_.centering = uncentred_ ? Centering::none : Centering::mean;
    options_.missing = decompose_.missing();
    options_.nominal = decompose_.nominal();
    options_.seed = common.seed;
    if (options_.max_iterations < 1) throw Error(ErrorCode::invalid_argument, "--max-iterations is below 1");
    if (decompose_.apply.empty()) return;
    for (const char* option : {"--n-components", "--normalize", "--no-center", "--tolerance", "--max-iterations",
                               "--components-out", "--model-out", "--report"}) {
      if (count(option) == 0) continue;
      throw Error(ErrorCode::invalid_argument,
                  std::string(option) + " cannot be used with --apply, which fits nothing");
    }
    require_one_stdin(table_, decompose_.apply);
  }

  Pca read_components(Session& session) {
    return session.timed("read",
                         [&] { return Pca::from_table(read_fitted(decompose_.apply, session.run()), options_); });
  }

  void note(Session& session, const Pca& pca) {
    session.note_plan(pca.report());
    session.json()["options"] = {{"n_components", pca.n_components()},
                                 {"normalize", to_string(options_.scaling)},
                                 {"centering", to_string(options_.centering)},
                                 {"whiten", options_.whiten},
                                 {"impute", decompose_.impute}};
    session.json()["explained_variance"] = pca.explained_variance();
    session.json()["explained_variance_ratio"] = pca.explained_variance_ratio();
    session.json()["singular_values"] = pca.singular_values();
    session.json()["noise_variance"] = pca.noise_variance();
    TextTable text({Align::left, Align::right, Align::right, Align::right});
    text.row({"component", "variance", "share", "cumulated"});
    double sum = 0.0;
    for (std::size_t i = 0; i < pca.explained_variance().size(); ++i) {
      sum += pca.explained_variance_ratio()[i];
      if (i >= kShownComponents) continue;
      text.row({fmt::format("pc{}", i + 1), format_value(pca.explained_variance()[i]),
                format_score(pca.explained_variance_ratio()[i]), format_score(sum)});
    }
    session.say(fmt::format("{} of {}, {}: {:.2f} % of the variance\n\n", counted(pca.n_components(), "component"),
                            counted(pca.n_features(), "feature"), counted(pca.report().n_samples, "row"), 100 * sum));
    session.say(text.text(2));
    const std::size_t more =
        pca.explained_variance().size() - std::min(pca.explained_variance().size(), kShownComponents);
    if (more > 0) session.say(fmt::format("  ... {} more\n", more));
  }

  std::string table_, components_;
  OutputArguments output_;
  bool uncentred_ = false;
  PcaOptions options_;
  DecomposeArguments decompose_;
  ModelOutput model_;
  PageOutput page_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_pca(CLI::App& program) {
  return std::make_unique<PcaCommand>(program);
}

}  // namespace stope::cli
