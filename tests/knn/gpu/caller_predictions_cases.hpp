// Random rows in a GPU's memory with labels, and what their predictions should be: for the real plug-in and for the
// fake one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "knn/gpu/caller_rows_cases.hpp"

namespace stope::device_prediction_cases {

/// What a job wrote to the caller's memory. Values are what they were before where none are wanted.
struct Predictions {
  std::vector<std::int32_t> codes;
  std::vector<double> values;
  SearchReport report = {};
};

/// Rows, labels and a vote. Without classes the labels are targets.
struct Case {
  device_array_cases::Rows train, query;
  int n_classes = 0;
  VoteOptions vote;
  KnnClassifier classifier;
  KnnRegressor regressor;

  bool wants_values() const { return n_classes == 0 || vote.confidences == Confidences::all; }
  /// Room for the predictions, with values that no prediction has.
  Predictions blank() const {
    const auto n = static_cast<std::size_t>(query.n_rows);
    return {std::vector<std::int32_t>(n, -7),
            std::vector<double>(wants_values() ? n * static_cast<std::size_t>(std::max(n_classes, 1)) : 0, -7.0)};
  }
  SearchReport predict(const QueryRows& rows, const PredictionArrays& out, const RunOptions& run) const {
    return n_classes > 0 ? classifier.predict(rows, vote, run, out) : regressor.predict(rows, vote, run, out);
  }
};

inline Case random_case(Random& random, std::int64_t most_rows, std::int64_t most_queries, std::int64_t n_columns,
                        std::int64_t most_k, int n_classes) {
  device_array_cases::Case rows = device_array_cases::random_case(random, most_rows, most_queries, n_columns, most_k);
  Case job;
  job.n_classes = n_classes;
  job.train = rows.train;
  job.query = rows.search.exclude_self ? rows.train : rows.query;
  job.vote = {.n_neighbors = rows.search.n_neighbors,
              .weights = random.below(2) == 0 ? VoteWeights::uniform : VoteWeights::distance,
              .exclude_self = rows.search.exclude_self,
              .confidences = random.below(3) == 0 ? Confidences::none : Confidences::all};
  const bool rapidminer = rows.options.compat == Compat::rapidminer;
  std::vector<double> weights;
  if (random.below(2) == 0) weights = vote_cases::numbers(random, job.train.n_rows, random.below(2) == 0, 0.0);
  const Column label = vote_cases::labels(random, job.train.n_rows, n_classes, rapidminer);
  const KnnIndex index = KnnIndex::fit(job.train.table(), rows.options);
  if (n_classes > 0) {
    job.classifier = KnnClassifier::fit(index, label, weights);
  } else {
    job.regressor = KnnRegressor::fit(index, label, weights);
  }
  return job;
}

inline void expect_the_processors(const Case& job, const Predictions& ours) {
  const vote_cases::NoForcedBackend free;
  SCOPED_TRACE(ours.report.method);
  const Table query = job.query.table();
  if (job.n_classes == 0) {
    vote_cases::expect_bits(ours.values, job.regressor.predict(query, job.vote, {.device = "cpu"}));
    EXPECT_TRUE(std::all_of(ours.codes.begin(), ours.codes.end(), [](std::int32_t code) { return code == -7; }));
    return;
  }
  const Classification theirs = job.classifier.predict(query, job.vote, {.device = "cpu"});
  ASSERT_EQ(ours.codes, theirs.codes);
  vote_cases::expect_bits(ours.values, theirs.confidences);
}

/// Whether neither rows nor predictions left the GPU.
inline bool stayed(const SearchReport& report) {
  return report.method == "filter, products, votes, on the GPU";
}

}  // namespace stope::device_prediction_cases
