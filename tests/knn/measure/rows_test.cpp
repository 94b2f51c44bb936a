// Distances of rows picked from a table have the bits of those computed tile by tile: eight rows side by side where the
// table is plain numbers, four otherwise; also where the query lacks a value, and where sums overflow or cancel.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kRows = 40;

double value_of(Random& random, bool wild) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> others = {infinity, -infinity, 1e200, -1e200, 1e-200, -0.0, 0.0, 1e-320};
  return wild && random.below(12) == 0 ? others[random.below(others.size())] : 1e6 + random.uniform();
}

void expect_the_tiles_bits(Random& random, const std::string& metric, std::int64_t width, bool wild, double weight,
                           bool missing) {
  Table table;
  table.n_rows = kRows;
  for (std::int64_t c = 0; c < width; ++c) {
    std::vector<double> values;
    for (std::int64_t row = 0; row < kRows; ++row) values.push_back(value_of(random, wild));
    if (missing && c % 3 == 0) values[random.below(kRows)] = std::nan("");
    table.columns.push_back(make_numeric("x" + std::to_string(c), values));
  }
  KnnOptions options;
  options.metric.name = metric;
  if (weight != 1.0) options.feature_weights.assign(static_cast<std::size_t>(width), weight);
  const Fitted fitted(table, options, {});
  for (const double gap : {0.0, 0.1, 1.0}) {
    std::vector<double> query;
    for (std::int64_t c = 0; c < width; ++c) {
      query.push_back(random.uniform() < gap ? std::nan("") : value_of(random, wild));
    }
    std::vector<double> expected(kRows);
    fitted.kernel().evaluate({fitted.rows(), kRows, query.data(), 1, expected.data(), kRows}, Quantity::distance,
                             PairOrder::train_first);
    for (std::int64_t n = 1; n < 20; ++n) {
      std::vector<std::int64_t> rows;
      for (std::int64_t i = 0; i < n; ++i) rows.push_back(static_cast<std::int64_t>(random.below(kRows)));
      std::vector<double> found(static_cast<std::size_t>(n) + 1, 7.0);
      fitted.kernel().evaluate_rows(fitted.rows(), rows.data(), n, query.data(), found.data());
      ASSERT_EQ(found.back(), 7.0) << "written behind the last row";
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double tile = expected[static_cast<std::size_t>(rows[i])];
        ASSERT_TRUE(std::memcmp(&found[i], &tile, sizeof tile) == 0 || (std::isnan(tile) && std::isnan(found[i])))
            << metric << ", " << width << " columns, row " << i << " of " << n << ": " << found[i] << ", not " << tile;
      }
    }
  }
}

TEST(PickedRows, HaveTheBitsOfTiles) {
  Random random(1);
  for (const char* metric : {"euclidean", "sqeuclidean", "mixed-euclidean", "manhattan", "chebyshev", "cosine"}) {
    for (const std::int64_t width : {1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 130}) {
      for (const bool wild : {false, true}) {
        expect_the_tiles_bits(random, metric, width, wild, 1.0, false);
        expect_the_tiles_bits(random, metric, width, wild, 1.0, true);
        expect_the_tiles_bits(random, metric, width, wild, 0.3, false);
      }
    }
  }
}

}  // namespace
}  // namespace stope::knn
