// Predictor: one way to apply models of every kind (stope/predictor.hpp).
#include "stope/predictor.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/guarded.hpp"
#include "base/sink.hpp"
#include "predict/explain.hpp"
#include "predict/steps.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr std::int64_t kBlock = 4096;                             // rows that a tree hands to a sink at a time
constexpr std::int64_t kMostConfidences = std::int64_t{1} << 17;  // of these rows, so that they take a megabyte

using Fitted = std::variant<std::monostate, KnnClassifier, KnnRegressor, KnnIndex>;

// In the functions below, `model` is the last step of a chain.
Fitted fit(const Model& model, const RunOptions& run) {
  const auto* const neighbors = std::get_if<NeighborsModel>(&model.fitted);
  if (neighbors == nullptr) return {};
  if (neighbors->classifies()) return KnnClassifier::fit(neighbors->train, neighbors->options, run);
  if (neighbors->regresses()) return KnnRegressor::fit(neighbors->train, neighbors->options, run);
  return KnnIndex::fit(neighbors->train, neighbors->options, run);
}

Predictor::Gives given_by(const Model& model) {
  if (const auto* const neighbors = std::get_if<NeighborsModel>(&model.fitted)) {
    return neighbors->classifies()  ? Predictor::Gives::classes
           : neighbors->regresses() ? Predictor::Gives::numbers
                                    : Predictor::Gives::neighbors;
  }
  if (std::holds_alternative<DecisionTree>(model.fitted)) return Predictor::Gives::classes;
  return std::holds_alternative<LinearModel>(model.fitted) ? Predictor::Gives::numbers : Predictor::Gives::table;
}

Values classes_of(const Model& model) {
  if (const auto* const tree = std::get_if<DecisionTree>(&model.fitted)) return tree->classes();
  if (given_by(model) != Predictor::Gives::classes) return {};
  const Table& train = std::get<NeighborsModel>(model.fitted).train;
  return train.columns[static_cast<std::size_t>(train.find(Role::label))].values;
}

}  // namespace

struct Predictor::Ready {
  Model model;
  Gives gives;
  Values classes;
  Fitted fitted;

  const Model& last() const { return last_step(model); }
  template <class Kind>
  const Kind* last_as() const {
    return std::get_if<Kind>(&last().fitted);
  }

  void require(Gives wanted, std::string_view what) const {
    if (gives == wanted) return;
    throw Error(ErrorCode::invalid_argument,
                "the model (" + std::string(model.kind()) + ") gives no " + std::string(what));
  }
  const NeighborsModel& neighbors() const {
    if (const auto* const found = last_as<NeighborsModel>()) return *found;
    throw Error(ErrorCode::invalid_argument, "the model (" + std::string(model.kind()) + ") is no k-NN model");
  }
  // What `work` gives for the table as the last step takes it; without steps before it the table is not even copied.
  template <class Work>
  auto on_prepared(const Table& table, const RunOptions& run, const Work& work) const {
    const auto* const chain = std::get_if<ChainModel>(&model.fitted);
    if (chain == nullptr) return work(table, run);
    const predict::Prepared prepared = predict::through(*chain, table, run);
    return work(prepared.table, prepared.run);
  }
  // The same for the table that is also normalised.
  template <class Work>
  auto on_normalized(const Table& table, const RunOptions& run, const Work& work) const {
    const Normalizer& normalizer = neighbors().normalizer;
    return on_prepared(table, run, [&](const Table& rows, const RunOptions& rest) {
      if (normalizer.options().method == Normalization::none) return work(rows, rest);
      return work(normalizer.apply(rows, rest), rest);
    });
  }
};

Predictor::Predictor(Model model, const RunOptions& run) try {
  if (const auto* const chain = std::get_if<ChainModel>(&model.fitted)) predict::require_steps(*chain);
  const Model& last = last_step(model);
  Fitted fitted = fit(last, run);
  const Gives gives = given_by(last);
  Values classes = classes_of(last);
  ready_ = std::make_shared<const Ready>(Ready{std::move(model), gives, std::move(classes), std::move(fitted)});
} catch (...) {
  rethrow_as_error();
}

Predictor::Gives Predictor::gives() const try { return ready_->gives; } catch (...) {
  rethrow_as_error();
}
const Model& Predictor::model() const try { return ready_->model; } catch (...) {
  rethrow_as_error();
}
const Values& Predictor::classes() const try { return ready_->classes; } catch (...) {
  rethrow_as_error();
}

const KnnIndex& Predictor::index() const try {
  ready_->neighbors();
  if (const auto* const classifier = std::get_if<KnnClassifier>(&ready_->fitted)) return classifier->index();
  if (const auto* const regressor = std::get_if<KnnRegressor>(&ready_->fitted)) return regressor->index();
  return std::get<KnnIndex>(ready_->fitted);
} catch (...) {
  rethrow_as_error();
}

SearchReport Predictor::predict(const QueryRows& prepared, const PredictionArrays& out, const RunOptions& run) const
    try {
  VoteOptions vote = ready_->neighbors().vote();
  if (const auto* const regressor = std::get_if<KnnRegressor>(&ready_->fitted)) {
    return regressor->predict(prepared, vote, run, out);
  }
  const auto* const classifier = std::get_if<KnnClassifier>(&ready_->fitted);
  if (classifier == nullptr) {
    throw Error(ErrorCode::invalid_argument, "the model finds neighbours, and has no label to predict");
  }
  vote.confidences = out.values != nullptr ? Confidences::all : Confidences::none;
  return classifier->predict(prepared, vote, run, out);
} catch (...) {
  rethrow_as_error();
}

Table Predictor::prepared(const Table& table, const RunOptions& run) const try {
  return ready_->on_prepared(table, run, [](const Table& rows, const RunOptions&) { return rows; });
} catch (...) {
  rethrow_as_error();
}

Table Predictor::normalized(const Table& table, const RunOptions& run) const try {
  return ready_->on_normalized(table, run, [](const Table& rows, const RunOptions&) { return rows; });
} catch (...) {
  rethrow_as_error();
}

Predictor Predictor::with_vote(std::int64_t n_neighbors, VoteWeights weights) const try {
  if (n_neighbors < 1) {
    throw Error(ErrorCode::invalid_argument, "k = " + std::to_string(n_neighbors) + " is not at least 1",
                {.option = "n_neighbors"});
  }
  ready_->neighbors();
  Model changed = ready_->model;
  auto* const chain = std::get_if<ChainModel>(&changed.fitted);
  auto& neighbors = std::get<NeighborsModel>(chain == nullptr ? changed.fitted : chain->steps.back().fitted);
  neighbors.n_neighbors = n_neighbors;
  neighbors.weights = weights;
  return Predictor(
      std::make_shared<const Ready>(Ready{std::move(changed), ready_->gives, ready_->classes, ready_->fitted}));
} catch (...) {
  rethrow_as_error();
}

Classification Predictor::classify(const Table& table, const RunOptions& run, SearchReport* report) const try {
  ready_->require(Gives::classes, "classes");
  if (const auto* const tree = ready_->last_as<DecisionTree>()) {
    return ready_->on_prepared(table, run,
                               [&](const Table& rows, const RunOptions& rest) { return tree->predict(rows, rest); });
  }
  const std::vector<std::int64_t> ks = {ready_->neighbors().n_neighbors};
  const auto& classifier = std::get<KnnClassifier>(ready_->fitted);
  return ready_->on_normalized(table, run, [&](const Table& rows, const RunOptions& rest) {
    return std::move(classifier.predict_each(rows, ks, ready_->neighbors().vote(), rest, report).front());
  });
} catch (...) {
  rethrow_as_error();
}

std::optional<SearchReport> Predictor::classify(const Table& table, const RunOptions& run,
                                                const ClassificationSink& sink, Confidences confidences) const try {
  require_sink(sink);
  ready_->require(Gives::classes, "classes");
  if (const auto* const tree = ready_->last_as<DecisionTree>()) {
    const std::vector<std::int64_t> leaves = ready_->on_prepared(
        table, run, [&](const Table& rows, const RunOptions& rest) { return tree->apply(rows, rest); });
    const auto n_rows = static_cast<std::int64_t>(leaves.size());
    const auto n_classes = static_cast<std::int64_t>(std::max<std::size_t>(ready_->classes.size(), 1));
    const std::int64_t at_once =
        confidences == Confidences::none ? kBlock : std::clamp<std::int64_t>(kMostConfidences / n_classes, 1, kBlock);
    for (std::int64_t first = 0; first < n_rows; first += at_once) {
      run.cancel.check();
      const auto n = static_cast<std::size_t>(std::min(at_once, n_rows - first));
      sink(first, tree->classes_of(std::span(leaves).subspan(static_cast<std::size_t>(first), n), confidences));
    }
    return {};
  }
  const auto& classifier = std::get<KnnClassifier>(ready_->fitted);
  VoteOptions vote = ready_->neighbors().vote();
  vote.confidences = confidences;
  return ready_->on_normalized(table, run, [&](const Table& rows, const RunOptions& rest) {
    return classifier.predict(rows, vote, rest, sink);
  });
} catch (...) {
  rethrow_as_error();
}

std::vector<double> Predictor::regress(const Table& table, const RunOptions& run, SearchReport* report) const try {
  ready_->require(Gives::numbers, "numbers");
  if (const auto* const linear = ready_->last_as<LinearModel>()) {
    return ready_->on_prepared(table, run,
                               [&](const Table& rows, const RunOptions& rest) { return linear->predict(rows, rest); });
  }
  const std::vector<std::int64_t> ks = {ready_->neighbors().n_neighbors};
  const auto& regressor = std::get<KnnRegressor>(ready_->fitted);
  return ready_->on_normalized(table, run, [&](const Table& rows, const RunOptions& rest) {
    return std::move(regressor.predict_each(rows, ks, ready_->neighbors().vote(), rest, report).front());
  });
} catch (...) {
  rethrow_as_error();
}

std::optional<SearchReport> Predictor::regress(const Table& table, const RunOptions& run,
                                               const RegressionSink& sink) const try {
  require_sink(sink);
  ready_->require(Gives::numbers, "numbers");
  if (ready_->last_as<LinearModel>() != nullptr) {
    sink(0, regress(table, run));
    return {};
  }
  const auto& regressor = std::get<KnnRegressor>(ready_->fitted);
  return ready_->on_normalized(table, run, [&](const Table& rows, const RunOptions& rest) {
    return regressor.predict(rows, ready_->neighbors().vote(), rest, sink);
  });
} catch (...) {
  rethrow_as_error();
}

Neighbors Predictor::neighbors(const Table& table, const RunOptions& run, SearchReport* report) const try {
  Neighbors all;
  const SearchReport done = neighbors(table, run, [&](const Neighbors& block) {
    const std::int64_t before = all.offsets.back();
    for (std::size_t i = 1; i < block.offsets.size(); ++i) all.offsets.push_back(before + block.offsets[i]);
    all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
    all.distances.insert(all.distances.end(), block.distances.begin(), block.distances.end());
  });
  if (report != nullptr) *report = done;
  return all;
} catch (...) {
  rethrow_as_error();
}

SearchReport Predictor::neighbors(const Table& table, const RunOptions& run, const NeighborSink& sink) const try {
  require_sink(sink);
  ready_->require(Gives::neighbors, "neighbours");
  const SearchOptions search{.n_neighbors = ready_->neighbors().n_neighbors};
  const auto& index = std::get<KnnIndex>(ready_->fitted);
  return ready_->on_normalized(table, run, [&](const Table& rows, const RunOptions& rest) {
    return index.kneighbors(rows, search, rest, sink);
  });
} catch (...) {
  rethrow_as_error();
}

SearchReport Predictor::explain(const Table& table, const RunOptions& run, const ExplanationSink& sink) const try {
  const NeighborsModel& model = ready_->neighbors();
  const knn::HeldVoters* voters = nullptr;
  if (const auto* const classifier = std::get_if<KnnClassifier>(&ready_->fitted)) voters = &classifier->voters();
  if (const auto* const regressor = std::get_if<KnnRegressor>(&ready_->fitted)) voters = &regressor->voters();
  return ready_->on_normalized(table, run, [&](const Table& rows, const RunOptions& rest) {
    return predict::explain(index(), voters, model, rows, rest, sink);
  });
} catch (...) {
  rethrow_as_error();
}

Table Predictor::transform(const Table& table, const RunOptions& run) const try {
  ready_->require(Gives::table, "table");
  return ready_->on_prepared(table, run, [&](const Table& rows, const RunOptions& rest) {
    return predict::transform(ready_->last(), rows, rest);
  });
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
