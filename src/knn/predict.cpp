// KnnClassifier and KnnRegressor: labels in, votes out (stope/knn.hpp).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/number_text.hpp"
#include "knn/search.hpp"
#include "knn/vote.hpp"
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

// The weight column as doubles; empty where there is none, or where RapidMiner ignores it.
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

// One search for all ks; vote(k's position, query, list) for each.
template <class Vote>
SearchReport vote_each(const knn::Fitted& fitted, const Table& test, const std::vector<std::int64_t>& ks,
                       const VoteOptions& options, const RunOptions& run, const Vote& vote) {
  const knn::SearchJob job{knn::select_nearest(fitted, ks, options.exclude_self), options.exclude_group};
  const bool shared_list = job.selection.kind == knn::Selection::Kind::nearest;
  return knn::run_search(fitted, test, job, run, [&](std::vector<Neighbors>& lists) {
    for (std::size_t which = 0; which < ks.size(); ++which) {
      const Neighbors& block = lists[shared_list ? 0 : which];
      for (std::int64_t i = 0; i < block.n_queries(); ++i) {
        const auto begin = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i)]);
        const auto length = static_cast<std::size_t>(block.offsets[static_cast<std::size_t>(i) + 1]) - begin;
        const std::size_t count = std::min(length, static_cast<std::size_t>(ks[which]));
        const knn::VoteList list{std::span(block.indices).subspan(begin, count),
                                 std::span(block.distances).subspan(begin, count), ks[which]};
        vote(which, block.first_query + i, list);
      }
    }
  });
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

constexpr std::int64_t kBlockRows = 1024;  // predictions handed out at once: little memory, few calls

// The votes of one query row's neighbours: a confidence for every class, and the class that wins.
class ClassVote {
 public:
  ClassVote(const Column& label, const std::vector<double>& sample_weights, VoteWeights weights, Compat compat)
      : label_(label),
        sample_weights_(sample_weights),
        weighting_(weights),
        rapidminer_(compat == Compat::rapidminer) {}

  /// `confidences` are 0 beforehand.
  std::int32_t cast(const knn::VoteList& list, std::span<double> confidences) {
    if (rapidminer_) {
      knn::rapidminer_confidences(list, weighting_, weights_);
    } else {
      knn::neighbor_weights(list, weighting_, sample_weights_, weights_);
    }
    double total = 0.0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      // RapidMiner reads a missing label as class 0; outside its mode there is none.
      const std::int32_t code = std::max(label_.codes()[list.indices[i]], 0);
      if (!confidences.empty()) confidences[static_cast<std::size_t>(code)] += weights_[i];
      total += weights_[i];
    }
    if (!rapidminer_) {
      // No neighbour, or only neighbours without weight: 0/0 leaves every confidence NaN and the prediction missing.
      for (double& confidence : confidences) confidence /= total;
    }
    return knn::winner(confidences);
  }

 private:
  const Column& label_;
  const std::vector<double>& sample_weights_;
  VoteWeights weighting_;
  bool rapidminer_;
  std::vector<double> weights_;  // of the neighbours
};

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
                                              " bytes, the memory limit is " + std::to_string(budget));
  }
  std::vector<Classification> results(ks.size(), blank(label_.values, test.n_rows));
  ClassVote votes(label_, sample_weights_, vote.weights, index_.fitted().options().compat);
  const SearchReport done = vote_each(
      index_.fitted(), test, ks, vote, run, [&](std::size_t which, std::int64_t query, const knn::VoteList& list) {
        Classification& result = results[which];
        result.codes[static_cast<std::size_t>(query)] = votes.cast(list, confidences_of(result, query));
      });
  if (report != nullptr) *report = done;
  return results;
}

Classification KnnClassifier::predict(const Table& test, const VoteOptions& vote, const RunOptions& run) const {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
}

SearchReport KnnClassifier::predict(const Table& test, const VoteOptions& vote, const RunOptions& run,
                                    const ClassificationSink& sink) const {
  const Classification empty = blank(label_.values, kBlockRows);
  Classification block = empty;
  ClassVote votes(label_, sample_weights_, vote.weights, index_.fitted().options().compat);
  return vote_each(index_.fitted(), test, {vote.n_neighbors}, vote, run,
                   [&](std::size_t, std::int64_t query, const knn::VoteList& list) {
                     const std::int64_t at = query % kBlockRows;
                     block.codes[static_cast<std::size_t>(at)] = votes.cast(list, confidences_of(block, at));
                     if (at + 1 < kBlockRows && query + 1 < test.n_rows) return;
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

// The mean of one query row's neighbours.
class MeanVote {
 public:
  MeanVote(const std::vector<double>& target, const std::vector<double>& sample_weights, VoteWeights weights,
           Compat compat)
      : target_(target),
        sample_weights_(sample_weights),
        weighting_(weights),
        rapidminer_(compat == Compat::rapidminer) {}

  double cast(const knn::VoteList& list) {
    if (rapidminer_) return knn::rapidminer_regression(list, weighting_, target_);
    knn::neighbor_weights(list, weighting_, sample_weights_, weights_);
    double sum = 0.0, total = 0.0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      sum += target_[static_cast<std::size_t>(list.indices[i])] * weights_[i];
      total += weights_[i];
    }
    return sum / total;
  }

 private:
  const std::vector<double>& target_;
  const std::vector<double>& sample_weights_;
  VoteWeights weighting_;
  bool rapidminer_;
  std::vector<double> weights_;  // of the neighbours
};

}  // namespace

std::vector<std::vector<double>> KnnRegressor::predict_each(const Table& test, const std::vector<std::int64_t>& ks,
                                                            const VoteOptions& vote, const RunOptions& run,
                                                            SearchReport* report) const {
  std::vector<std::vector<double>> results(ks.size(), std::vector<double>(static_cast<std::size_t>(test.n_rows)));
  MeanVote votes(target_, sample_weights_, vote.weights, index_.fitted().options().compat);
  const SearchReport done = vote_each(index_.fitted(), test, ks, vote, run,
                                      [&](std::size_t which, std::int64_t query, const knn::VoteList& list) {
                                        results[which][static_cast<std::size_t>(query)] = votes.cast(list);
                                      });
  if (report != nullptr) *report = done;
  return results;
}

std::vector<double> KnnRegressor::predict(const Table& test, const VoteOptions& vote, const RunOptions& run) const {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
}

SearchReport KnnRegressor::predict(const Table& test, const VoteOptions& vote, const RunOptions& run,
                                   const RegressionSink& sink) const {
  std::vector<double> block;
  MeanVote votes(target_, sample_weights_, vote.weights, index_.fitted().options().compat);
  return vote_each(index_.fitted(), test, {vote.n_neighbors}, vote, run,
                   [&](std::size_t, std::int64_t query, const knn::VoteList& list) {
                     block.push_back(votes.cast(list));
                     if (static_cast<std::int64_t>(block.size()) < kBlockRows && query + 1 < test.n_rows) return;
                     sink(query + 1 - static_cast<std::int64_t>(block.size()), block);
                     block.clear();
                   });
}

}  // namespace stope
