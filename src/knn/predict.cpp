// KnnClassifier and KnnRegressor: labels in, votes out (stope/knn.hpp).
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/number_text.hpp"
#include "knn/search/search.hpp"
#include "knn/vote/ballot.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

const Column& label_column(const Table& train) {
  const std::int64_t index = train.find(Role::label);
  if (index < 0) throw Error(ErrorCode::invalid_argument, "the training table has no label column", {train.source});
  return train.columns[static_cast<std::size_t>(index)];
}

[[noreturn]] void missing_label(const Table& train, const Column& label, std::int64_t row) {
  throw Error(ErrorCode::invalid_file,
              "the label '" + label.name + "' of training row " + std::to_string(row) + " is missing", {train.source});
}

// Returns the weight column as doubles; empty where there is none, or where RapidMiner ignores it.
std::vector<double> sample_weights_of(const Table& train, Compat compat) {
  const std::int64_t index = train.find(Role::weight);
  if (index < 0 || compat == Compat::rapidminer) return {};
  const Column& column = train.columns[static_cast<std::size_t>(index)];
  if (column.nominal()) {
    throw Error(ErrorCode::invalid_file, "the sample weight column '" + column.name + "' is not numeric",
                {train.source});
  }
  std::vector<double> weights(static_cast<std::size_t>(train.n_rows));
  for (std::int64_t row = 0; row < train.n_rows; ++row) {
    const double weight = column.at(row);
    if (!(weight >= 0.0) || std::isinf(weight)) {
      throw Error(ErrorCode::invalid_argument,
                  "the sample weight of training row " + std::to_string(row) + " is " +
                      (std::isnan(weight) ? "missing" : number_text(weight)) + "; weights are finite and >= 0",
                  {train.source});
    }
    weights[static_cast<std::size_t>(row)] = weight;
  }
  return weights;
}

// Where a prediction goes: its numbers, and its class if there are classes.
struct Cell {
  std::int32_t* winner;
  std::span<double> values;
};

// Runs one search for all ks. place(k's position, query) says where a prediction goes, and placed(k's position, query)
// that it is there. Both are called in the order of the queries.
template <class Where, class Placed>
class PredictJob {
 public:
  PredictJob(const knn::Fitted& fitted, const knn::Ballot& ballot, const Where& place, const Placed& placed)
      : fitted_(fitted), ballot_(ballot), place_(place), placed_(placed) {}

  SearchReport run(const Table& test, const VoteOptions& options, const RunOptions& run) const {
    knn::SearchJob job{knn::select_nearest(fitted_, ballot_.ks, options.exclude_self), options.exclude_group};
    if (ballot_.bytes_per_query() <= knn::kMostVotedBytes) {
      job.selection.ballot = &ballot_;
      job.outcome_sink = [&](const knn::Outcome& outcome) { take(outcome); };
    }
    const bool shared_list = job.selection.kind == knn::Selection::Kind::nearest;
    return knn::run_search(fitted_, test, job, run, [&](std::vector<Neighbors>& lists) {
      for (std::size_t which = 0; which < ballot_.ks.size(); ++which) vote(which, lists[shared_list ? 0 : which]);
    });
  }

 private:
  void vote(std::size_t which, const Neighbors& block) const {
    for (std::int64_t i = 0; i < block.n_queries(); ++i) {
      const auto begin = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i)]);
      const auto length = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i) + 1]) - begin;
      vote(which, block.first_query + i, std::span(block.indices).subspan(begin, length),
           std::span(block.distances).subspan(begin, length));
    }
  }

  void vote(std::size_t which, std::int64_t query, std::span<const std::int64_t> indices,
            std::span<const double> distances) const {
    const std::int64_t k = ballot_.ks[which];
    const std::int64_t n = std::min(static_cast<std::int64_t>(indices.size()), k);
    const Cell place = place_(which, query);
    const std::int32_t winner = knn::cast_vote(ballot_, {distances.data(), indices.data(), n, k}, place.values);
    if (place.winner != nullptr) *place.winner = winner;
    placed_(which, query);
  }

  // Votes on the lists that a GPU left to the host. The GPU's own predictions are in place, or are put there now.
  void take(const knn::Outcome& outcome) const {
    const bool in_place = !ballot_.values.empty();
    for (std::size_t which = 0; which < ballot_.ks.size(); ++which) {
      std::int64_t i = 0;
      for (std::size_t list = 0; list < outcome.lists.size(); ++list, ++i) {
        if (!in_place) put(which, outcome, i, outcome.listed[list]);
        i = outcome.listed[list];
        vote(which, outcome.first_query + i, outcome.lists[list]);
      }
      if (!in_place) put(which, outcome, i, outcome.n_queries);
    }
  }

  void vote(std::size_t which, std::int64_t query, const std::vector<knn::Neighbor>& list) const {
    std::vector<std::int64_t> indices;
    std::vector<double> distances;
    for (const knn::Neighbor& candidate : list) {
      indices.push_back(candidate.row);
      distances.push_back(candidate.distance);
    }
    vote(which, query, indices, distances);
  }

  // Puts the GPU's predictions of queries [begin, end) of the block in place.
  void put(std::size_t which, const knn::Outcome& outcome, std::int64_t begin, std::int64_t end) const {
    const std::int64_t n_values = ballot_.voters.n_values();
    for (std::int64_t i = begin; i < end; ++i) {
      const Cell cell = place_(which, outcome.first_query + i);
      const std::int64_t at = static_cast<std::int64_t>(which) * outcome.n_queries + i;
      std::copy_n(outcome.values.data() + at * n_values, n_values, cell.values.begin());
      if (cell.winner != nullptr) *cell.winner = outcome.winners[static_cast<std::size_t>(at)];
      placed_(which, outcome.first_query + i);
    }
  }

  const knn::Fitted& fitted_;
  const knn::Ballot& ballot_;
  const Where& place_;
  const Placed& placed_;
};

template <class Where, class Placed>
SearchReport vote_each(const knn::Fitted& fitted, const knn::Ballot& ballot, const Table& test,
                       const VoteOptions& options, const RunOptions& run, const Where& place, const Placed& placed) {
  return PredictJob(fitted, ballot, place, placed).run(test, options, run);
}

}  // namespace

KnnClassifier KnnClassifier::fit(const Table& train, const KnnOptions& options, const RunOptions& run) {
  KnnClassifier classifier;
  classifier.label_ = label_column(train);
  const Column& label = classifier.label_;
  if (!label.nominal()) {
    throw Error(ErrorCode::unsupported, "classification needs a nominal label; '" + label.name + "' is numeric",
                {train.source});
  }
  if (options.compat == Compat::none) {
    for (std::int64_t row = 0; row < train.n_rows; ++row) {
      if (label.codes()[row] < 0) missing_label(train, label, row);
    }
  }
  classifier.sample_weights_ = sample_weights_of(train, options.compat);
  classifier.index_ = KnnIndex::fit(train, options, run);
  return classifier;
}

namespace {

constexpr std::int64_t kPredictionsAtOnce = 1024;  // predictions handed out at once: little memory, few calls

knn::Ballot class_ballot(const knn::Fitted& fitted, const Column& label, const std::vector<double>& sample_weights,
                         VoteWeights weights, std::vector<std::int64_t> ks) {
  return {knn::vote_rule(weights, fitted.options().compat),
          {label.codes().data(), static_cast<std::int64_t>(label.values.size()), nullptr,
           sample_weights.empty() ? nullptr : sample_weights.data(), fitted.n_rows()},
          std::move(ks)};
}

Classification blank(const std::vector<std::string>& classes, std::int64_t n_rows) {
  const auto n_classes = static_cast<std::int64_t>(classes.size());
  return {classes, std::vector<std::int32_t>(static_cast<std::size_t>(n_rows), kMissingCode),
          std::vector<double>(static_cast<std::size_t>(checked::mul(n_rows, n_classes)), 0.0)};
}

std::span<double> confidences_of(Classification& result, std::int64_t row) {
  const std::size_t n_classes = result.classes.size();
  return std::span(result.confidences).subspan(static_cast<std::size_t>(row) * n_classes, n_classes);
}

}  // namespace

std::vector<Classification> KnnClassifier::predict_each(const Table& test, const std::vector<std::int64_t>& ks,
                                                        const VoteOptions& vote, const RunOptions& run,
                                                        SearchReport* report) const {
  const auto n_classes = static_cast<std::int64_t>(label_.values.size());
  const std::int64_t bytes = checked::mul(checked::mul(test.n_rows, n_classes),
                                          checked::mul(static_cast<std::int64_t>(ks.size()), sizeof(double)));
  if (const std::int64_t budget = memory_budget(run); bytes > budget) {
    throw Error(ErrorCode::out_of_memory, "the confidences of " + std::to_string(test.n_rows) + " rows and " +
                                              std::to_string(n_classes) + " classes need " + std::to_string(bytes) +
                                              " bytes, but the memory limit is " + std::to_string(budget));
  }
  std::vector<Classification> results;
  const knn::Fitted& fitted = index_.fitted();
  knn::Ballot ballot = class_ballot(fitted, label_, sample_weights_, vote.weights, ks);
  results.reserve(ks.size());
  for (std::size_t i = 0; i < ks.size(); ++i) results.push_back(blank(label_.values, test.n_rows));
  for (Classification& result : results) {
    ballot.winners.push_back(result.codes.data());
    ballot.values.push_back(result.confidences.data());
  }
  const SearchReport done = vote_each(
      fitted, ballot, test, vote, run,
      [&](std::size_t which, std::int64_t query) {
        Classification& result = results[which];
        return Cell{&result.codes[static_cast<std::size_t>(query)], confidences_of(result, query)};
      },
      [](std::size_t, std::int64_t) {});
  if (report != nullptr) *report = done;
  return results;
}

Classification KnnClassifier::predict(const Table& test, const VoteOptions& vote, const RunOptions& run) const {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
}

SearchReport KnnClassifier::predict(const Table& test, const VoteOptions& vote, const RunOptions& run,
                                    const ClassificationSink& sink) const {
  const Classification empty = blank(label_.values, kPredictionsAtOnce);
  Classification block = empty;
  const knn::Fitted& fitted = index_.fitted();
  return vote_each(
      fitted, class_ballot(fitted, label_, sample_weights_, vote.weights, {vote.n_neighbors}), test, vote, run,
      [&](std::size_t, std::int64_t query) {
        const std::int64_t at = query % kPredictionsAtOnce;
        return Cell{&block.codes[static_cast<std::size_t>(at)], confidences_of(block, at)};
      },
      [&](std::size_t, std::int64_t query) {
        const std::int64_t at = query % kPredictionsAtOnce;
        if (at + 1 < kPredictionsAtOnce && query + 1 < test.n_rows) return;
        block.codes.resize(static_cast<std::size_t>(at) + 1);
        block.confidences.resize(block.codes.size() * block.classes.size());
        sink(query - at, block);
        block = empty;
      });
}

KnnRegressor KnnRegressor::fit(const Table& train, const KnnOptions& options, const RunOptions& run) {
  KnnRegressor regressor;
  const Column& label = label_column(train);
  if (label.nominal()) {
    throw Error(ErrorCode::unsupported, "regression needs a numeric label; '" + label.name + "' is nominal",
                {train.source});
  }
  regressor.target_.resize(static_cast<std::size_t>(train.n_rows));
  for (std::int64_t row = 0; row < train.n_rows; ++row) {
    const double value = label.at(row);
    if (std::isnan(value) && options.compat == Compat::none) missing_label(train, label, row);
    regressor.target_[static_cast<std::size_t>(row)] = value;
  }
  regressor.sample_weights_ = sample_weights_of(train, options.compat);
  regressor.index_ = KnnIndex::fit(train, options, run);
  return regressor;
}

namespace {

knn::Ballot mean_ballot(const knn::Fitted& fitted, const std::vector<double>& target,
                        const std::vector<double>& sample_weights, VoteWeights weights, std::vector<std::int64_t> ks) {
  return {knn::vote_rule(weights, fitted.options().compat),
          {nullptr, 0, target.data(), sample_weights.empty() ? nullptr : sample_weights.data(), fitted.n_rows()},
          std::move(ks)};
}

}  // namespace

std::vector<std::vector<double>> KnnRegressor::predict_each(const Table& test, const std::vector<std::int64_t>& ks,
                                                            const VoteOptions& vote, const RunOptions& run,
                                                            SearchReport* report) const {
  std::vector<std::vector<double>> results(ks.size(), std::vector<double>(static_cast<std::size_t>(test.n_rows)));
  const knn::Fitted& fitted = index_.fitted();
  knn::Ballot ballot = mean_ballot(fitted, target_, sample_weights_, vote.weights, ks);
  for (std::vector<double>& result : results) ballot.values.push_back(result.data());
  const SearchReport done = vote_each(
      fitted, ballot, test, vote, run,
      [&](std::size_t which, std::int64_t query) {
        return Cell{nullptr, std::span(results[which]).subspan(static_cast<std::size_t>(query), 1)};
      },
      [](std::size_t, std::int64_t) {});
  if (report != nullptr) *report = done;
  return results;
}

std::vector<double> KnnRegressor::predict(const Table& test, const VoteOptions& vote, const RunOptions& run) const {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
}

SearchReport KnnRegressor::predict(const Table& test, const VoteOptions& vote, const RunOptions& run,
                                   const RegressionSink& sink) const {
  std::vector<double> block;
  const knn::Fitted& fitted = index_.fitted();
  return vote_each(
      fitted, mean_ballot(fitted, target_, sample_weights_, vote.weights, {vote.n_neighbors}), test, vote, run,
      [&](std::size_t, std::int64_t) {
        block.push_back(0.0);
        return Cell{nullptr, std::span(block).last(1)};
      },
      [&](std::size_t, std::int64_t query) {
        if (static_cast<std::int64_t>(block.size()) < kPredictionsAtOnce && query + 1 < test.n_rows) return;
        sink(query + 1 - static_cast<std::int64_t>(block.size()), block);
        block.clear();
      });
}

}  // namespace stope
