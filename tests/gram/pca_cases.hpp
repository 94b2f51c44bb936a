// Tables for the tests of PCA.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "oracle/svd_oracle.hpp"
#include "stope/table.hpp"

namespace stope::pca_cases {

inline oracle::Real real(double v) {
  return static_cast<oracle::Real>(v);
}

struct Case {
  std::string name;
  std::vector<std::vector<double>> columns;
};

inline Table table_of(const std::vector<std::vector<double>>& columns) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(columns[0].size());
  for (std::size_t j = 0; j < columns.size(); ++j)
    table.columns.push_back(make_numeric("a" + std::to_string(j), columns[j]));
  return table;
}

// Makes `rank` latent dimensions and noise.
inline Case latent(std::string name, std::int64_t n, std::int64_t p, std::int64_t rank, double noise, double offset) {
  Random random(static_cast<std::uint64_t>(n * 1000 + p));
  const auto normal = [&] { return random.uniform() + random.uniform() + random.uniform() - 1.5; };
  std::vector<std::vector<double>> factors(static_cast<std::size_t>(rank),
                                           std::vector<double>(static_cast<std::size_t>(n)));
  for (auto& factor : factors) {
    for (double& v : factor) v = normal();
  }
  Case c{std::move(name), {}};
  for (std::int64_t j = 0; j < p; ++j) {
    std::vector<double> column(static_cast<std::size_t>(n), offset);
    for (const auto& factor : factors) {
      const double load = normal();
      for (std::size_t i = 0; i < column.size(); ++i) column[i] += load * factor[i];
    }
    for (double& v : column) v += noise * normal();
    c.columns.push_back(std::move(column));
  }
  return c;
}

}  // namespace stope::pca_cases
