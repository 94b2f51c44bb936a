// Random tables with labels, and a comparison of a GPU's predictions with the CPU's, bit for bit: for the real plug-in
// and for the fake one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "stope/knn.hpp"

namespace stope::vote_cases {

struct Case {
  Table train, query;
  KnnOptions options;
  VoteOptions vote;
  std::vector<std::int64_t> ks;
};

inline std::vector<double> numbers(Random& random, std::int64_t n, bool ties, double missing) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& value : values) {
    value = ties ? static_cast<double>(random.below(4)) : random.uniform();
    if (random.uniform() < missing) value = std::nan("");
  }
  return values;
}

/// Makes classes, or targets where `n_classes` is 0. RapidMiner's rows may lack the label.
inline Column labels(Random& random, std::int64_t n, int n_classes, bool rapidminer) {
  const double missing = rapidminer && random.below(2) == 0 ? 0.2 : 0.0;
  Column column;
  if (n_classes == 0) {
    std::vector<double> targets(static_cast<std::size_t>(n));
    const bool odd = random.below(4) == 0;
    for (double& target : targets) {
      target = 1e3 * (random.uniform() - 0.5);
      if (odd && random.below(8) == 0) target = random.below(2) == 0 ? std::numeric_limits<double>::infinity() : -1e308;
      if (random.uniform() < missing) target = std::nan("");
    }
    column = make_numeric("y", targets);
  } else {
    std::vector<std::string> names;
    for (int c = 0; c < n_classes; ++c) names.push_back("c" + std::to_string(c));
    std::vector<std::int32_t> codes(static_cast<std::size_t>(n));
    for (std::int32_t& code : codes) {
      code = random.uniform() < missing
                 ? kMissingCode
                 : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n_classes)));
    }
    column = make_nominal("y", codes, names);
  }
  column.role = Role::label;
  return column;
}

/// Draws every kind of vote and label; a third of them are RapidMiner's.
inline Case random_case(Random& random, std::int64_t n, std::int64_t m, std::int64_t most_k, int n_classes,
                        std::int64_t n_columns) {
  Case made;
  const bool ties = random.below(2) == 0, rapidminer = random.below(3) == 0;
  const double missing = random.below(3) == 0 ? 0.1 : 0.0;
  made.train.n_rows = n;
  made.query.n_rows = m;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const std::string name = "x" + std::to_string(c);
    made.train.columns.push_back(make_numeric(name, numbers(random, n, ties, missing)));
    made.query.columns.push_back(make_numeric(name, numbers(random, m, ties, missing)));
  }
  made.train.columns.push_back(labels(random, n, n_classes, rapidminer));
  if (random.below(2) == 0) {
    std::vector<double> weights = numbers(random, n, random.below(2) == 0, 0.0);
    made.train.columns.push_back(make_numeric("w", weights));
    made.train.columns.back().role = Role::weight;
  }
  if (random.below(4) == 0) {
    made.vote.exclude_self = true;
    made.query = made.train;
  }
  // Lists are shorter than k where a group leaves fewer rows.
  if (!rapidminer && random.below(5) == 0) made.vote.exclude_group = "x0";
  if (rapidminer) made.options.compat = Compat::rapidminer;
  if (random.below(2) == 0) made.vote.weights = VoteWeights::distance;
  const std::int64_t rows = n - (made.vote.exclude_self ? 1 : 0);
  const std::size_t n_ks = rapidminer ? 1 : 1 + random.below(3);
  for (std::size_t i = 0; i < n_ks; ++i) {
    made.ks.push_back(1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(std::min(rows, most_k)))));
  }
  return made;
}

inline void expect_bits(const std::vector<double>& ours, const std::vector<double>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(ours[i]), std::bit_cast<std::uint64_t>(theirs[i]))
        << i << ": " << ours[i] << " and " << theirs[i];
  }
}

/// While it lives, no back end is forced.
class NoForcedBackend {
 public:
  NoForcedBackend() {
    const char* backend = std::getenv("STOPE_BACKEND");
    if (backend != nullptr) before_ = backend;
    unsetenv("STOPE_BACKEND");
  }
  ~NoForcedBackend() {
    if (!before_.empty()) setenv("STOPE_BACKEND", before_.c_str(), 1);
  }
  NoForcedBackend(const NoForcedBackend&) = delete;
  NoForcedBackend& operator=(const NoForcedBackend&) = delete;

 private:
  std::string before_;
};

/// The GPU's predictions, under `run` and the environment, must be the CPU's, under neither. Returns the GPU's report.
inline SearchReport expect_the_processors_votes(const Case& job, int n_classes, const RunOptions& run) {
  SearchReport report;
  const auto on_processor = [](const auto& predict) {
    const NoForcedBackend free;
    return predict(RunOptions{.device = "cpu"}, nullptr);
  };
  if (n_classes == 0) {
    const KnnRegressor model = KnnRegressor::fit(job.train, job.options);
    const auto predict = [&](const RunOptions& how, SearchReport* done) {
      return model.predict_each(job.query, job.ks, job.vote, how, done);
    };
    const std::vector<std::vector<double>> theirs = on_processor(predict), ours = predict(run, &report);
    for (std::size_t i = 0; i < theirs.size(); ++i) expect_bits(ours[i], theirs[i]);
  } else {
    const KnnClassifier model = KnnClassifier::fit(job.train, job.options);
    const auto predict = [&](const RunOptions& how, SearchReport* done) {
      return model.predict_each(job.query, job.ks, job.vote, how, done);
    };
    const std::vector<Classification> theirs = on_processor(predict), ours = predict(run, &report);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      EXPECT_EQ(ours[i].codes, theirs[i].codes);
      expect_bits(ours[i].confidences, theirs[i].confidences);
    }
  }
  return report;
}

/// Predictors of every kind on one index: classes with and without weights, another number of them, targets.
struct SharedIndex {
  Table train, query;
  std::vector<KnnClassifier> classifiers;
  std::vector<KnnRegressor> regressors;

  SharedIndex(Random& random, std::int64_t n, std::int64_t m) {
    train.n_rows = n;
    query.n_rows = m;
    for (const char* name : {"x0", "x1"}) {
      train.columns.push_back(make_numeric(name, numbers(random, n, false, 0.0)));
      query.columns.push_back(make_numeric(name, numbers(random, m, false, 0.0)));
    }
    const KnnIndex index = KnnIndex::fit(train);
    const std::vector<double> weights = numbers(random, n, false, 0.0);
    for (const int n_classes : {2, 2, 7, 3, 30}) {
      const Column label = labels(random, n, n_classes, false);
      classifiers.push_back(KnnClassifier::fit(index, label));
      classifiers.push_back(KnnClassifier::fit(index, label, weights));
    }
    for (int i = 0; i < 2; ++i) {
      const Column label = labels(random, n, 0, false);
      regressors.push_back(KnnRegressor::fit(index, label));
      regressors.push_back(KnnRegressor::fit(index, label, weights));
    }
  }
};

/// The predictions of every predictor, in a row.
inline std::vector<std::vector<double>> predictions_of(const SharedIndex& shared, const VoteOptions& vote,
                                                       const RunOptions& run) {
  std::vector<std::vector<double>> all;
  for (const KnnClassifier& model : shared.classifiers) {
    const Classification classes = model.predict(shared.query, vote, run);
    all.push_back(classes.confidences);
    all.back().insert(all.back().end(), classes.codes.begin(), classes.codes.end());
  }
  for (const KnnRegressor& model : shared.regressors) all.push_back(model.predict(shared.query, vote, run));
  return all;
}

/// Predictors on one index, in any order and at once, must give the CPU's predictions.
inline void expect_own_labels(const SharedIndex& shared, const VoteOptions& vote, const RunOptions& run) {
  const std::vector<std::vector<double>> theirs = [&] {
    const NoForcedBackend free;
    return predictions_of(shared, vote, {.device = "cpu"});
  }();
  const auto expect_theirs = [&](const std::vector<std::vector<double>>& ours) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      SCOPED_TRACE("predictor " + std::to_string(i));
      expect_bits(ours[i], theirs[i]);
    }
  };
  for (int round = 0; round < 2; ++round) expect_theirs(predictions_of(shared, vote, run));
  std::vector<std::vector<std::vector<double>>> ours(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : ours) threads.emplace_back([&] { mine = predictions_of(shared, vote, run); });
  }
  for (const auto& mine : ours) expect_theirs(mine);
}

}  // namespace stope::vote_cases
