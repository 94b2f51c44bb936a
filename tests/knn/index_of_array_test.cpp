// Indices of arrays, queries in arrays, and lists in arrays (stope/knn_arrays.hpp) against the way through tables, bit
// for bit. caller_rows_fake_test.cpp has the same in a GPU's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "effort.hpp"
#include "environment.hpp"
#include "knn/answers.hpp"
#include "knn/array_cases.hpp"
#include "knn/fitted.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using array_cases::ArrayCase;
using array_cases::Layout;
using array_cases::random_array;

struct Arrays {
  explicit Arrays(std::int64_t n) : indices(static_cast<std::size_t>(n), -7), distances(indices.size(), -7.0) {}
  NeighborArrays out() { return {indices.data(), distances.data()}; }
  std::vector<std::int64_t> indices;
  std::vector<double> distances;
};

// The lists as an array has them: n x k, padded.
void expect_padded(const Arrays& ours, const Neighbors& theirs, std::int64_t k) {
  Arrays wanted(theirs.n_queries() * k);
  for (std::size_t i = 0; i < wanted.indices.size(); ++i) {
    const std::size_t query = i / static_cast<std::size_t>(k), place = i % static_cast<std::size_t>(k);
    const auto at = static_cast<std::size_t>(theirs.offsets[query]) + place;
    const bool there = at < static_cast<std::size_t>(theirs.offsets[query + 1]);
    wanted.indices[i] = there ? theirs.indices[at] : -1;
    wanted.distances[i] = there ? theirs.distances[at] : std::nan("");
  }
  ASSERT_EQ(ours.indices, wanted.indices);
  expect_same_bits(ours.distances, wanted.distances);
}

TEST(IndexOfArray, EveryTypeAndLayoutGivesTheBitsOfTheTable) {
  Random random(71);
  const std::vector<std::string> metrics = {"mixed-euclidean", "gower", "heom", "nan-euclidean", "cosine", "manhattan"};
  for (int round = 0; round < repeated(300, 60); ++round) {
    const auto type = static_cast<ElementType>(round % array_cases::kElementTypes);
    const auto layout = static_cast<Layout>(round / array_cases::kElementTypes % array_cases::kLayouts);
    SCOPED_TRACE(std::string(to_string(type)) + ", layout " + std::to_string(static_cast<int>(layout)));
    const auto n = 2 + static_cast<std::int64_t>(random.below(round % 8 == 0 ? 1500 : 300)),
               m = 1 + static_cast<std::int64_t>(random.below(90));
    const auto d = 1 + static_cast<std::int64_t>(random.below(6));
    ArrayCase train = random_array(random, n, d, type, layout);
    const ArrayCase query = random_array(random, m, d, static_cast<ElementType>(random.below(10)),
                                         static_cast<Layout>(random.below(array_cases::kLayouts)));
    if (random.below(2) == 0) train.view.owner = train.memory;
    KnnOptions options{.metric = {metrics[random.below(metrics.size())], {}}};
    if (random.below(4) == 0) {
      options.feature_weights.assign(static_cast<std::size_t>(d), 2.0);
      if (d > 1) options.feature_weights[random.below(static_cast<std::uint64_t>(d))] = 0.0;
    }
    if (random.below(5) == 0) options.compat = Compat::rapidminer;
    const PartRows parts(random.below(4) == 0 ? 50 : 0);
    const ForcedBackend backend(random.below(2) == 0 ? "scalar" : "reference");
    const KnnIndex index = KnnIndex::fit(train.view, options);
    const KnnIndex of_table = KnnIndex::fit(train.table, options);
    const SearchOptions search{.n_neighbors =
                                   1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)))};
    const Neighbors theirs = of_table.kneighbors(query.table, search);
    ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query.view, search), theirs));
    ASSERT_NO_FATAL_FAILURE(expect_same(of_table.kneighbors(query.view, search), theirs));
    Arrays ours(m * search.n_neighbors);
    index.kneighbors(query.view, search, {.threads = 2}, ours.out());
    ASSERT_NO_FATAL_FAILURE(expect_padded(ours, theirs, search.n_neighbors));
    ASSERT_NO_FATAL_FAILURE(
        expect_same(index.radius_neighbors(query.view, 1.0), of_table.radius_neighbors(query.table, 1.0)));
  }
}

TEST(IndexOfArray, DoublesInCOrderWithAnOwnerAreTheRowsOfTheIndex) {
  Random random(72);
  ArrayCase train = random_array(random, 500, 7, ElementType::float64, Layout::rows);
  train.view.owner = train.memory;
  {
    const KnnIndex index = KnnIndex::fit(train.view);
    EXPECT_EQ(index.fitted().rows(), train.view.data);
    EXPECT_EQ(train.memory.use_count(), 3);  // the case, its view, the index
  }
  EXPECT_EQ(train.memory.use_count(), 2);
  for (const Layout layout : {Layout::rows, Layout::rows_apart, Layout::columns}) {
    ArrayCase other = random_array(random, 500, 7, ElementType::float64, layout);
    if (layout != Layout::rows) other.view.owner = other.memory;
    EXPECT_NE(KnnIndex::fit(other.view).fitted().rows(), other.view.data);
  }
}

TEST(IndexOfArray, ListsThatAreShortAreFilledUp) {
  Random random(73);
  const Table table = oracle::random_table(
      random, {.n_rows = 60, .n_numeric = 2, .n_nominal = 1, .values = oracle::TableShape::Values::few});
  const KnnIndex index = KnnIndex::fit(table);
  const SearchOptions grouped{.n_neighbors = 50, .exclude_group = "s0"};
  Arrays ours(60 * 50);
  index.kneighbors(table, grouped, {}, ours.out());
  expect_padded(ours, index.kneighbors(table, grouped), 50);
  EXPECT_EQ(ours.indices.back(), -1);
  const KnnIndex heap = KnnIndex::fit(table, {.compat = Compat::rapidminer});
  Arrays more(60 * 70);  // more neighbours than rows
  heap.kneighbors(table, {.n_neighbors = 70}, {}, more.out());
  expect_padded(more, heap.kneighbors(table, {.n_neighbors = 70}), 70);
}

TEST(IndexOfArray, TheTrainingRowsAreSearchedWithoutTheTable) {
  Random random(74);
  for (int round = 0; round < 12; ++round) {
    const Table table = oracle::random_table(random, {.n_rows = 200, .n_numeric = 3, .n_nominal = 2, .missing = 0.1});
    const PartRows parts(round % 3 == 0 ? 70 : 0);
    const KnnIndex index = KnnIndex::fit(table);
    const SearchOptions search{.n_neighbors = 9, .exclude_self = true, .exclude_group = round % 2 == 0 ? "" : "s1"};
    ASSERT_NO_FATAL_FAILURE(
        expect_same(index.kneighbors(QueryRows::of_training(), search), index.kneighbors(table, search)));
  }
}

// Every value of every column, whether the index keeps the column or its rows.
void expect_same_table(const Table& ours, const Table& theirs) {
  ASSERT_EQ(ours.n_rows, theirs.n_rows);
  ASSERT_EQ(ours.columns.size(), theirs.columns.size());
  ours.validate();
  for (std::size_t c = 0; c < ours.columns.size(); ++c) {
    const Column &a = ours.columns[c], &b = theirs.columns[c];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.role, b.role);
    EXPECT_EQ(a.values, b.values);
    ASSERT_EQ(a.data.index(), b.data.index());
    for (std::int64_t row = 0; row < ours.n_rows; ++row) ASSERT_TRUE(same_bits(a.at(row), b.at(row))) << a.name;
  }
}

TEST(IndexOfArray, TrainGivesTheTableBack) {
  Random random(75);
  Table table = oracle::random_table(
      random,
      {.n_rows = 300, .n_numeric = 3, .n_nominal = 2, .missing = 0.2, .values = oracle::TableShape::Values::wild});
  Buffer<float> floats(300);
  for (float& value : floats) value = static_cast<float>(random.uniform());
  table.columns.push_back({"f", ValueType::date, Role::regular, floats, {}});
  table.columns[1].role = Role::label;
  table.columns[4].role = Role::ignore;
  for (const int part_rows : {0, 100}) {
    const PartRows parts(part_rows);
    for (const std::vector<double>& weights : {std::vector<double>{}, std::vector<double>{1.0, 0.0, 2.0, 1.0}}) {
      const KnnIndex index = KnnIndex::fit(table, {.feature_weights = weights});
      ASSERT_NO_FATAL_FAILURE(expect_same_table(index.train(), table));
    }
  }
  const ArrayCase array = random_array(random, 100, 4, ElementType::float64, Layout::columns);
  ASSERT_NO_FATAL_FAILURE(expect_same_table(KnnIndex::fit(array.view).train(), array.table));
}

void expect_refused(const std::function<void()>& call, ErrorCode code, const std::string& words) {
  try {
    call();
    FAIL() << "not refused: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(IndexOfArray, BadArraysAreRefused) {
  Random random(76);
  const ArrayCase train = random_array(random, 50, 3, ElementType::int16, Layout::rows);
  const KnnIndex index = KnnIndex::fit(train.view);
  const ArrayCase wide = random_array(random, 50, 4, ElementType::float64, Layout::rows);
  constexpr auto kArgument = ErrorCode::invalid_argument;
  expect_refused([&] { index.kneighbors(wide.view); }, kArgument, "4 columns, the training table has 3 features");
  expect_refused([&] { index.kneighbors(train.view, {.exclude_group = "x0"}); }, kArgument,
                 "an array has no column 'x0'");
  ArrayView no_data = train.view;
  no_data.data = nullptr;
  expect_refused([&] { KnnIndex::fit(no_data); }, kArgument, "the training rows has no data");
  expect_refused([&] { index.kneighbors(no_data); }, kArgument, "the query rows has no data");
  expect_refused([&] { index.kneighbors(train.view, {}, {}, NeighborArrays{}); }, kArgument,
                 "the lists' indices is null");
  const std::vector<std::int64_t> large = {1, 2, 3, (std::int64_t{1} << 53) + 1};
  const ArrayView integers{large.data(), ElementType::int64, 2, 2};
  expect_refused([&] { KnnIndex::fit(integers); }, ErrorCode::unsupported,
                 "row 1, column 2: the int64 9007199254740993");
  expect_refused([&] { KnnIndex::fit(ArrayView{large.data(), ElementType::int64, 0, 2}); }, ErrorCode::invalid_data,
                 "no rows");
  expect_refused([&] { KnnIndex::fit(ArrayView{large.data(), ElementType::int64, 2, 0}); }, ErrorCode::invalid_data,
                 "no features");
  Table nominal = train.table;
  nominal.columns[1] = make_nominal("x1", std::vector<std::int32_t>(50, 0), {"a"});
  expect_refused([&] { KnnIndex::fit(nominal).kneighbors(train.view); }, kArgument, "'x1' is nominal");
}

}  // namespace
}  // namespace stope
