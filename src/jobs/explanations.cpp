#include "jobs/explanations.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "jobs/label.hpp"
#include "stope/error.hpp"
#include "stope/explain.hpp"
#include "stope/tree_format.hpp"

namespace stope::jobs {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

Table of_columns(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.front().size();
  table.columns = std::move(columns);
  return table;
}

Column whole(std::string name, const Numbers& numbers) {
  return make_numeric(std::move(name), numbers, ValueType::integer);
}

// Grows neighbour by neighbour.
class NeighborRows {
 public:
  NeighborRows(const Predictor& predictor, std::int64_t n_attributes)
      : label_(label_of(std::get<NeighborsModel>(last_step(predictor.model()).fitted).train)),
        features_(explained_features(predictor.index())),
        n_attributes_(n_attributes) {}

  void add(const RowExplanation& explanation) {
    for (std::int64_t i = 0; i < std::ssize(explanation.votes); ++i) {
      std::vector<AttributeShare> shares;
      if (!explanation.terms.empty()) shares = attribute_shares(explanation, i);
      if (std::ssize(shares) > n_attributes_) shares.resize(static_cast<std::size_t>(n_attributes_));
      for (const AttributeShare& share : shares) {
        add_vote(explanation, i);
        attribute_.push_back(static_cast<std::int32_t>(share.feature));
        term_.push_back(share.term);
        share_.push_back(share.share);
      }
      if (!shares.empty()) continue;
      add_vote(explanation, i);
      attribute_.push_back(kMissingCode);
      term_.push_back(kNone);
      share_.push_back(kNone);
    }
  }

  Table table() && {
    std::vector<Column> columns = {whole("row", row_), whole("pos", pos_), whole("train_index", train_index_)};
    if (label_ != nullptr && label_->nominal()) {
      columns.push_back(make_nominal("prediction", codes_, label_->values, label_->type));
      columns.push_back(make_nominal("train_label", train_codes_, label_->values, label_->type));
    } else if (label_ != nullptr) {
      columns.push_back(make_numeric("prediction", numbers_));
      columns.push_back(make_numeric("train_label", train_numbers_));
    }
    columns.push_back(make_numeric("distance", distance_));
    if (label_ != nullptr) {
      columns.push_back(make_numeric("weight", weight_));
      columns.push_back(make_numeric("vote_share", vote_share_));
    }
    columns.push_back(make_nominal("attribute", attribute_, features_, ValueType::nominal));
    columns.push_back(make_numeric("term", term_));
    columns.push_back(make_numeric("attribute_share", share_));
    return of_columns(std::move(columns));
  }

 private:
  void add_vote(const RowExplanation& explanation, std::int64_t i) {
    const NeighborVote& vote = explanation.votes[static_cast<std::size_t>(i)];
    row_.push_back(static_cast<double>(explanation.row));
    pos_.push_back(static_cast<double>(i));
    train_index_.push_back(static_cast<double>(vote.train_index));
    distance_.push_back(vote.distance);
    if (label_ == nullptr) return;
    weight_.push_back(vote.weight);
    vote_share_.push_back(vote.share);
    if (label_->nominal()) {
      codes_.push_back(explanation.code);
      train_codes_.push_back(label_->codes()[vote.train_index]);
    } else {
      numbers_.push_back(explanation.number);
      train_numbers_.push_back(label_->at(vote.train_index));
    }
  }

  const Column* label_;
  std::vector<std::string> features_;
  std::int64_t n_attributes_;
  Numbers row_, pos_, train_index_, distance_, weight_, vote_share_, term_, share_, numbers_, train_numbers_;
  // A block of rows has the values of every other block, so that answers in blocks fit together.
  std::vector<std::int32_t> codes_, train_codes_, attribute_;
};

Table of_tree(const DecisionTree& tree, const Table& rows, const RunOptions& run) {
  const Reasons reasons(tree);
  const std::vector<std::int64_t> leaves = tree.apply(rows, run);
  const Classification classes = tree.classes_of(leaves, Confidences::none);
  Numbers row, rule;
  std::vector<std::string> texts;  // of all leaves, for answers in blocks
  std::vector<std::int32_t> text_of(tree.nodes().size(), kMissingCode), because;
  std::vector<std::int64_t> number_of(tree.nodes().size());
  const std::int64_t budget = memory_budget(run);
  std::int64_t bytes = 0;  // the rules of a deep tree may take far more than the tree
  for (std::size_t node = 0; node < text_of.size(); ++node) {
    if (!tree.nodes()[node].leaf()) continue;
    run.cancel.check();
    Reason reason = reasons.of(static_cast<std::int64_t>(node));
    bytes += std::ssize(reason.text);
    if (bytes > budget) refuse_memory_from("the rules of the tree's leaves need", bytes, budget, {rows.source});
    number_of[node] = reason.rule;
    text_of[node] = static_cast<std::int32_t>(texts.size());
    texts.push_back(std::move(reason.text));
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    row.push_back(static_cast<double>(i));
    const bool known = leaves[i] >= 0;
    rule.push_back(known ? static_cast<double>(number_of[static_cast<std::size_t>(leaves[i])]) : kNone);
    because.push_back(known ? text_of[static_cast<std::size_t>(leaves[i])] : kMissingCode);
  }
  return of_columns({whole("row", row), make_nominal("prediction", classes.codes, classes.classes, ValueType::nominal),
                     whole("rule", rule), make_nominal("because", because, std::move(texts), ValueType::nominal)});
}

Table of_linear(const LinearModel& model, const Table& rows, const RunOptions& run) {
  const Numbers numbers = model.predict(rows, run), parts = model.contributions(rows, run);
  const std::vector<std::string>& names = model.feature_names();
  Numbers row, prediction, contribution;
  std::vector<std::int32_t> attribute;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j <= names.size(); ++j) {
      row.push_back(static_cast<double>(i));
      prediction.push_back(numbers[i]);
      attribute.push_back(static_cast<std::int32_t>(j) - 1);  // -1, missing: the intercept
      contribution.push_back(j == 0 ? model.intercept() : parts[i * names.size() + j - 1]);
    }
  }
  return of_columns({whole("row", row), make_numeric("prediction", prediction),
                     make_nominal("attribute", attribute, names, ValueType::nominal),
                     make_numeric("contribution", contribution)});
}

}  // namespace

Table explanations(const Predictor& predictor, const Table& rows, std::int64_t n_attributes, const RunOptions& run) {
  if (n_attributes < 0) {
    throw Error(ErrorCode::invalid_argument, "explain_attributes is " + std::to_string(n_attributes) + ": at least 0",
                {.option = "explain_attributes"});
  }
  const Model& model = last_step(predictor.model());
  if (const auto* const tree = std::get_if<DecisionTree>(&model.fitted))
    return of_tree(*tree, predictor.prepared(rows, run), run);
  if (const auto* const linear = std::get_if<LinearModel>(&model.fitted))
    return of_linear(*linear, predictor.prepared(rows, run), run);
  if (!std::holds_alternative<NeighborsModel>(model.fitted)) {
    throw Error(ErrorCode::invalid_argument,
                "the model (" + std::string(model.kind()) + ") gives a table, which nothing explains",
                {.option = "explain"});
  }
  NeighborRows found(predictor, n_attributes);
  predictor.explain(rows, run, [&](const RowExplanation& explanation) { found.add(explanation); });
  return std::move(found).table();
}

}  // namespace stope::jobs
