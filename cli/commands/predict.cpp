// stope predict applies a saved model to every row of a table.
#include <fmt/format.h>

#include <numeric>

#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "commands/prediction.hpp"
#include "report/score_report.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"
#include "stope/tree_format.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  stope classify train.csv --target class -k 11 --normalize z --model-out classes.stope\n"
    "  stope predict classes.stope more.csv --proba -o predictions.csv\n"
    "  stope info classes.stope\n";

class Predict : public Command {
 public:
  explicit Predict(CLI::App& program)
      : Command(
            program, "predict", "Apply a saved model to a table",
            "Applies a model that --model-out has saved to every row of TABLE and writes CSV. Classes and numbers: "
            "row, "
            "prediction and, with --proba, a confidence for every class. Principal components: the scores. Cuts: the "
            "coded table. An index without a label: the neighbours (row, pos, train_index, distance). Columns are "
            "matched by name and read with the types they had. For a tree, --explain also writes the one rule that "
            "applied. Where TABLE has the label, the scores go to stderr.") {
    add_argument(*app, "MODEL", model_, "FILE", "Model file");
    add_argument(*app, "TABLE", table_, "TABLE", "Table to predict; '-' reads stdin");
    OptionGroup group(*app, "Prediction");
    group.flag("--proba", with_confidences_, "Write the confidence of every class, too");
    group.text("-o,--output", output_, "FILE", "File for the predictions; default: stdout");
    tables_.add_to(*app, Tables::one);
    add_common(kExamples);
  }

  void run(Session& session) override {
    require_one_stdin(model_, table_);
    warn_of_policy(session);
    require_backend(session.run());
    if (session.wants_data(output_)) file_.emplace(output_path(output_));
    const Model model = session.timed("read", [&] { return read_model(model_, session.run()); });
    if (with_confidences_ && !has_classes(model)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--proba: {} ({}) knows no classes", model_, std::string(model.kind())));
    }
    Table table = session.timed("read", [&] { return tables_.read_second(table_, model.columns, session.run()); });
    session.hold({&table});
    session.json()["model"] = {{"path", model_}, {"kind", std::string(model.kind())}};
    session.note_input("table", table_, table);
    std::visit([&](const auto& fitted) { predict(session, fitted, table); }, model.fitted);
    commit_files(session, {&file_});
  }

 private:
  // Warns that "--missing drop" may be meant as the policy of trees and cuts (--missing-policy), which the model holds.
  void warn_of_policy(Session& session) const {
    const std::vector<std::string>& spellings = tables_.read.missing;
    if (spellings.size() != 1) return;
    for (const auto policy : {MissingPolicy::error, MissingPolicy::value, MissingPolicy::drop, MissingPolicy::fill}) {
      if (spellings[0] != to_string(policy)) continue;
      session.warn("--missing " + spellings[0] +
                   " says how missing values are spelled; what they mean is in the model already");
    }
  }

  static bool has_classes(const Model& model) {
    const auto* neighbors = std::get_if<NeighborsModel>(&model.fitted);
    return std::holds_alternative<DecisionTree>(model.fitted) || (neighbors != nullptr && neighbors->classifies());
  }

  // The label to score against, or null, with a warning if it is of another kind.
  static const Column* label_of(Session& session, const Table& table, bool nominal) {
    const Column* const label = column_of(table, Role::label);
    if (label == nullptr || label->nominal() == nominal) return label;
    session.warn("no scores: the label '" + label->name + "' is " + (label->nominal() ? "nominal" : "numeric") +
                 " here, but the model's label is not");
    return nullptr;
  }

  std::vector<std::string> names(const std::vector<std::string>& classes) const {
    std::vector<std::string> names = {"prediction"};
    if (!with_confidences_) return names;
    for (const std::string& name : classes) names.push_back("confidence(" + name + ")");
    return names;
  }

  void write(CsvWriter& csv, const Classification& block, std::size_t i) const {
    const std::int32_t code = block.codes[i];
    csv.text(code < 0 ? "?" : block.classes[static_cast<std::size_t>(code)]);
    const std::size_t n = block.classes.size();
    for (std::size_t c = 0; with_confidences_ && c < n; ++c) csv.number(block.confidences[i * n + c]);
  }

  void predict(Session& session, const NeighborsModel& model, const Table& table) {
    const Table queries = session.timed("normalize", [&] { return model.normalizer.apply(table, session.run()); });
    if (model.classifies()) {
      classify(session, model, queries);
    } else if (model.regresses()) {
      regress(session, model, queries);
    } else {
      search(session, model, queries);
    }
  }

  static VoteOptions vote(const NeighborsModel& model) {
    return {.n_neighbors = model.n_neighbors, .weights = model.weights};
  }

  void classify(Session& session, const NeighborsModel& model, const Table& table) {
    const auto classifier =
        session.timed("fit", [&] { return KnnClassifier::fit(model.train, model.options, session.run()); });
    const std::vector<std::string>& classes = column_of(model.train, Role::label)->values;
    PredictionWriter out(file_, table, names(classes));
    const Column* const label = label_of(session, table, true);
    std::vector<std::int32_t> predicted;
    session.note_plan(session.timed("search", [&] {
      return classifier.predict(
          table, vote(model), session.run(), [&](std::int64_t first, const Classification& block) {
            for (std::size_t i = 0; i < block.codes.size(); ++i) {
              out.row(first + static_cast<std::int64_t>(i), [&](CsvWriter& csv) { write(csv, block, i); });
            }
            if (label != nullptr) predicted.insert(predicted.end(), block.codes.begin(), block.codes.end());
          });
    }));
    out.flush();
    if (label != nullptr) report_scores(session, *label, classes, predicted);
  }

  void regress(Session& session, const NeighborsModel& model, const Table& table) {
    const auto regressor =
        session.timed("fit", [&] { return KnnRegressor::fit(model.train, model.options, session.run()); });
    PredictionWriter out(file_, table, {"prediction"});
    const Column* const label = label_of(session, table, false);
    std::vector<double> predicted;
    session.note_plan(session.timed("search", [&] {
      return regressor.predict(
          table, vote(model), session.run(), [&](std::int64_t first, std::span<const double> block) {
            for (std::size_t i = 0; i < block.size(); ++i) {
              out.row(first + static_cast<std::int64_t>(i), [&](CsvWriter& csv) { csv.number(block[i]); });
            }
            if (label != nullptr) predicted.insert(predicted.end(), block.begin(), block.end());
          });
    }));
    out.flush();
    if (label != nullptr) report_scores(session, score_against(*label, predicted));
  }

  void search(Session& session, const NeighborsModel& model, const Table& table) {
    const auto index = session.timed("fit", [&] { return KnnIndex::fit(model.train, model.options, session.run()); });
    std::optional<CsvWriter> csv;
    if (file_) csv.emplace(*file_).text("row").text("pos").text("train_index").text("distance");
    if (csv) csv->end_row();
    const SearchOptions options{.n_neighbors = model.n_neighbors};
    session.note_plan(session.timed("search", [&] {
      return index.kneighbors(table, options, session.run(), [&](const Neighbors& block) {
        if (csv) write(*csv, block);
      });
    }));
    if (csv) csv->flush();
  }

  static void write(CsvWriter& csv, const Neighbors& block) {
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

  void predict(Session& session, const Pca& model, const Table& table) {
    if (!file_) return;
    const Table scores = session.timed("scores", [&] { return model.transform(table, session.run()); });
    session.timed("write", [&] { write_table(*file_, scores, {}, session.run()); });
  }

  void predict(Session& session, const CutsModel& model, const Table& table) {
    if (!file_) return;
    const Table coded =
        session.timed("code", [&] { return apply_cuts(table, model.cuts, model.coding, session.run()); });
    session.timed("write", [&] { write_table(*file_, coded, {}, session.run()); });
  }

  void predict(Session& session, const LinearModel& model, const Table& table) {
    const std::vector<double> predicted = session.timed("predict", [&] { return model.predict(table, session.run()); });
    PredictionWriter out(file_, table, {"prediction"});
    for (std::size_t row = 0; row < predicted.size(); ++row) {
      out.row(static_cast<std::int64_t>(row), [&](CsvWriter& csv) { csv.number(predicted[row]); });
    }
    out.flush();
    const Column* const label = label_of(session, table, false);
    if (label != nullptr) report_scores(session, score_against(*label, predicted));
  }

  // Under --explain each row shows the rule that fired: its number as in `stope tree --format rules`, and its
  // conditions.
  void predict(Session& session, const DecisionTree& tree, const Table& table) {
    std::vector<std::string> header = names(tree.classes());
    if (common.explain) header.insert(header.end(), {"rule", "because"});
    PredictionWriter out(file_, table, header);
    const Column* const label = label_of(session, table, true);
    std::vector<std::int32_t> predicted;
    const std::vector<Explanation> because = common.explain ? explanations(tree) : std::vector<Explanation>();
    const std::vector<std::int64_t> leaves = session.timed("predict", [&] { return tree.apply(table, session.run()); });
    for (std::size_t row = 0; row < leaves.size(); ++row) {
      const std::int64_t leaf = leaves[row];
      out.row(static_cast<std::int64_t>(row), [&](CsvWriter& csv) {
        write_leaf(csv, tree, leaf);
        if (!common.explain) return;
        if (leaf < 0) {
          csv.empty().empty();
        } else {
          csv.integer(because[static_cast<std::size_t>(leaf)].rule).text(because[static_cast<std::size_t>(leaf)].text);
        }
      });
      if (label == nullptr) continue;
      predicted.push_back(leaf < 0 ? kMissingCode : tree.nodes()[static_cast<std::size_t>(leaf)].majority);
    }
    out.flush();
    if (label != nullptr) report_scores(session, *label, tree.classes(), predicted);
  }

  struct Explanation {
    std::int64_t rule = 0;
    std::string text;
  };

  // One explanation per node; only leaves have one.
  static std::vector<Explanation> explanations(const DecisionTree& tree) {
    std::vector<Explanation> of_node(tree.nodes().size());
    std::int64_t number = 0;
    for (const Rule& rule : tree.rules()) {
      of_node[static_cast<std::size_t>(rule.leaf)] = {++number, rule_text(tree, rule)};
    }
    return of_node;
  }

  void write_leaf(CsvWriter& csv, const DecisionTree& tree, std::int64_t leaf) const {
    const std::size_t n = tree.classes().size();
    csv.text(leaf < 0
                 ? "?"
                 : tree.classes()[static_cast<std::size_t>(tree.nodes()[static_cast<std::size_t>(leaf)].majority)]);
    if (!with_confidences_) return;
    const double* const counts = leaf < 0 ? nullptr : tree.counts(leaf);
    const double sum = leaf < 0 ? 1.0 : std::accumulate(counts, counts + n, 0.0);
    for (std::size_t k = 0; k < n; ++k) csv.number(leaf < 0 ? 0.0 : counts[k] / sum);
  }

  std::string model_, table_, output_;
  bool with_confidences_ = false;
  std::optional<OutputFile> file_;
  TableArguments tables_;
};

}  // namespace

std::unique_ptr<Command> add_predict(CLI::App& program) {
  return std::make_unique<Predict>(program);
}

}  // namespace stope::cli
