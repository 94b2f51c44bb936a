// A filter that keeps every row gives the right answers, too, but saves nothing. On random numbers each keeps few.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "knn/filter/filter_cases.hpp"

namespace stope {
namespace {

constexpr std::int64_t kRows = 3000, kQueries = 20;

// One row of 300 lies far from the others.
Table uniform(Random& random, std::int64_t n_rows, std::uint64_t missing_one_in) {
  std::vector<std::vector<double>> columns(12, std::vector<double>(static_cast<std::size_t>(n_rows)));
  for (std::vector<double>& column : columns) {
    for (double& value : column) value = random.below(missing_one_in) == 0 ? std::nan("") : random.uniform();
    for (std::size_t row = 7; row < column.size(); row += 300) column[row] = 40.0;
  }
  return table_of(columns);
}

void expect_few(const std::string& metric, std::uint64_t missing_one_in, std::int64_t most_per_query) {
  Random random(4);
  const Table train = uniform(random, kRows, missing_one_in), query = uniform(random, kQueries, missing_one_in);
  KnnOptions options;
  options.metric.name = metric;
  const KnnIndex index = KnnIndex::fit(train, options);
  for (const BackendInfo& backend : device_info().backends) {
    if (!backend.available || backend.name == "reference" || backend.name == "cuda") continue;
    for (const char* scan : {"differences", "products", "nibbles", "bytes"}) {
      const Forced forced(backend.name, "table", scan, 1000, 0);
      const SearchReport report = index.kneighbors(query, {.n_neighbors = 3}, {}, [](const Neighbors&) {});
      EXPECT_TRUE(report.method.starts_with("filter")) << report.method;
      EXPECT_LT(report.evaluated, kQueries * most_per_query) << metric << ", " << backend.name << ", " << report.method;
    }
  }
}

TEST(KeptRows, AreFew) {
  for (const char* metric : {"euclidean", "manhattan", "chebyshev", "cosine", "inner-product"}) {
    expect_few(metric, kRows * 1000, 300);
  }
}

TEST(KeptRows, AreFewWhereValuesAreMissing) {
  for (const char* metric : {"nan-euclidean", "gower", "heom"}) expect_few(metric, 50, 600);
}

}  // namespace
}  // namespace stope
