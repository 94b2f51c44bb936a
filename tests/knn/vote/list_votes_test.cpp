// Votes on lists that the caller has: the bits of predict, several labels, weights per entry, radius lists, and what is
// refused.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "effort.hpp"
#include "knn/vote/vote_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using vote_cases::expect_bits;

const Column& column_of(const Table& table, Role role) {
  return table.columns[static_cast<std::size_t>(table.find(role))];
}

std::span<const double> numbers_of(const Column& column) {
  const auto& values = std::get<Buffer<double>>(column.data);
  return {values.data(), static_cast<std::size_t>(values.size())};
}

std::span<const std::int32_t> codes_of(const Column& column) {
  return {column.codes().data(), static_cast<std::size_t>(column.size())};
}

Voters voters_of(const Table& train) {
  Voters voters;
  const Column& label = column_of(train, Role::label);
  if (label.nominal()) {
    voters.codes = codes_of(label);
  } else {
    voters.targets = numbers_of(label);
  }
  if (train.find(Role::weight) >= 0) voters.sample_weights = numbers_of(column_of(train, Role::weight));
  return voters;
}

void expect_same(const Classification& ours, const Classification& theirs) {
  EXPECT_EQ(ours.codes, theirs.codes);
  EXPECT_EQ(ours.classes, theirs.classes);
  expect_bits(ours.confidences, theirs.confidences);
}

// Votes on the lists of a search for the largest k, and compares with predict for every k.
void expect_the_bits_of_predict(const vote_cases::Case& job, const KnnIndex& index, std::int64_t k,
                                const Neighbors& lists) {
  const Voters voters = voters_of(job.train);
  const Column& label = column_of(job.train, Role::label);
  const ListVoteOptions vote{.n_neighbors = k, .weights = job.vote.weights, .compat = job.options.compat};
  VoteOptions asked = job.vote;
  asked.n_neighbors = k;
  if (label.nominal()) {
    const KnnClassifier model = KnnClassifier::fit(index, label, voters.sample_weights);
    expect_same(vote_classes(lists, label.values, voters, vote), model.predict(job.query, asked));
    expect_same(model.predict(job.query, asked), KnnClassifier::fit(job.train, job.options).predict(job.query, asked));
  } else {
    const KnnRegressor model = KnnRegressor::fit(index, label, voters.sample_weights);
    expect_bits(vote_means(lists, voters, vote), model.predict(job.query, asked));
    expect_bits(model.predict(job.query, asked), KnnRegressor::fit(job.train, job.options).predict(job.query, asked));
  }
}

TEST(ListVotes, HaveTheBitsOfPredict) {
  Random random(31);
  const std::vector<std::string> metrics = {"mixed-euclidean", "manhattan", "cosine",
                                            "chebyshev",       "gower",     "euclidean"};
  const int rounds = repeated(400, 60);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const auto n = 2 + static_cast<std::int64_t>(random.below(60)), m = static_cast<std::int64_t>(random.below(30));
    const std::vector<int> sizes = {0, 0, 1, 2, 3, 12};
    vote_cases::Case job = vote_cases::random_case(random, n, m, 20, sizes[random.below(sizes.size())], 3);
    job.options.metric.name = metrics[random.below(metrics.size())];
    const bool heap = job.options.compat == Compat::rapidminer;
    const KnnIndex index = KnnIndex::fit(job.train, job.options);
    const std::int64_t most = *std::max_element(job.ks.begin(), job.ks.end());
    for (const std::int64_t k : job.ks) {
      // RapidMiner's lists are heaps: each k has its own.
      const SearchOptions search{heap ? k : most, job.vote.exclude_self, job.vote.exclude_group};
      expect_the_bits_of_predict(job, index, k, index.kneighbors(job.query, search));
      if (HasFailure()) return;
    }
  }
}

TEST(ListVotes, ManyListsAreVotedByAnyNumberOfThreads) {
  Random random(32);
  vote_cases::Case job;
  // Enough entries for several tasks.
  while (job.ks.empty() || job.options.compat != Compat::none || job.query.n_rows < 4000 || job.train.n_rows < 20) {
    job = vote_cases::random_case(random, 500, 6000, 20, 5, 3);
  }
  const Neighbors lists = KnnIndex::fit(job.train, job.options).kneighbors(job.query, {.n_neighbors = 20});
  const Column& label = column_of(job.train, Role::label);
  const Classification one = vote_classes(lists, label.values, voters_of(job.train), {}, {.threads = 1});
  expect_same(vote_classes(lists, label.values, voters_of(job.train), {}, {.threads = 5}), one);
  expect_same(KnnClassifier::fit(job.train, job.options).predict(job.query, {.n_neighbors = 20}), one);
}

// Training rows at 0, 1, 2, 3 and queries at 0, 1.5, 90.
struct Line {
  Table train, query;
  std::vector<std::int32_t> codes = {1, 0, 1, 2};
  Values classes = {"a", "b", "c"};
  std::vector<double> targets = {10.0, 20.0, 30.0, 40.0};
  Neighbors nearest;  // two for each query

  Line() {
    train.n_rows = 4;
    train.columns.push_back(make_numeric("x", {0.0, 1.0, 2.0, 3.0}));
    query.n_rows = 3;
    query.columns.push_back(make_numeric("x", {0.0, 1.5, 90.0}));
    nearest = KnnIndex::fit(train).kneighbors(query, {.n_neighbors = 2});
  }
};

TEST(ListVotes, SeveralLabelsComeFromOneSearch) {
  const Line line;
  EXPECT_EQ(vote_classes(line.nearest, line.classes, {.codes = line.codes}).codes,
            (std::vector<std::int32_t>{0, 0, 1}));
  const std::vector<std::int32_t> other = {0, 1, 1, 1};
  EXPECT_EQ(vote_classes(line.nearest, {"no", "yes"}, {.codes = other}).codes, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(vote_means(line.nearest, {.targets = line.targets}), (std::vector<double>{15.0, 25.0, 35.0}));
}

TEST(ListVotes, WeightsPerEntryReplaceThoseOfTheDistance) {
  const Line line;
  const std::vector<double> weights = {3.0, 1.0, 1.0, 0.0, 0.0, 0.0};
  const ListVoteOptions vote{.weights = VoteWeights::distance, .list_weights = weights};
  const Classification found = vote_classes(line.nearest, line.classes, {.codes = line.codes}, vote);
  EXPECT_EQ(found.codes, (std::vector<std::int32_t>{1, 0, kMissingCode}));
  EXPECT_EQ(std::vector<double>(found.confidences.begin(), found.confidences.begin() + 3),
            (std::vector<double>{0.25, 0.75, 0.0}));
  EXPECT_TRUE(std::isnan(found.confidences[6]));
  const std::vector<double> sample_weights = {1.0, 3.0, 1.0, 1.0};
  const std::vector<double> means =
      vote_means(line.nearest, {.targets = line.targets, .sample_weights = sample_weights}, vote);
  EXPECT_EQ(means[0], 15.0);  // (10 * 3 + 20 * 3) / 6
  EXPECT_EQ(means[1], 20.0);
  EXPECT_TRUE(std::isnan(means[2]));
}

TEST(ListVotes, RadiusListsVoteAndAQueryWithoutNeighboursHasNoPrediction) {
  const Line line;
  std::vector<Classification> blocks;
  std::vector<double> means;
  KnnIndex::fit(line.train).radius_neighbors(line.query, 1.5, {}, {}, [&](const Neighbors& lists) {
    blocks.push_back(vote_classes(lists, line.classes, {.codes = line.codes}));
    for (const double mean : vote_means(lists, {.targets = line.targets})) means.push_back(mean);
  });
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].codes, (std::vector<std::int32_t>{0, 1, kMissingCode}));
  EXPECT_EQ(blocks[0].confidences[3 + 1], 0.5);  // all four rows are near the second query
  EXPECT_TRUE(std::isnan(blocks[0].confidences[6]));
  EXPECT_EQ(means[0], 15.0);
  EXPECT_EQ(means[1], 25.0);
  EXPECT_TRUE(std::isnan(means[2]));
}

TEST(ListVotes, ListsWeightsAndVotersThatDoNotFitAreRefused) {
  const Line line;
  const auto refused = [](const std::string& named, const std::function<void()>& action) {
    try {
      action();
      ADD_FAILURE() << "taken: " << named;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
  };
  const auto classes_of = [&](const Neighbors& lists, const Voters& voters, const ListVoteOptions& vote = {}) {
    return [=, &line] { vote_classes(lists, line.classes, voters, vote); };
  };
  const Voters voters{.codes = line.codes};
  for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{4}, INT64_MIN, INT64_MAX}) {
    Neighbors lists = line.nearest;
    lists.indices[3] = row;
    refused("list 1, training row " + std::to_string(row), classes_of(lists, voters));
    refused("list 1, training row " + std::to_string(row), [&] { vote_means(lists, {.targets = line.targets}); });
  }
  for (const std::int32_t code : {kMissingCode, kUnseenCode, -3, 3, INT32_MAX, INT32_MIN}) {
    std::vector<std::int32_t> codes = line.codes;
    codes[2] = code;
    refused("list 1, training row 2", classes_of(line.nearest, {.codes = codes}));
  }
  for (const std::vector<std::int64_t>& offsets :
       {std::vector<std::int64_t>{}, {0, 2, 4}, {0, 2, 4, 7}, {0, 9, 4, 6}, {0, -9, 4, 6}, {1, 2, 4, 6}}) {
    Neighbors lists = line.nearest;
    lists.offsets = offsets;
    refused("offsets", classes_of(lists, voters));
  }
  Neighbors short_distances = line.nearest;
  short_distances.distances.pop_back();
  refused("5 distances", classes_of(short_distances, voters));
  const std::vector<double> few = {1.0}, bad = {1.0, 1.0, 1.0, std::nan(""), 1.0, 1.0},
                            negative = {1.0, -1.0, 1.0, 1.0},
                            infinite = {std::numeric_limits<double>::infinity(), 1.0, 1.0, 1.0, 1.0, 1.0};
  refused("1 weights for 6", classes_of(line.nearest, voters, {.list_weights = few}));
  refused("weight in the list is missing", classes_of(line.nearest, voters, {.list_weights = bad}));
  refused("weight in the list is inf", classes_of(line.nearest, voters, {.list_weights = infinite}));
  refused("sample weight is -1", classes_of(line.nearest, {.codes = line.codes, .sample_weights = negative}));
  refused("1 sample weights", classes_of(line.nearest, {.codes = line.codes, .sample_weights = few}));
  refused("n_neighbors", classes_of(line.nearest, voters, {.n_neighbors = -1}));
  refused("more than the 1 asked", classes_of(line.nearest, voters, {.n_neighbors = 1, .compat = Compat::rapidminer}));
  refused("RapidMiner", classes_of(line.nearest, voters, {.compat = Compat::rapidminer, .list_weights = infinite}));
  const std::vector<double> targets = {std::nan(""), 1.0, 1.0, 1.0};
  refused("target is missing", [&] { vote_means(line.nearest, {.targets = targets}); });
  refused("row", classes_of(line.nearest, {}));  // nobody votes
  EXPECT_EQ(vote_classes({}, {}, {}).codes.size(), 0U);
}

TEST(ListVotes, ALabelMustFitTheIndex) {
  const Line line;
  const KnnIndex index = KnnIndex::fit(line.train);
  const auto code_of = [](const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  const std::vector<double> few = {1.0}, bad = {1.0, 1.0, -1.0, 1.0};
  const Column label = make_nominal("y", line.codes, line.classes);
  EXPECT_EQ(code_of([&] { KnnClassifier::fit(index, make_nominal("y", {0, 1}, line.classes)); }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { KnnClassifier::fit(index, make_numeric("y", line.targets)); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { KnnRegressor::fit(index, label); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([&] { KnnClassifier::fit(index, label, few); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { KnnClassifier::fit(index, label, bad); }), ErrorCode::invalid_argument);
  for (const std::int32_t code : {kUnseenCode, -3, 3, INT32_MAX, INT32_MIN}) {
    Column broken = make_nominal("y", line.codes, line.classes);
    std::get<Buffer<std::int32_t>>(broken.data)[2] = code;
    EXPECT_EQ(code_of([&] { KnnClassifier::fit(index, broken); }), ErrorCode::invalid_data) << code;
  }
}

}  // namespace
}  // namespace stope
