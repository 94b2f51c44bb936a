// Full grids: every degenerate size, every tiling with every number of threads, and every pair of special values. Every
// back end of this machine gives the bits, or the refusal, of the reference.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "effort.hpp"
#include "environment.hpp"
#include "oracle/measure_oracle.hpp"
#include "oracle/random_table.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::TableShape;

// The lists, or the code of the refusal.
struct Answer {
  Neighbors lists;
  std::optional<ErrorCode> refusal;
};

Answer answer(const Table& train, const Table& query, const KnnOptions& options, std::int64_t k, int threads = 1) {
  try {
    const RunOptions run{.threads = threads};
    return {KnnIndex::fit(train, options, run).kneighbors(query, {.n_neighbors = k}, run), {}};
  } catch (const Error& error) {
    return {{}, error.code()};
  }
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void expect_same(const Answer& found, const Answer& expected) {
  ASSERT_EQ(found.refusal, expected.refusal);
  ASSERT_EQ(found.lists.offsets, expected.lists.offsets);
  ASSERT_EQ(found.lists.indices, expected.lists.indices);
  ASSERT_EQ(found.lists.distances.size(), expected.lists.distances.size());
  for (std::size_t i = 0; i < expected.lists.distances.size(); ++i) {
    ASSERT_TRUE(same_bits(found.lists.distances[i], expected.lists.distances[i])) << "entry " << i;
  }
}

std::vector<std::string> fast_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& backend : device_info().backends) {
    if (backend.available && backend.name != "reference") names.push_back(backend.name);
  }
  return names;
}

TEST(Grid, EverySizeGivesTheReferencesListsOrItsRefusal) {
  constexpr std::int64_t kTile = 64;
  const std::vector<std::int64_t> sizes = {0, 1, 2, 31, 32, 33, kTile - 1, kTile, kTile + 1};
  const std::vector<int> widths = {0, 1, 2, 31, 32, 33};
  Random random(21);
  std::int64_t n_cases = 0, n_answered = 0, i = 0;
  for (const std::int64_t n : sizes) {
    for (const std::int64_t m : sizes) {
      for (const int width : widths) {
        if (!chosen(i++)) continue;
        const TableShape shape{.n_rows = n, .n_numeric = width, .values = static_cast<TableShape::Values>(i % 2)};
        TableShape query_shape = shape;
        query_shape.n_rows = m;
        const Table train = oracle::random_table(random, shape), query = oracle::random_table(random, query_shape);
        for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, n - 1, n, n + 1}) {
          SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(m) + " x " + std::to_string(width) + ", k " +
                       std::to_string(k));
          Answer expected;
          {
            const ForcedBackend reference("reference");
            expected = answer(train, query, {}, k);
          }
          // What is asked for is there, or the answer says what is wrong with it.
          ASSERT_EQ(expected.refusal.has_value(), n == 0 || width == 0 || k < 1 || k > n);
          if (!expected.refusal) {
            ASSERT_EQ(expected.lists.offsets.back(), m * k);
            ++n_answered;
          }
          const ForcedVariable tile_rows("STOPE_TILE_ROWS", std::to_string(kTile));
          const ForcedVariable tile_queries("STOPE_TILE_QUERIES", std::to_string(kTile));
          for (const std::string& backend : fast_backends()) {
            SCOPED_TRACE(backend);
            const ForcedBackend forced(backend);
            ASSERT_NO_FATAL_FAILURE(expect_same(answer(train, query, {}, k), expected));
            ++n_cases;
          }
        }
      }
    }
  }
  RecordProperty("cases", std::to_string(n_cases));
  EXPECT_GT(n_answered, 0);
}

TEST(Grid, TwelveTilingsAndFiveNumbersOfThreadsGiveOneAnswer) {
  Random random(22);
  const TableShape shape{
      .n_rows = 400, .n_numeric = 5, .n_nominal = 1, .missing = 0.05, .values = TableShape::Values::few};
  const Table train = oracle::random_table(random, shape);
  TableShape query_shape = shape;
  query_shape.n_rows = 150;
  const Table query = oracle::random_table(random, query_shape);
  std::int64_t number = 0;
  for (const char* metric : {"mixed-euclidean", "gower"}) {
    const KnnOptions options{{metric, {}}, {}, Compat::none};
    Answer expected;
    {
      const ForcedBackend reference("reference");
      expected = answer(train, query, options, 17);
    }
    ASSERT_FALSE(expected.refusal);
    for (const std::string& backend : fast_backends()) {
      for (const char* tile_queries : {"1", "7", "64"}) {
        for (const char* tile_rows : {"33", "1000"}) {
          for (const int threads : {1, 2, 3, 4, 8}) {
            for (const std::int64_t part : {0, 101}) {
              if (!chosen(number++)) continue;
              SCOPED_TRACE(std::string(metric) + ", " + backend + ", tiles of " + tile_queries + " x " + tile_rows +
                           ", parts of " + std::to_string(part) + ", " + std::to_string(threads) + " threads");
              const ForcedBackend forced(backend);
              const ForcedVariable queries("STOPE_TILE_QUERIES", tile_queries), rows("STOPE_TILE_ROWS", tile_rows);
              const PartRows parts(part);
              ASSERT_NO_FATAL_FAILURE(expect_same(answer(train, query, options, 17, threads), expected));
            }
          }
        }
      }
    }
  }
}

// The ends of every range in which arithmetic behaves differently: 20 values and their negatives, infinities and NaN.
std::vector<double> special_values() {
  using Limits = std::numeric_limits<double>;
  const double root = std::sqrt(Limits::max());
  std::vector<double> values;
  for (const double value : {0.0,
                             Limits::denorm_min(),
                             Limits::min(),
                             1e-162,
                             0.1,
                             0.5,
                             1.0 - Limits::epsilon() / 2,
                             1.0,
                             1.0 + Limits::epsilon(),
                             2.0,
                             3.0,
                             255.0,
                             65504.0,
                             4294967296.0,
                             9007199254740992.0,
                             1e100,
                             root,
                             std::nextafter(root, Limits::infinity()),
                             Limits::max(),
                             Limits::infinity()}) {
    values.push_back(value);
    values.push_back(-value);
  }
  values.push_back(Limits::quiet_NaN());
  return values;
}

Table column_of(const std::vector<double>& values) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(values.size());
  table.columns.push_back(make_numeric("x", values));
  return table;
}

// Whether the oracle and the measure agree on a pair of rows, or the measure refuses them as the caller's mistake.
class SpecialPairs : public testing::TestWithParam<std::string> {};

TEST_P(SpecialPairs, HaveTheOraclesDistanceOrAreRefused) {
  const std::string& name = GetParam();
  const std::vector<double> values = special_values();
  const KnnOptions options{{name, {}}, {}, Compat::none};
  int pair = 0;
  for (const double a : values) {
    for (const double b : values) {
      if (!chosen(pair++)) continue;
      SCOPED_TRACE(name + " of " + std::to_string(a) + " and " + std::to_string(b));
      const Table train = column_of({a}), query = column_of({b});
      Answer expected;
      {
        const ForcedBackend reference("reference");
        expected = answer(train, query, options, 1);
      }
      if (expected.refusal) {
        EXPECT_TRUE(expected.refusal == ErrorCode::invalid_argument || expected.refusal == ErrorCode::invalid_data);
      } else {
        const double ours = expected.lists.distances.at(0), theirs = oracle::distance(name, train, 0, query, 0);
        ASSERT_TRUE(same_bits(ours, theirs)) << ours << " != " << theirs;
      }
      for (const std::string& backend : fast_backends()) {
        SCOPED_TRACE(backend);
        const ForcedBackend forced(backend);
        ASSERT_NO_FATAL_FAILURE(expect_same(answer(train, query, options, 1), expected));
      }
    }
  }
}

TEST_P(SpecialPairs, KeepTheirOrderInATableOfAll) {
  const std::vector<double> values = special_values();
  std::vector<double> x, y;
  for (const double a : values) {
    for (const double b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  Table train = column_of(x), query = column_of(values);
  std::vector<double> turned(values.rbegin(), values.rend());
  train.columns.push_back(make_numeric("y", y));
  query.columns.push_back(make_numeric("y", turned));
  const KnnOptions options{{GetParam(), {}}, {}, Compat::none};
  Answer expected;
  {
    const ForcedBackend reference("reference");
    expected = answer(train, query, options, train.n_rows);
  }
  for (const std::string& backend : fast_backends()) {
    SCOPED_TRACE(backend);
    const ForcedBackend forced(backend);
    ASSERT_NO_FATAL_FAILURE(expect_same(answer(train, query, options, train.n_rows), expected));
    ASSERT_NO_FATAL_FAILURE(expect_same(answer(train, query, options, train.n_rows, 3), expected));
  }
}

// Measures of numbers whose arithmetic is + - * / sqrt in the order of the attributes: the oracle gives their bits.
std::vector<std::string> exact_measures() {
  std::vector<std::string> names;
  for (const MetricInfo& info : metrics()) {
    const std::string name(info.name);
    const bool elementary = name == "minkowski" || name == "cosine-similarity" || name == "haversine" || name == "kl" ||
                            name == "mahalanobis" || name == "generalized-i" || name == "itakura-saito" ||
                            name == "logarithmic-loss" || name == "logistic-loss" || name == "kernel-euclidean" ||
                            name == "dtw";
    if (!elementary && info.accepts != Accepts::nominal) names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Exact, SpecialPairs, testing::ValuesIn(exact_measures()), [](const auto& param_info) {
  std::string name = param_info.param;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
});

}  // namespace
}  // namespace stope
