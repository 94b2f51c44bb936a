// Boxes over boxes, on the CPU and on GPUs: the order of near rows, the boxes of every level, and searches through
// several levels of them on tables made to defeat them. Every search is compared with the reference, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "effort.hpp"
#include "knn/filter/box_tree.hpp"
#include "knn/filter/filter_cases.hpp"
#include "knn/filter/near_order.hpp"

namespace stope {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kLeaf = knn::kScanBlockRows;

std::vector<float> random_images(std::int64_t n, std::int64_t n_columns, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> images(static_cast<std::size_t>(n * n_columns));
  for (float& value : images) value = static_cast<float>(random.uniform());
  return images;
}

std::vector<std::int64_t> order_of(const std::vector<float>& images, std::int64_t n_columns, int threads) {
  ThreadPool pool(threads);
  const std::int64_t n = std::ssize(images) / n_columns;
  return knn::near_order(images.data(), n, n_columns, kLeaf, knn::scalar::kSplitKernels, pool, {});
}

/// The kernels of the instruction sets that this machine has.
std::vector<std::pair<std::string, const knn::SplitKernels*>> split_kernels() {
  std::vector<std::pair<std::string, const knn::SplitKernels*>> all;
  for (const BackendInfo& backend : device_info().backends) {
    if (!backend.available) continue;
    if (backend.name == "scalar") all.emplace_back(backend.name, &knn::scalar::kSplitKernels);
    if (backend.name == "avx2") all.emplace_back(backend.name, &knn::avx2::kSplitKernels);
    if (backend.name == "avx512") all.emplace_back(backend.name, &knn::avx512::kSplitKernels);
  }
  return all;
}

void expect_permutation(std::vector<std::int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], static_cast<std::int64_t>(i));
}

// The sizes straddle leaves, fans of leaves, the samples of a split, and what is split in the cache.
TEST(NearOrder, HasEveryRowOnceWhateverTheThreads) {
  for (const std::int64_t n : {1, 63, 64, 65, 511, 513, 1023, 1024, 1025, 1088, 8191, 16384, 16385, 17408, 70001}) {
    for (const std::int64_t n_columns : {1, 3, 9}) {
      SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(n_columns));
      const std::vector<float> images = random_images(n, n_columns, 3);
      const std::vector<std::int64_t> rows = order_of(images, n_columns, 1);
      expect_permutation(rows);
      EXPECT_EQ(rows, order_of(images, n_columns, 5));
    }
  }
}

// In one column the order is that of the values, up to the order in a leaf.
TEST(NearOrder, SplitsWholeFansOfLeavesAtTheRightValue) {
  for (const std::int64_t n : {1088, 5000, 33333}) {
    const std::vector<float> images = random_images(n, 1, 4);
    const std::vector<std::int64_t> rows = order_of(images, 1, 3);
    float before = -1.0F;
    for (std::int64_t begin = 0; begin < n; begin += kLeaf) {
      float low = 2.0F, high = -1.0F;
      for (std::int64_t i = begin; i < std::min(begin + kLeaf, n); ++i) {
        const float value = images[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
        low = std::min(low, value), high = std::max(high, value);
      }
      EXPECT_LE(before, low) << n << ", " << begin;
      before = high;
    }
  }
}

// Every box of the level above lies in one part of the order: its volume is about that of its share of the rows.
TEST(NearOrder, KeepsFansOfLeavesTogether) {
  constexpr std::int64_t n = 64 * 300, n_columns = 2;
  const std::vector<float> images = random_images(n, n_columns, 5);
  const std::vector<std::int64_t> rows = order_of(images, n_columns, 1);
  constexpr std::int64_t kFanRows = kLeaf * knn::kBoxFan;
  for (std::int64_t begin = 0; begin < n; begin += kFanRows) {
    float low[2] = {2.0F, 2.0F}, high[2] = {-1.0F, -1.0F};
    for (std::int64_t i = begin; i < std::min(begin + kFanRows, n); ++i) {
      for (int c = 0; c < 2; ++c) {
        const float value = images[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)] * n_columns + c)];
        low[c] = std::min(low[c], value), high[c] = std::max(high[c], value);
      }
    }
    const double share = static_cast<double>(kFanRows) / static_cast<double>(n);
    EXPECT_LT(static_cast<double>((high[0] - low[0]) * (high[1] - low[1])), 1.5 * share) << begin;
  }
}

TEST(NearOrder, PutsEqualRowsInTheirOrderAndMissingOnesLast) {
  std::vector<float> images(3000, 0.25F);
  std::vector<std::int64_t> rows = order_of(images, 1, 2);
  for (std::int64_t begin = 0; begin < 3000; begin += kLeaf) {
    const auto first = rows.begin() + begin, last = rows.begin() + std::min<std::int64_t>(begin + kLeaf, 3000);
    EXPECT_EQ(*std::min_element(first, last), begin);
    EXPECT_EQ(*std::max_element(first, last), begin + (last - first) - 1);
  }
  for (std::size_t i = 0; i < 1000; ++i) images[i] = i % 2 == 0 ? kMissing : -kMissing;
  rows = order_of(images, 1, 1);
  for (std::size_t i = 0; i < 1920; ++i) EXPECT_GE(rows[i], 1000);
}

// Rows of few columns are moved, those of many are numbered. 70,001 rows are more than one thread splits alone.
TEST(NearOrder, IsTheSameForMovedRows) {
  const float values[] = {0.0F, -0.0F, 1.0F, -1.0F, 1e30F, -1e30F, 1e-40F, kMissing};
  std::int64_t number = 0;
  for (const std::int64_t n : {65, 127, 128, 1000, 4095, 5000, 16400, 140001}) {
    for (const std::int64_t n_columns : {1, 2, 3, 8}) {
      for (const int kind : {0, 1, 2, 3}) {
        if (!chosen(number++)) continue;
        std::vector<float> images = random_images(n, n_columns, 31);
        Random random(32);
        for (std::size_t i = 0; i < images.size(); ++i) {
          if (kind == 1) images[i] = values[random.below(std::size(values))];                 // ties, missing values
          if (kind == 2) images[i] = i < images.size() / 2 ? kMissing : 0.5F;                 // nothing else
          if (kind == 3) images[i] = static_cast<float>(random.below(5)) * images[i] - 1.5F;  // a heavy value
        }
        ThreadPool one(1), three(3);
        const std::vector<std::int64_t> expected =
            knn::near_order_by_number(images.data(), n, n_columns, kLeaf, one, {});
        for (const auto& [name, kernels] : split_kernels()) {
          for (ThreadPool* const pool : {&one, &three}) {
            SCOPED_TRACE(name + ", " + std::to_string(n) + " x " + std::to_string(n_columns) + ", kind " +
                         std::to_string(kind) + ", threads " + std::to_string(pool->size()));
            ASSERT_EQ(knn::near_order(images.data(), n, n_columns, kLeaf, *kernels, *pool, {}), expected);
          }
        }
      }
    }
  }
}

TEST(NearOrder, KeysHaveTheOrderOfTheirValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float values[] = {-kInf, -3e38F, -1.0F, -1e-45F, -0.0F, 0.0F, 1e-45F, 1.0F, 3e38F, kInf, kMissing};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const float back = knn::value_of(knn::key_of(values[i]));
    EXPECT_TRUE(std::bit_cast<std::uint32_t>(back) == std::bit_cast<std::uint32_t>(values[i]) || std::isnan(values[i]));
    EXPECT_EQ(std::isnan(back), std::isnan(values[i]));
    if (i > 0) {
      EXPECT_LT(knn::key_of(values[i - 1]), knn::key_of(values[i]));
    }
  }
}

TEST(BoxTree, EveryBoxHoldsTheBoxesBelowIt) {
  constexpr std::int64_t n = 16 * 16 + 3, n_columns = 3;
  Random random(6);
  knn::BoxLevel blocks(n, n_columns);
  for (std::int64_t box = 0; box < n; ++box) {
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const auto low = static_cast<float>(random.uniform());
      blocks.widen(box, c, box == 200 && c == 1 ? kMissing : low, low + 0.125F);
    }
    blocks.add_row(box, n - box);
  }
  ThreadPool pool(2);
  const knn::BoxTree tree(blocks, pool, {});
  ASSERT_EQ(tree.n_levels(), 3);
  EXPECT_EQ(tree.level(0).n_boxes(), n);
  EXPECT_EQ(tree.level(1).n_boxes(), 17);
  EXPECT_EQ(tree.level(2).n_boxes(), 2);
  EXPECT_EQ(tree.level(0).boxes_of(16), 0b111U);
  EXPECT_EQ(tree.level(1).boxes_of(0), 0xffffU);
  EXPECT_EQ(tree.level(2).first_row(1), 1);
  for (int level = 1; level < 3; ++level) {
    for (std::int64_t box = 0; box < tree.level(level - 1).n_boxes(); ++box) {
      const std::int64_t above = box / knn::kBoxFan;
      EXPECT_LE(tree.level(level).first_row(above), tree.level(level - 1).first_row(box));
      for (std::int64_t c = 0; c < n_columns; ++c) {
        const auto corner = [&](const float* group, std::int64_t b) {
          return group[c * knn::kBoxFan + b % knn::kBoxFan];
        };
        EXPECT_LE(corner(tree.level(level).low(above / knn::kBoxFan), above),
                  corner(tree.level(level - 1).low(above), box));
        EXPECT_GE(corner(tree.level(level).high(above / knn::kBoxFan), above),
                  corner(tree.level(level - 1).high(above), box));
      }
    }
  }
  EXPECT_EQ(tree.level(0).low(200 / 16)[16 + 200 % 16], -std::numeric_limits<float>::infinity());
}

/// Makes the value of a column in a row.
using Values = std::function<double(Random&, std::int64_t row, int column)>;

struct Hostile {
  const char* name;
  Values value;
};

std::vector<Hostile> hostile_tables() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return {
      {"uniform", [](Random& random, std::int64_t, int) { return random.uniform(); }},
      {"all equal", [](Random&, std::int64_t, int) { return 7.25; }},
      {"all equal but one", [](Random&, std::int64_t row, int) { return row == 4321 ? 1e9 : 7.25; }},
      {"lattice", [](Random& random, std::int64_t, int) { return static_cast<double>(random.below(8)); }},
      {"two lattices, one fine",
       [](Random& random, std::int64_t row, int) {
         return static_cast<double>(random.below(4)) +
                (row % 2 == 0 ? 0.0 : 0x1p-30 * static_cast<double>(random.below(3)));
       }},
      {"a line and one far away",
       [](Random&, std::int64_t row, int c) { return row == 777 ? -1e12 : static_cast<double>(row * (c + 1)); }},
      {"line", [](Random&, std::int64_t row, int) { return static_cast<double>(row) * 1e-3; }},
      {"offset", [](Random& random, std::int64_t, int) { return 1e6 + 1e-3 * random.uniform(); }},
      {"clusters",
       [](Random& random, std::int64_t row, int c) {
         return static_cast<double>((row * 7919 + c * 31) % 13) * 100.0 + 1e-6 * random.uniform();
       }},
      {"huge and tiny",
       [](Random& random, std::int64_t, int c) { return (c == 0 ? 1e150 : 1e-150) * (random.uniform() - 0.5); }},
      {"heavy tails", [](Random& random, std::int64_t, int) { return std::tan(3.14159 * (random.uniform() - 0.5)); }},
      {"missing",
       [](Random& random, std::int64_t, int) { return random.below(7) == 0 ? std::nan("") : random.uniform(); }},
      {"a missing column",
       [](Random& random, std::int64_t, int c) { return c == 1 ? std::nan("") : random.uniform(); }},
      {"infinities",
       [](Random& random, std::int64_t, int) {
         const auto which = random.below(40);
         return which == 0 ? kInf : which == 1 ? -kInf : which == 2 ? -0.0 : random.uniform();
       }},
      {"outliers that no float holds",
       [](Random& random, std::int64_t row, int) {
         return static_cast<double>(random.below(64)) + (row % 300 == 7 ? 0x1p-40 * random.uniform() : 0.0);
       }},
  };
}

Table table_like(const Values& value, std::int64_t n, int n_columns, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<double>> columns(static_cast<std::size_t>(n_columns),
                                           std::vector<double>(static_cast<std::size_t>(n)));
  for (std::int64_t row = 0; row < n; ++row) {
    for (int c = 0; c < n_columns; ++c) {
      columns[static_cast<std::size_t>(c)][static_cast<std::size_t>(row)] = value(random, row, c);
    }
  }
  return table_of(columns);
}

Neighbors under(const Forced&, const Case& c, const KnnIndex& index, int threads) {
  RunOptions run;
  run.threads = threads;
  return answer(c, index, run);
}

// Compares every instruction set, queries together and one by one, and GPUs with the reference.
void expect_the_references_lists(const Case& c) {
  const KnnIndex index = KnnIndex::fit(c.train, c.knn);
  const Neighbors expected = under(Forced("reference", "", "", 128, 0), c, index, 1);
  for (const BackendInfo& backend : device_info().backends) {
    if (!backend.available || backend.name == "reference") continue;
    if (backend.name == "cuda") {
      const Forced forced("cuda", "", "", 1000, 0, "queries");
      SCOPED_TRACE("cuda");
      ASSERT_NO_FATAL_FAILURE(expect_same(under(forced, c, index, 3), expected));
      continue;
    }
    for (const int threads : {1, 3}) {
      const char* const visit = threads == 1 || backend.name == "scalar" ? "queries" : "tiles";
      SCOPED_TRACE(backend.name + ", " + visit + ", " + std::to_string(threads) + " threads");
      const Forced forced(backend.name, "near", "", 1000, 0, visit);
      ASSERT_NO_FATAL_FAILURE(expect_same(under(forced, c, index, threads), expected));
    }
  }
}

// 16,500 rows are 258 blocks, and three levels of boxes.
TEST(BoxesOverBoxes, HostileTables) {
  std::int64_t number = 0;
  for (const Hostile& hostile : hostile_tables()) {
    for (const char* metric : {"euclidean", "manhattan", "chebyshev", "gower", "nan-euclidean", "cosine", "canberra"}) {
      if (!chosen(number++)) continue;
      const std::int64_t k = number % 3 == 0 ? 1 : number % 3 == 1 ? 10 : 100;
      const int n_columns = 1 + static_cast<int>(number % 4);
      SCOPED_TRACE(std::string(hostile.name) + ", " + metric + ", k = " + std::to_string(k) + ", " +
                   std::to_string(n_columns) + " columns");
      Case c;
      c.train = table_like(hostile.value, number % 2 == 0 ? 16500 : 1100, n_columns, 21);
      c.query =
          table_like(hostile.value, 70, n_columns, number / 7 % 2 == 0 ? 21 : 22);  // with one seed, training rows
      c.knn.metric.name = metric;
      c.search.n_neighbors = k;
      ASSERT_NO_FATAL_FAILURE(expect_the_references_lists(c));
    }
  }
}

TEST(BoxesOverBoxes, ExcludedRowsAndRadii) {
  std::int64_t number = 0;
  for (const Hostile& hostile : hostile_tables()) {
    if (!chosen(number++)) continue;
    SCOPED_TRACE(hostile.name);
    Case c;
    c.train = table_like(hostile.value, 1300, 2, 23);
    std::vector<std::int64_t> some(130);
    std::iota(some.begin(), some.end(), 900);
    c.query = c.train.take(some);
    c.search.exclude_self = true;
    c.search.first_query = 900;
    c.search.n_neighbors = 3;
    ASSERT_NO_FATAL_FAILURE(expect_the_references_lists(c));
    std::vector<std::int32_t> codes(1300);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::int32_t>(i / 7 % 5);
    const std::vector<std::int32_t> of_queries(codes.begin() + 900, codes.begin() + 1030);
    c.search.exclude_train = make_nominal("group", codes, {"a", "b", "c", "d", "e"});
    c.search.exclude_query = make_nominal("group", of_queries, {"a", "b", "c", "d", "e"});
    ASSERT_NO_FATAL_FAILURE(expect_the_references_lists(c));
    c.search = {};
    for (const double radius : {0.0, 0.05, 2.0}) {
      c.radius = radius;
      ASSERT_NO_FATAL_FAILURE(expect_the_references_lists(c));
    }
  }
}

// The work space of a search serves the next one: of lists too long to be kept as sums, and of rows within a radius.
TEST(BoxesOverBoxes, ASearchTakesNoBoundFromTheSearchBefore) {
  Case c;
  c.train = table_like([](Random& random, std::int64_t, int) { return random.uniform(); }, 4000, 2, 26);
  c.query = table_like([](Random& random, std::int64_t, int) { return random.uniform(); }, 20, 2, 27);
  const KnnIndex index = KnnIndex::fit(c.train, c.knn);
  for (const double radius : {std::nan(""), 0.2}) {
    c.radius = radius;
    c.search.n_neighbors = 300;
    const Neighbors expected = under(Forced("reference", "", "", 128, 0), c, index, 1);
    const Forced forced("scalar", "near", "", 1000, 0, "queries");
    (void)index.kneighbors(c.query, {.n_neighbors = 1}, {.threads = 1});
    expect_same(under(forced, c, index, 1), expected);
  }
}

// Equal rows stand in their order. A query that has k of them needs none of the others.
TEST(BoxesOverBoxes, EqualRowsCloseTheBoxesBehindThem) {
  Case c;
  c.train =
      table_like([](Random& random, std::int64_t, int) { return static_cast<double>(random.below(2)); }, 40000, 2, 24);
  c.query =
      table_like([](Random& random, std::int64_t, int) { return static_cast<double>(random.below(2)); }, 50, 2, 25);
  c.search.n_neighbors = 10;
  const KnnIndex index = KnnIndex::fit(c.train, c.knn);
  const Forced forced("scalar", "near", "", 1000, 0, "queries");
  const SearchReport report = index.kneighbors(c.query, c.search, {}, [](const Neighbors&) {});
  EXPECT_LT(report.evaluated, 50 * 1000);
  EXPECT_GT(report.opened, 0);
  ASSERT_NO_FATAL_FAILURE(expect_the_references_lists(c));
}

// Few columns: every query goes its own way, and looks at few blocks however many there are.
TEST(BoxesOverBoxes, AreChosenForFewColumns) {
  const Values uniform = [](Random& random, std::int64_t, int) { return random.uniform(); };
  const Table train = table_like(uniform, 200'000, 3, 26), query = table_like(uniform, 20'000, 3, 27);
  RunOptions run;
  run.device = "cpu";
  const SearchReport report = KnnIndex::fit(train, {}, run).kneighbors(query, {}, run, [](const Neighbors&) {});
  if (report.method == "reference") GTEST_SKIP() << "no filter on this machine";
  EXPECT_EQ(report.method, "filter, blocks, boxes");
  EXPECT_LT(report.scanned, 20'000 * 600);
  EXPECT_LT(report.opened, 20'000 * 20);
  EXPECT_EQ(report.scanned + report.skipped, 20'000 * ((200'000 + kLeaf - 1) / kLeaf) * kLeaf);
}

}  // namespace
}  // namespace stope
