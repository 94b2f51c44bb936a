// Tests which centres a search on a GPU takes from a sample of the rows (src/knn/gpu/tensor/cluster_centres.hpp).
#include "knn/gpu/tensor/cluster_centres.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "knn/gpu/tensor/tensor_filter_cases.hpp"

namespace stope::knn {
namespace {

class CentresOfClusters : public testing::Test {
 protected:
  ClusterCentres centres_of(const Table& table, bool forced = false, const KnnOptions& options = {}) {
    const Fitted fitted(table, options, {});
    ThreadPool pool(2);
    return find_centres(fitted, forced, pool, {});
  }
  Table clusters(std::int64_t n, std::int64_t d, std::int64_t n_centres, double offset = 0.0, double unit = 1.0) {
    return table_of(fill(n, d, [&](std::size_t r, std::size_t c) {
      Random of_centre(1 + r % static_cast<std::size_t>(n_centres) * 1000 + c);
      return offset + unit * (of_centre.uniform() + 0.02 * random_.uniform());
    }));
  }
  Random random_{5};
};

TEST_F(CentresOfClusters, EachClusterHasOne) {
  for (const std::int64_t n_centres : {20, 100, 700}) {
    const Table table = clusters(20000, 40, n_centres);
    const ClusterCentres centres = centres_of(table);
    EXPECT_EQ(centres.n, n_centres);
    ASSERT_EQ(static_cast<std::int64_t>(centres.rows.size()), centres.n * 40);
    EXPECT_GT(centres.most_radius, 0.0);
    EXPECT_LT(centres.most_radius, 0.4) << "clusters are farther apart";
  }
}

TEST_F(CentresOfClusters, NeitherTheOffsetNorTheUnitMatters) {
  const std::int64_t n = centres_of(clusters(20000, 40, 50)).n;
  EXPECT_EQ(n, 50);
  EXPECT_EQ(centres_of(clusters(20000, 40, 50, 1e6)).n, n);
  EXPECT_EQ(centres_of(clusters(20000, 40, 50, 0.0, 1e-3)).n, n);
}

// One column of great weight hides the clusters of the others.
TEST_F(CentresOfClusters, WeightsCount) {
  Table table = clusters(20000, 41, 50);
  std::vector<double> values(20000);
  for (double& value : values) value = random_.uniform();
  table.columns[40] = make_numeric(table.columns[40].name, values);
  KnnOptions options;
  options.feature_weights.assign(41, 1.0);
  options.feature_weights[40] = 1e-6;
  EXPECT_EQ(centres_of(table, false, options).n, 50);
  options.feature_weights[40] = 1e6;
  EXPECT_NE(centres_of(table, false, options).n, 50);
}

TEST_F(CentresOfClusters, RowsThatAreNotInClustersHaveNone) {
  const auto uniform = [&](std::size_t, std::size_t) { return random_.uniform(); };
  for (const std::int64_t d : {20, 128}) {
    const Table table = table_of(fill(10000, d, uniform));
    EXPECT_EQ(centres_of(table).n, 0);
    const ClusterCentres forced = centres_of(table, true);
    EXPECT_EQ(forced.n, 256);
    EXPECT_TRUE(std::isinf(forced.most_radius));
  }
}

TEST_F(CentresOfClusters, EqualRowsSayNothing) {
  EXPECT_EQ(centres_of(table_of(fill(5000, 9, [](std::size_t, std::size_t) { return 3.0; }))).n, 0);
  EXPECT_EQ(
      centres_of(table_of(fill(5000, 9, [](std::size_t r, std::size_t c) { return static_cast<double>(r % 7 * c); })))
          .n,
      0);
  EXPECT_GT(centres_of(table_of(fill(1, 9, [](std::size_t, std::size_t) { return 3.0; })), true).n, 0);
}

}  // namespace
}  // namespace stope::knn
