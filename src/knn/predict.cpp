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

std::vector<Classification> KnnClassifier::predict_each(const Table& test, const std::vector<std::int64_t>& ks,
                                                        const VoteOptions& vote, const RunOptions& run,
                                                        SearchReport* report) const {
  const auto n_classes = static_cast<std::int64_t>(label_.values.size());
  const bool rapidminer = index_.fitted().options().compat == Compat::rapidminer;
  const std::int64_t bytes = checked::mul(checked::mul(test.n_rows, n_classes),
                                          checked::mul(static_cast<std::int64_t>(ks.size()), sizeof(double)));
  if (const std::int64_t budget = memory_budget(run); bytes > budget) {
    throw Error(ErrorCode::out_of_memory, "the confidences of " + std::to_string(test.n_rows) + " rows and " +
                                              std::to_string(n_classes) + " classes need " + std::to_string(bytes) +
                                              " bytes, the memory limit is " + std::to_string(budget));
  }
  std::vector<Classification> results(ks.size());
  for (Classification& result : results) {
    result.classes = label_.values;
    result.codes.assign(static_cast<std::size_t>(test.n_rows), kMissingCode);
    result.confidences.assign(static_cast<std::size_t>(checked::mul(test.n_rows, n_classes)), 0.0);
  }
  std::vector<double> weights;
  const auto cast = [&](std::size_t which, std::int64_t query, const knn::VoteList& list) {
    Classification& result = results[which];
    const std::span<double> confidences =
        std::span(result.confidences)
            .subspan(static_cast<std::size_t>(query * n_classes), static_cast<std::size_t>(n_classes));
    if (rapidminer) {
      knn::rapidminer_confidences(list, vote.weights, weights);
    } else {
      knn::neighbor_weights(list, vote.weights, sample_weights_, weights);
    }
    double total = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      // RapidMiner reads a missing label as class 0; outside its mode there is none.
      const std::int32_t code = std::max(label_.codes()[list.indices[i]], 0);
      if (n_classes > 0) confidences[static_cast<std::size_t>(code)] += weights[i];
      total += weights[i];
    }
    if (!rapidminer) {
      // No neighbour, or only neighbours without weight: 0/0 leaves every confidence NaN and the prediction missing.
      for (double& confidence : confidences) confidence /= total;
    }
    result.codes[static_cast<std::size_t>(query)] = knn::winner(confidences);
  };
  const SearchReport done = vote_each(index_.fitted(), test, ks, vote, run, cast);
  if (report != nullptr) *report = done;
  return results;
}

Classification KnnClassifier::predict(const Table& test, const VoteOptions& vote, const RunOptions& run) const {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
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

std::vector<std::vector<double>> KnnRegressor::predict_each(const Table& test, const std::vector<std::int64_t>& ks,
                                                            const VoteOptions& vote, const RunOptions& run,
                                                            SearchReport* report) const {
  const bool rapidminer = index_.fitted().options().compat == Compat::rapidminer;
  std::vector<std::vector<double>> results(ks.size(), std::vector<double>(static_cast<std::size_t>(test.n_rows)));
  std::vector<double> weights;
  const auto cast = [&](std::size_t which, std::int64_t query, const knn::VoteList& list) {
    double& result = results[which][static_cast<std::size_t>(query)];
    if (rapidminer) {
      result = knn::rapidminer_regression(list, vote.weights, target_);
      return;
    }
    knn::neighbor_weights(list, vote.weights, sample_weights_, weights);
    double sum = 0.0, total = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      sum += target_[static_cast<std::size_t>(list.indices[i])] * weights[i];
      total += weights[i];
    }
    result = sum / total;
  };
  const SearchReport done = vote_each(index_.fitted(), test, ks, vote, run, cast);
  if (report != nullptr) *report = done;
  return results;
}

std::vector<double> KnnRegressor::predict(const Table& test, const VoteOptions& vote, const RunOptions& run) const {
  return predict_each(test, {vote.n_neighbors}, vote, run).front();
}

}  // namespace stope
