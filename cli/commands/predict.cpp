// stope predict applies a saved model to every row of a table.
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>

#include "arguments/explain_arguments.hpp"
#include "arguments/option.hpp"
#include "arguments/output_arguments.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "commands/prediction.hpp"
#include "report/explanation_output.hpp"
#include "report/impute_report.hpp"
#include "report/output_format.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"
#include "stope/tree_format.hpp"
#include "stope/warning.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope classify train.csv --target class -k 11 --normalize z --model-out classes.stope\n"
    "  stope predict classes.stope more.csv --proba -o predictions.csv\n"
    "  stope predict classes.stope more.csv -o predictions.csv --explain-out -\n"
    "  stope info classes.stope\n";

class Predict : public Command {
 public:
  explicit Predict(CLI::App& program)
      : Command(
            program, "predict", "Apply a saved model to a table",
            "Applies a model that --model-out has saved to every row of TABLE and writes CSV. Classes and numbers: "
            "row, "
            "prediction and, with --proba, a confidence for every class. Principal components: the scores. Cuts: the "
            "coded table. Imputations: the table without missing values. An index without a label: the neighbours "
            "(row, pos, train_index, distance). Columns are "
            "matched by name and read with the types they had. For a tree, --explain also writes the one rule that "
            "applied; for least squares, what each coefficient adds. For k-NN, --explain-out says which rows decided, "
            "and what made them near. Where TABLE has the label, the scores go to stderr.") {
    add_argument(*app, "MODEL", model_, "FILE", "Model file");
    add_argument(*app, "TABLE", table_, "TABLE", "Table to predict; '-' reads stdin");
    OptionGroup group(*app, "Prediction");
    group.parsed("-k,--n-neighbors", "K", "k-NN: neighbours that vote, or are listed; default: the model's",
                 [this](const std::string& word) { n_neighbors_ = parse_integer(word, "-k"); });
    group.parsed("--weights", "uniform|distance", "k-NN: how neighbours vote; default: the model's",
                 [this](const std::string& word) { weights_ = vote_weights(word); });
    group.flag("--proba", with_confidences_, "Write the confidence of every class, too");
    output_.add_to(*app, "predict", "File for the predictions; default: stdout",
                   "Format; predictions are csv, tsv, json or jsonl");
    explain_.add_to(*app);
    add_scores(*app, scores_);
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    require_one_stdin(model_, table_);
    tables_.warn_of_policy_as_spelling(session, "what it means is in the model already");
    session.ignore_warning(warning::kRangesApart);  // it was said when the model was made
    require_backend(session.run());
    const std::string& path = output_.path;
    if (!path.empty()) file_.emplace(session.data_path(path, ""), session.run().cancel);  // a mistake shows early
    explain_.open(session, common.json && path.empty() ? "the object" : path);
    Model model = session.timed("read", [&] { return read_model(model_, session.run()); });
    set_vote(model);
    if (!is_table(model)) output_.require(kRecords);
    if (!file_) file_.emplace(session.data_path("", key_of(model)), session.run().cancel);
    if (with_confidences_ && !has_classes(model)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--proba: {} ({}) knows no classes", model_, std::string(model.kind())));
    }
    const auto* const neighbors = std::get_if<NeighborsModel>(&last_step(model).fitted);
    require_explained(model);
    const Table* const fitted_to = neighbors != nullptr ? &neighbors->train : &model.columns;
    session.hold({fitted_to});
    Table table = session.timed("read", [&] { return tables_.read_second(table_, model.columns, session); });
    session.hold({fitted_to, &table});
    session.json()["model"] = {{"path", model_}, {"kind", std::string(model.kind())}};
    session.note_input("table", table_, table);
    const auto fit = [&] { return Predictor(model, session.run()); };
    const bool searches = neighbors != nullptr;
    const Predictor predictor = searches ? session.timed("fit", fit) : fit();
    switch (predictor.gives()) {
      case Predictor::Gives::classes: classify(session, predictor, table); break;
      case Predictor::Gives::numbers: regress(session, predictor, table); break;
      case Predictor::Gives::neighbors: search(session, predictor, table); break;
      case Predictor::Gives::table: transform(session, predictor, table); break;
    }
    explain_.write(session, predictor, table);
    commit_files(session, {&file_, &explain_.file});
  }

 private:
  void set_vote(Model& model) const {
    if (!n_neighbors_ && !weights_) return;
    auto* const chain = std::get_if<ChainModel>(&model.fitted);
    auto* const neighbors = std::get_if<NeighborsModel>(chain == nullptr ? &model.fitted : &chain->steps.back().fitted);
    if (neighbors == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: {} ({}) has no neighbours", n_neighbors_ ? "-k" : "--weights", model_,
                              std::string(model.kind())));
    }
    if (n_neighbors_ && *n_neighbors_ < 1) {
      throw Error(ErrorCode::invalid_argument, fmt::format("-k: {} is not at least 1", *n_neighbors_));
    }
    neighbors->n_neighbors = n_neighbors_.value_or(neighbors->n_neighbors);
    neighbors->weights = weights_.value_or(neighbors->weights);
  }

  void require_explained(const Model& of) const {
    const Model& model = last_step(of);
    if (!explain_.wanted() || std::holds_alternative<NeighborsModel>(model.fitted)) return;
    const bool reasons =
        std::holds_alternative<DecisionTree>(model.fitted) || std::holds_alternative<LinearModel>(model.fitted);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--explain-out: {} ({}) has no neighbours{}", model_, std::string(model.kind()),
                            reasons ? "; --explain writes the reasons into the predictions" : ""));
  }

  // Whether it gives a table rather than predictions.
  static bool is_table(const Model& of) {
    const Model& model = last_step(of);
    return std::holds_alternative<Pca>(model.fitted) || std::holds_alternative<CutsModel>(model.fitted) ||
           std::holds_alternative<Normalizer>(model.fitted) || std::holds_alternative<Imputer>(model.fitted);
  }

  // The member of --json that holds the result.
  static std::string key_of(const Model& model) {
    if (is_table(model)) return "table";
    const auto* neighbors = std::get_if<NeighborsModel>(&last_step(model).fitted);
    const bool labelled = neighbors == nullptr || column_of(neighbors->train, Role::label) != nullptr;
    return labelled ? "predictions" : "neighbors";
  }

  static bool has_classes(const Model& of) {
    const Model& model = last_step(of);
    const auto* neighbors = std::get_if<NeighborsModel>(&model.fitted);
    return std::holds_alternative<DecisionTree>(model.fitted) || (neighbors != nullptr && neighbors->classifies());
  }

  // The label to score against, or null: under --scores no, and, with a warning, if it is of another kind.
  const Column* label_of(Session& session, const Table& table, bool nominal) const {
    if (!scores_) return nullptr;
    const Column* const label = column_of(table, Role::label);
    if (label == nullptr || label->nominal() == nominal) return label;
    session.warn("no scores: the label '" + label->name + "' is " + (label->nominal() ? "nominal" : "numeric") +
                 " here, but the model's label is not");
    return nullptr;
  }

  // Under --explain each row of a tree shows the rule that fired: its number as in `stope tree --format rules`, and its
  // conditions.
  void classify(Session& session, const Predictor& predictor, const Table& table) {
    const auto* const tree = std::get_if<DecisionTree>(&last_step(predictor.model()).fitted);
    const bool explain = common.explain && tree != nullptr;
    const Column* const label = label_of(session, table, true);
    ClassOutput out(session.run(), file_, output_.format, table, predictor.classes(), with_confidences_, label,
                    explain ? std::vector<std::string>{"rule", "because"} : std::vector<std::string>());
    session.timed(tree == nullptr ? "search" : "predict", [&] {
      if (explain) {
        this->explain(session, *tree, predictor.prepared(table, session.run()), out);
      } else if (const auto report = predictor.classify(table, session.run(), std::ref(out),
                                                        with_confidences_ ? Confidences::all : Confidences::none)) {
        session.note_plan(*report);
      }
    });
    out.flush();
    out.score(session);
    out.report(session);
  }

  void explain(Session& session, const DecisionTree& tree, const Table& table, ClassOutput& out) const {
    const Reasons reasons(tree);
    constexpr std::size_t kMostKept = std::size_t{16} << 20;  // bytes of reasons: those of a deep tree are long
    std::unordered_map<std::int64_t, Reason> kept;
    std::size_t kept_bytes = 0;
    const auto reason_of = [&](std::int64_t leaf) -> const Reason& {
      const auto found = kept.find(leaf);
      if (found != kept.end()) return found->second;
      if (kept_bytes > kMostKept) {
        kept.clear();
        kept_bytes = 0;
      }
      const Reason& made = kept.emplace(leaf, reasons.of(leaf)).first->second;
      kept_bytes += sizeof made + made.text.size();
      return made;
    };
    const std::vector<std::int64_t> leaves = tree.apply(table, session.run());
    const Classification classes = tree.classes_of(leaves, with_confidences_ ? Confidences::all : Confidences::none);
    for (std::size_t row = 0; row < leaves.size(); ++row) {
      out.row(0, classes, row, [&](RecordWriter& csv) {
        if (leaves[row] < 0) {
          csv.empty().empty();
        } else {
          const Reason& reason = reason_of(leaves[row]);
          csv.integer(reason.rule).text(reason.text);
        }
      });
    }
  }

  void regress(Session& session, const Predictor& predictor, const Table& table) {
    const Column* const label = label_of(session, table, false);
    const auto* const linear = std::get_if<LinearModel>(&last_step(predictor.model()).fitted);
    if (linear != nullptr && common.explain) {
      explain(session, *linear, predictor.prepared(table, session.run()), label);
      return;
    }
    NumberOutput out(session.run(), file_, output_.format, table, label);
    const bool searches = std::holds_alternative<NeighborsModel>(last_step(predictor.model()).fitted);
    session.timed(searches ? "search" : "predict", [&] {
      if (const auto report = predictor.regress(table, session.run(), std::ref(out))) session.note_plan(*report);
    });
    out.flush();
    out.report(session);
  }

  // Under --explain each row of least squares shows what every coefficient adds.
  void explain(Session& session, const LinearModel& linear, const Table& table, const Column* label) {
    NumberOutput out(session.run(), file_, output_.format, table, label, {"because"});
    session.timed("predict", [&] {
      const std::vector<double> numbers = linear.predict(table, session.run());
      const std::vector<double> parts = linear.contributions(table, session.run());
      const std::size_t width = linear.feature_names().size();
      for (std::size_t row = 0; row < numbers.size(); ++row) {
        out.row(static_cast<std::int64_t>(row), numbers[row], [&](RecordWriter& csv) {
          csv.text(linear_reason(linear, std::span(parts).subspan(row * width, width)));
        });
      }
    });
    out.flush();
    out.report(session);
  }

  void search(Session& session, const Predictor& predictor, const Table& table) {
    std::optional<RecordWriter> csv;
    if (file_) csv.emplace(*file_, output_.format).text("row").text("pos").text("train_index").text("distance");
    if (csv) csv->end_row();
    session.note_plan(session.timed("search", [&] {
      return predictor.neighbors(table, session.run(), [&](const Neighbors& block) {
        if (csv) write(*csv, block);
      });
    }));
    if (csv) csv->finish();
  }

  static void write(RecordWriter& csv, const Neighbors& block) {
    for (std::int64_t query = 0; query < block.n_queries(); ++query) {
      const auto begin = block.offsets[static_cast<std::size_t>(query)];
      const auto end = block.offsets[static_cast<std::size_t>(query) + 1];
      for (std::int64_t at = begin; at < end; ++at) {
        csv.integer(block.first_query + query).integer(at - begin).integer(block.indices[static_cast<std::size_t>(at)]);
        csv.number(block.distances[static_cast<std::size_t>(at)]);
        csv.end_row();
      }
    }
  }

  void transform(Session& session, const Predictor& predictor, const Table& table) {
    const auto* const imputer = std::get_if<Imputer>(&predictor.model().fitted);
    ImputeReport report;
    const Table result = session.timed("transform", [&] {
      return imputer != nullptr ? imputer->apply(table, session.run(), &report)
                                : predictor.transform(table, session.run());
    });
    if (imputer != nullptr) tell(session, report);
    session.timed("write", [&] { write_result(*file_, output_.format, result, {}, session.run()); });
  }

  std::string model_, table_;
  OutputArguments output_;
  std::optional<std::int64_t> n_neighbors_;
  std::optional<VoteWeights> weights_;
  bool with_confidences_ = false, scores_ = true;
  std::optional<OutputFile> file_;
  ExplainArguments explain_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_predict(CLI::App& program) {
  return std::make_unique<Predict>(program);
}

}  // namespace stope::cli
