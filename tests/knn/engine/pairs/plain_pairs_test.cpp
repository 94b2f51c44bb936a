// Distances across pairs have the bits of the formula, on every instruction set: for tiles that straddle groups of rows
// and of queries, in both orders, and with values that overflow, cancel, vanish or are missing.
#include "knn/engine/pairs/plain_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/simd/cpu.hpp"
#include "knn/fitted.hpp"
#include "stope/metric.hpp"

namespace stope::knn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Level {
  std::string name;
  const PairKernels* kernels;
};
std::vector<Level> levels() {
  std::vector<Level> all = {{"scalar", &scalar::kPairKernels}};
  if (simd::has_avx2()) all.push_back({"avx2", &avx2::kPairKernels});
  if (simd::has_avx512()) all.push_back({"avx512", &avx512::kPairKernels});
  return all;
}

enum class Values { usual, few, extreme, not_finite };

double value_of(Random& random, Values values) {
  static const std::vector<double> kExtreme = {0.0, -0.0, 1e-320, -1e-320, 1e-170, 1e155, -1e155, 1.7e308, -1.7e308};
  static const std::vector<double> kNotFinite = {kInf, -kInf};
  switch (values) {
    case Values::usual: return 1e6 + random.uniform();
    case Values::few: return static_cast<double>(random.below(3)) - 1.0;
    case Values::extreme: return kExtreme[random.below(kExtreme.size())];
    case Values::not_finite: break;
  }
  return random.below(100) == 0 ? kNotFinite[random.below(2)] : value_of(random, Values::few);
}

Table random_table(Random& random, std::int64_t n, std::int64_t width, Values values) {
  Table table;
  table.n_rows = n;
  for (std::int64_t c = 0; c < width; ++c) {
    std::vector<double> column;
    for (std::int64_t row = 0; row < n; ++row) column.push_back(value_of(random, values));
    table.columns.push_back(make_numeric("x" + std::to_string(c), column));
  }
  return table;
}

KnnOptions by(const std::string& metric) {
  KnnOptions options;
  options.metric.name = metric;
  return options;
}

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

// Fills a tile whose rows of results are longer than needed, by `evaluate`.
template <class Evaluate>
std::vector<double> tile_by(const Evaluate& evaluate, const Fitted& fitted, const std::vector<double>& queries,
                            std::int64_t n_queries, Quantity quantity, PairOrder order) {
  const std::int64_t ld = fitted.n_rows() + 3;
  std::vector<double> out(static_cast<std::size_t>(n_queries * ld), 7.0);
  evaluate(Tile{fitted.rows(), fitted.n_rows(), queries.data(), n_queries, out.data(), ld}, quantity, order);
  return out;
}

void expect_the_formulas_bits(const Fitted& fitted, const std::vector<double>& queries, std::int64_t n_queries) {
  const MeasureKernel& kernel = fitted.kernel();
  ASSERT_NE(kernel.plain_form(), nullptr);
  for (const Quantity quantity : {Quantity::distance, Quantity::similarity}) {
    for (const PairOrder order : {PairOrder::train_first, PairOrder::query_first}) {
      const std::vector<double> expected =
          tile_by([&](const auto&... tile) { kernel.evaluate(tile...); }, fitted, queries, n_queries, quantity, order);
      for (const Level& level : levels()) {
        const PlainPairs pairs(kernel, *kernel.plain_form(), *level.kernels, fitted.width());
        const std::vector<double> found =
            tile_by([&](const auto&... tile) { pairs.evaluate(tile...); }, fitted, queries, n_queries, quantity, order);
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_TRUE(same_bits(found[i], expected[i]))
              << level.name << ", value " << i << ": " << found[i] << ", not " << expected[i];
        }
      }
    }
  }
}

const std::set<std::string> kPlainMeasures = {"euclidean", "mixed-euclidean", "sqeuclidean",
                                              "manhattan", "chebyshev",       "canberra"};

TEST(PlainPairs, HaveTheBitsOfTheFormula) {
  Random random(1);
  for (const std::string& metric : kPlainMeasures) {
    for (const Values values : {Values::usual, Values::few, Values::extreme, Values::not_finite}) {
      for (const std::int64_t width : {1, 2, 7, 8, 9, 50}) {
        for (const std::int64_t n : {1, 3, 31, 32, 33, 64, 101}) {
          const Fitted fitted(random_table(random, n, width, values), by(metric), {});
          const auto n_queries = static_cast<std::int64_t>(1 + random.below(70));
          std::vector<double> queries;
          for (std::int64_t i = 0; i < n_queries * width; ++i) queries.push_back(value_of(random, values));
          if (values == Values::not_finite) queries[random.below(queries.size())] = std::nan("");
          SCOPED_TRACE(metric + ", " + std::to_string(n) + " rows, " + std::to_string(n_queries) + " queries, " +
                       std::to_string(width) + " columns, values " + std::to_string(static_cast<int>(values)));
          expect_the_formulas_bits(fitted, queries, n_queries);
        }
      }
    }
  }
}

TEST(PlainPairs, TakeMeasuresThatHaveAPlainForm) {
  Random random(2);
  for (const MetricInfo& info : metrics()) {
    const std::string name(info.name);
    if (info.accepts == Accepts::nominal) continue;
    const std::int64_t width = name == "haversine" ? 2 : info.family == "Bregman" ? 1 : 3;
    Table table;
    table.n_rows = 20;
    for (std::int64_t c = 0; c < width; ++c) {
      std::vector<double> column;
      for (int row = 0; row < 20; ++row) column.push_back(0.01 + 0.98 * random.uniform());
      table.columns.push_back(make_numeric("x" + std::to_string(c), column));
    }
    const Fitted fitted(table, by(name), {});
    const bool plain = kPlainMeasures.contains(name) || name == "minkowski";  // p = 2 is euclidean
    EXPECT_EQ(make_plain_pairs(fitted, device::Backend::avx512) != nullptr, plain) << name;
  }
}

TEST(PlainPairs, TakeNoWeightsNoMissingValuesAndNoNominalAttributes) {
  Random random(3);
  const Table table = random_table(random, 40, 3, Values::usual);
  const auto taken = [](const Table& rows, const KnnOptions& options) {
    return make_plain_pairs(Fitted(rows, options, {}), device::Backend::scalar) != nullptr;
  };
  EXPECT_TRUE(taken(table, by("mixed-euclidean")));
  KnnOptions weighted = by("mixed-euclidean");
  weighted.feature_weights = {1.0, 2.0, 1.0};
  EXPECT_FALSE(taken(table, weighted));
  Table missing = table;
  std::vector<double> column(40, 1.0);
  column[5] = std::nan("");
  missing.columns[1] = make_numeric("x1", column);
  EXPECT_FALSE(taken(missing, by("mixed-euclidean")));
  Table nominal = table;
  nominal.columns[1] = make_nominal("x1", std::vector<std::int32_t>(40, 0), {"a"});
  EXPECT_FALSE(taken(nominal, by("mixed-euclidean")));
  EXPECT_FALSE(taken(random_table(random, 2, 4097, Values::few), by("euclidean")));
}

}  // namespace
}  // namespace stope::knn
