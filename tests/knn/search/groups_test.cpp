// Groups that are given with a search, and queries that are a block of the training rows (SearchOptions).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "knn/answers.hpp"
#include "knn/search/groups.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

Table table_of(Random& random, std::int64_t n) {
  return oracle::random_table(random, {.n_rows = n, .n_numeric = 2, .n_nominal = 2, .missing = 0.2});
}

TEST(Groups, ColumnsGivenWithTheSearchDoWhatAColumnOfBothTablesDoes) {
  Random random(61);
  const Table train = table_of(random, 120), query = table_of(random, 50);
  const KnnIndex index = KnnIndex::fit(train);
  for (const std::size_t column : {std::size_t{0}, std::size_t{2}}) {
    const SearchOptions by_name{.n_neighbors = 100, .exclude_group = train.columns[column].name};
    const SearchOptions given{
        .n_neighbors = 100, .exclude_train = train.columns[column], .exclude_query = query.columns[column]};
    ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, given), index.kneighbors(query, by_name)));
    ASSERT_NO_FATAL_FAILURE(
        expect_same(index.radius_neighbors(query, 1.0, given), index.radius_neighbors(query, 1.0, by_name)));
  }
}

TEST(Groups, AreMatchedByTheirNamesAndNotByTheirCodes) {
  Table train, query;
  train.n_rows = 4;
  train.columns = {make_numeric("x", {0, 1, 2, 3})};
  query.n_rows = 2;
  query.columns = {make_numeric("x", {0, 3})};
  const KnnIndex index = KnnIndex::fit(train);
  const Neighbors found = index.kneighbors(query, {.n_neighbors = 4,
                                                   .exclude_train = make_nominal("", {0, 1, 0, 1}, {"a", "b"}),
                                                   .exclude_query = make_nominal("", {0, 1}, {"b", "a"})});
  EXPECT_EQ(found.offsets, (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(found.indices, (std::vector<std::int64_t>{0, 2, 3, 1})) << "b leaves a, a leaves b";
}

// The mask of an imputation: rows that lack a column donate nothing.
TEST(Groups, AMaskOfTheTrainingRowsLeavesTheOthers) {
  Random random(62);
  const Table train = table_of(random, 80), query = table_of(random, 30);
  std::vector<double> lacks;
  for (std::int64_t row = 0; row < train.n_rows; ++row) {
    lacks.push_back(train.columns[1].missing(row) ? 1.0 : std::nan(""));
  }
  const SearchOptions masked{.n_neighbors = 80,
                             .exclude_train = make_numeric("", lacks),
                             .exclude_query = make_numeric("", std::vector<double>(30, 1.0))};
  const Neighbors all = KnnIndex::fit(train).kneighbors(query, {.n_neighbors = 80});
  Neighbors wanted;
  for (std::int64_t i = 0; i < query.n_rows; ++i) {
    for (std::size_t at = static_cast<std::size_t>(i) * 80; at < static_cast<std::size_t>(i + 1) * 80; ++at) {
      if (train.columns[1].missing(all.indices[at])) continue;
      wanted.indices.push_back(all.indices[at]);
      wanted.distances.push_back(all.distances[at]);
    }
    wanted.offsets.push_back(static_cast<std::int64_t>(wanted.indices.size()));
  }
  expect_same(KnnIndex::fit(train).kneighbors(query, masked), wanted);
}

TEST(Groups, BlocksOfTheTrainingRowsExcludeThemselves) {
  Random random(63);
  const Table table = table_of(random, 100);
  const KnnIndex index = KnnIndex::fit(table);
  const Neighbors whole = index.kneighbors(table, {.n_neighbors = 6, .exclude_self = true});
  for (const std::int64_t first : {0, 1, 37, 90}) {
    const std::int64_t n = std::min<std::int64_t>(20, 100 - first);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < n; ++i) rows.push_back(first + i);
    const Neighbors block =
        index.kneighbors(table.take(rows), {.n_neighbors = 6, .exclude_self = true, .first_query = first});
    for (std::size_t i = 0; i < static_cast<std::size_t>(n) * 6; ++i) {
      ASSERT_EQ(block.indices[i], whole.indices[static_cast<std::size_t>(first) * 6 + i]);
      ASSERT_TRUE(same_bits(block.distances[i], whole.distances[static_cast<std::size_t>(first) * 6 + i]));
    }
  }
}

// An index keeps the numbers of a column's groups, and memory for those that come with a search.
TEST(Groups, EverySearchHasItsOwnColumns) {
  Random random(65);
  const Table train = table_of(random, 150), query = table_of(random, 40);
  const KnnIndex index = KnnIndex::fit(train);
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    const auto column = static_cast<std::size_t>(round / 2 % 4);
    SearchOptions search{.n_neighbors = 60};
    if (round % 2 == 0 || round >= 16) {
      search.exclude_group = train.columns[column].name;
    } else {
      search.exclude_train = train.columns[column];
      search.exclude_query = query.columns[column];
    }
    const Neighbors ours = index.kneighbors(query, search);
    ASSERT_NO_FATAL_FAILURE(expect_same(ours, KnnIndex::fit(train).kneighbors(query, search)));
    if (search.exclude_group.empty()) continue;
    search.exclude_self = true;
    ASSERT_NO_FATAL_FAILURE(
        expect_same(index.kneighbors(train, search), KnnIndex::fit(train).kneighbors(train, search)));
  }
}

// Rows of a large table are numbered in pieces.
TEST(Groups, ALargeTableIsNumberedAsItsRowsAre) {
  constexpr std::int64_t kRows = 300001;
  Random random(66);
  std::vector<double> x, numbers;
  std::vector<std::int32_t> codes;
  for (std::int64_t i = 0; i < kRows; ++i) {
    x.push_back(static_cast<double>(i % 1000));
    const std::uint64_t group = random.below(50);
    codes.push_back(group == 7 ? kMissingCode : static_cast<std::int32_t>(group));
    numbers.push_back(group == 7 ? std::nan("") : group == 0 ? -0.0 : 0.5 * static_cast<double>(group));
  }
  Buffer<float> floats(kRows);
  std::copy(numbers.begin(), numbers.end(), floats.begin());
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back(std::to_string(i));
  Table train;
  train.n_rows = kRows;
  train.columns = {make_numeric("x", x)};
  const KnnIndex index = KnnIndex::fit(train);
  const Table query = train.take({0, 1, 299999, 300000});
  std::vector<double> query_numbers{0.0, std::nan(""), 3.0, 24.5};
  std::vector<std::int32_t> query_codes{0, kMissingCode, 6, 49};
  const auto searched = [&](Column of_train, Column of_query) {
    return index.kneighbors(
        query, {.n_neighbors = 400, .exclude_train = std::move(of_train), .exclude_query = std::move(of_query)},
        {.threads = 3});
  };
  const Neighbors ours = searched(make_numeric("", numbers), make_numeric("", query_numbers));
  for (std::size_t i = 0; i < ours.indices.size(); ++i) {
    ASSERT_FALSE(numbers[static_cast<std::size_t>(ours.indices[i])] == query_numbers[i / 400]);
  }
  expect_same(searched(column_of("", std::move(floats)), make_numeric("", query_numbers)), ours);
  expect_same(searched(make_nominal("", codes, names), make_nominal("", query_codes, names)), ours);
}

TEST(Groups, UsualRowsAreThoseOfNearlyAllQueries) {
  Random random(67);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const auto n = static_cast<std::int64_t>(1 + random.below(round == 0 ? 400000 : 3000));
    const auto m = static_cast<std::int64_t>(1 + random.below(1024));
    const std::uint64_t n_groups = 1 + random.below(std::uint64_t{1} << random.below(14));
    knn::Groups groups{Buffer<std::int64_t>(n), Buffer<std::int64_t>(m)};
    for (Buffer<std::int64_t>* of : {&groups.train, &groups.query}) {
      for (std::int64_t& group : *of) {
        const std::uint64_t number = random.below(n_groups) * random.below(n_groups) / n_groups;
        group = random.below(9) == 0 ? knn::kNoGroup : std::bit_cast<std::int64_t>(static_cast<double>(number) - 3.0);
      }
    }
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t group : groups.train) ++counts[group];
    std::vector<std::int64_t> rows;
    for (const std::int64_t group : groups.query) rows.push_back(group == knn::kNoGroup ? 0 : counts[group]);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(knn::usual_group_rows(groups, {.threads = 3}), rows[static_cast<std::size_t>(m - 1 - m / 64)]);
  }
}

TEST(Groups, WhatDoesNotFitIsRefused) {
  Random random(64);
  const Table train = table_of(random, 40), query = table_of(random, 10);
  const KnnIndex index = KnnIndex::fit(train);
  const auto refused = [&](const SearchOptions& search, const std::string& words) {
    try {
      index.kneighbors(query, search);
      ADD_FAILURE() << "not refused: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  const Column &of_train = train.columns[0], &of_query = query.columns[0];
  refused({.exclude_train = of_train}, "groups are wanted of the training rows and of the query rows");
  refused({.exclude_train = of_query, .exclude_query = of_query}, "the groups of the training rows are 10 for 40");
  refused({.exclude_train = of_train, .exclude_query = of_train}, "the groups of the query rows are 40 for 10");
  refused({.exclude_group = "x0", .exclude_train = of_train, .exclude_query = of_query},
          "groups are given, and a column");
  refused({.exclude_self = true}, "needs the training table as queries: 10 query rows, 40 training rows");
  refused({.exclude_self = true, .first_query = 31}, "the first of them row 31: 10 query rows, 40 training rows");
}

}  // namespace
}  // namespace stope
