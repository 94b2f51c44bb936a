// Memory that a caller lends and later changes (docs/adr/0021-lent-memory.md): what has no owner is copied by fit; a
// change of what has one is an error wherever a search can see it, never a mixture of old and new values.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "environment.hpp"
#include "knn/answers.hpp"
#include "knn/array_cases.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using array_cases::ArrayCase;
using array_cases::Layout;

// A table whose columns lie in memory that is lent, and a table of the same values that stays as it is.
class LentTable {
 public:
  enum class Owner { none, set };
  explicit LentTable(const Table& table, Owner owner) : lent_(table) {
    for (Column& column : lent_.columns) {
      std::visit([&](auto& values) { lend(values, owner); }, column.data);
    }
  }
  const Table& table() const { return lent_; }
  // Writes other values to all the memory.
  void change() const {
    for (const auto& write : writes_) write();
  }

 private:
  template <class T>
  void lend(Buffer<T>& values, Owner owner) {
    auto memory = std::make_shared<std::vector<T>>(values.begin(), values.end());
    values = Buffer<T>::borrow(memory->data(), values.size(), owner == Owner::set ? memory : nullptr);
    writes_.push_back([memory] { std::fill(memory->begin(), memory->end(), T{0}); });
  }
  Table lent_;
  std::vector<std::function<void()>> writes_;
};

Table mixed_table(Random& random, std::int64_t n) {
  Table table = oracle::random_table(random, {.n_rows = n, .n_numeric = 3, .n_nominal = 3, .missing = 0.05});
  Buffer<float> floats(n);
  for (float& value : floats) value = static_cast<float>(random.uniform());
  table.columns.push_back({"f", ValueType::real, Role::regular, floats, {}});
  table.columns[4].role = Role::ignore;  // groups
  return table;
}

TEST(LentMemory, WhatHasNoOwnerIsCopiedByFit) {
  Random random(81);
  for (const int part_rows : {0, 64}) {
    const PartRows parts(part_rows);
    for (const char* metric : {"gower", "mixed-euclidean"}) {
      const Table train = mixed_table(random, 300), query = mixed_table(random, 70);
      const LentTable lent(train, LentTable::Owner::none);
      const KnnOptions options{.metric = {metric, {}}, .feature_weights = {1.0, 0.0, 1.0, 1.0, 1.0, 1.0}};
      const SearchOptions search{.n_neighbors = 7, .exclude_group = "s1"};
      const KnnIndex index = KnnIndex::fit(lent.table(), options);
      lent.change();
      const Neighbors theirs = KnnIndex::fit(train, options).kneighbors(query, search);
      ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, search), theirs));
    }
  }
}

TEST(LentMemory, LabelsAndWeightsWithoutAnOwnerAreCopiedByFit) {
  Random random(82);
  Table train = mixed_table(random, 200);
  const Table query = mixed_table(random, 50);
  train.columns[3].role = Role::label;
  for (std::int32_t& code : std::get<Buffer<std::int32_t>>(train.columns[3].data)) code = std::max(code, 0);
  train.columns[6].role = Role::weight;
  const LentTable lent(train, LentTable::Owner::none);
  const KnnClassifier ours = KnnClassifier::fit(lent.table());
  lent.change();
  const Classification theirs = KnnClassifier::fit(train).predict(query);
  const Classification found = ours.predict(query);
  EXPECT_EQ(found.codes, theirs.codes);
  expect_same_bits(found.confidences, theirs.confidences);
  Table numbers = train;
  numbers.columns[3].role = Role::ignore;
  numbers.columns[0].role = Role::label;
  for (double& value : std::get<Buffer<double>>(numbers.columns[0].data)) value = std::isnan(value) ? 0.5 : value;
  const LentTable lent_numbers(numbers, LentTable::Owner::none);
  const KnnRegressor regressor = KnnRegressor::fit(lent_numbers.table());
  lent_numbers.change();
  expect_same_bits(regressor.predict(query), KnnRegressor::fit(numbers).predict(query));
}

TEST(LentMemory, ArraysWithoutAnOwnerAreCopiedByFit) {
  Random random(83);
  const ArrayCase query = array_cases::random_array(random, 40, 5, ElementType::float64, Layout::rows);
  for (int type = 0; type < array_cases::kElementTypes; ++type) {
    const ArrayCase train = array_cases::random_array(random, 200, 5, static_cast<ElementType>(type), Layout::rows);
    for (const int part_rows : {0, 64}) {
      const PartRows parts(part_rows);
      const KnnIndex index = KnnIndex::fit(train.view);
      std::vector<char> kept = *train.memory;
      std::fill(train.memory->begin(), train.memory->end(), '\1');
      ASSERT_NO_FATAL_FAILURE(
          expect_same(index.kneighbors(query.view), KnnIndex::fit(train.table).kneighbors(query.table)));
      *train.memory = kept;
    }
  }
}

// Returns whether the search says that the rows have changed.
bool says_so(const KnnIndex& index, const QueryRows& query) {
  try {
    index.kneighbors(query);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("have changed since the index was fitted"), std::string::npos)
        << error.what();
    return true;
  }
}

TEST(LentMemory, OneValueThatChangesBeforeTheFiltersAreMadeIsAnError) {
  Random random(84);
  const ForcedBackend filter("scalar");
  const ArrayCase query = array_cases::random_array(random, 40, 5, ElementType::float64, Layout::rows);
  for (int round = 0; round < 60; ++round) {
    ArrayCase train = array_cases::random_array(random, 5000, 5, ElementType::float64, Layout::rows);
    train.view.owner = train.memory;
    const KnnIndex index = KnnIndex::fit(train.view);
    auto* const values = reinterpret_cast<double*>(train.memory->data());
    const auto at = random.below(5000 * 5);
    const double before = values[at];
    values[at] = before == 0.25 ? 0.5 : 0.25;
    ASSERT_TRUE(says_so(index, query.view)) << at;
    values[at] = before;
    ASSERT_FALSE(says_so(index, query.view)) << "the rows are as they were";
  }
}

TEST(LentMemory, RowsThatAreWrittenAnewAreAnErrorInEverySearch) {
  Random random(85);
  const ArrayCase query = array_cases::random_array(random, 3, 5, ElementType::float64, Layout::rows);
  for (const char* scan : {"scalar", "reference"}) {
    const ForcedBackend forced(scan);
    ArrayCase train = array_cases::random_array(random, 5000, 5, ElementType::float64, Layout::rows);
    train.view.owner = train.memory;
    const KnnIndex index = KnnIndex::fit(train.view);
    ASSERT_FALSE(says_so(index, query.view));
    auto* const values = reinterpret_cast<double*>(train.memory->data());
    for (std::int64_t i = 0; i < 5000 * 5; ++i) values[i] *= 2.0;
    EXPECT_TRUE(says_so(index, query.view)) << scan;
  }
}

TEST(LentMemory, ColumnsOfATableInPartsThatChangeAreAnError) {
  Random random(86);
  const Table train = mixed_table(random, 300), query = mixed_table(random, 20);
  const PartRows parts(64);
  for (const std::size_t column : {std::size_t{0}, std::size_t{3}, std::size_t{6}}) {
    const LentTable lent(train, LentTable::Owner::set);
    const KnnIndex index = KnnIndex::fit(lent.table());
    ASSERT_FALSE(says_so(index, query));
    Column changed = lent.table().columns[column];
    std::visit([](auto& values) { values[299] = values[299] == 0 ? 1 : 0; }, changed.data);
    EXPECT_TRUE(says_so(index, query)) << column;
  }
}

}  // namespace
}  // namespace stope
