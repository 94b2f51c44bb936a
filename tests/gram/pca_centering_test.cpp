// PCA without centring is a truncated singular value decomposition: compared with one in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.hpp"
#include "gram/pca_cases.hpp"
#include "oracle/svd_oracle.hpp"
#include "stope/error.hpp"
#include "stope/pca.hpp"

namespace stope {
namespace {

using oracle::Real;
using namespace pca_cases;

// The rows times a right singular vector, their variance (ddof 0) and the singular value, by definition.
TEST(PcaCentering, WithoutCentringItIsATruncatedSvd) {
  Case huge = latent("huge", 60, 4, 2, 0.3, 3.0);
  for (auto& column : huge.columns) {
    for (double& v : column) v *= 1e140;
  }
  for (const Case& c : {latent("tall", 500, 7, 3, 0.3, 2.0), latent("wide", 12, 90, 4, 0.3, -1.0),
                        latent("far from zero", 400, 5, 2, 0.1, 1e5), huge}) {
    SCOPED_TRACE(c.name);
    const Table table = table_of(c.columns);
    const auto n = table.n_rows, p = static_cast<std::int64_t>(c.columns.size());
    oracle::DenseMatrix rows(n, p);
    Real total = 0;
    for (std::int64_t j = 0; j < p; ++j) {
      Real mean = 0, squares = 0;
      for (std::int64_t i = 0; i < n; ++i)
        mean += rows.at(i, j) = real(table.columns[static_cast<std::size_t>(j)].at(i));
      mean /= static_cast<Real>(n);
      for (std::int64_t i = 0; i < n; ++i) squares += (rows.at(i, j) - mean) * (rows.at(i, j) - mean);
      total += squares / static_cast<Real>(n);
    }
    const oracle::Svd svd = oracle::svd(rows);
    for (const std::int64_t k : {std::int64_t{0}, std::int64_t{2}}) {
      const Pca pca = Pca::fit(table, {.n_components = static_cast<double>(k), .centering = Centering::none});
      EXPECT_EQ(pca.centering(), Centering::none);
      EXPECT_EQ(pca.noise_variance(), 0.0);
      const Table scores = pca.transform(table);
      for (std::int64_t i = 0; i < std::min<std::int64_t>(pca.n_components(), 2); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Real got = real(pca.singular_values()[at]);
        EXPECT_LE(std::fabs(got * got - svd.s[at] * svd.s[at]), 1e-13L * svd.s[0] * svd.s[0]);
        Real mean = 0, variance = 0;
        for (std::int64_t row = 0; row < n; ++row) {
          Real score = 0;
          for (std::int64_t j = 0; j < p; ++j) score += rows.at(row, j) * real(pca.components()[i * p + j]);
          EXPECT_LE(std::fabs(score - real(scores.columns[at].at(row))), 1e-13L * svd.s[0]);
          mean += score;
        }
        mean /= static_cast<Real>(n);
        for (std::int64_t row = 0; row < n; ++row) {
          Real score = 0;
          for (std::int64_t j = 0; j < p; ++j) score += rows.at(row, j) * real(pca.components()[i * p + j]);
          variance += (score - mean) * (score - mean);
        }
        variance /= static_cast<Real>(n);
        EXPECT_LE(std::fabs(variance - real(pca.explained_variance()[at])), 1e-11L * total);
        EXPECT_LE(std::fabs(variance / total - real(pca.explained_variance_ratio()[at])), 1e-11L);
      }
    }
  }
}

TEST(PcaCentering, CentringIsKeptInTheTableAndInScores) {
  const Table table = table_of(latent("tall", 50, 4, 2, 0.3, 5.0).columns);
  const Pca pca = Pca::fit(table, {.n_components = 2, .centering = Centering::none});
  EXPECT_EQ(pca.to_table().find("mean"), -1);
  const Pca back = Pca::from_table(pca.to_table());
  EXPECT_EQ(back.centering(), Centering::none);
  const Table a = pca.transform(table), b = back.transform(table);
  for (std::int64_t row = 0; row < table.n_rows; ++row) EXPECT_EQ(a.columns[0].at(row), b.columns[0].at(row));
}

TEST(PcaCentering, WithoutCentringEveryWayFindsTheSame) {
  const Table table = table_of(latent("many columns", 700, 150, 20, 0.3, 1.0).columns);
  const PcaOptions options = {.n_components = 3, .centering = Centering::none};
  RunOptions little;
  little.threads = 2;               // each thread holds sums
  little.memory_limit = 1'200'000;  // less than a matrix of the smaller side takes
  const Pca formed = Pca::fit(table, {.centering = Centering::none}), iterated = Pca::fit(table, options, little);
  EXPECT_EQ(formed.report().method, "covariance");
  EXPECT_EQ(iterated.report().method, "block Lanczos");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(iterated.singular_values()[i] / formed.singular_values()[i], 1.0, 1e-9);
    EXPECT_NEAR(iterated.explained_variance()[i] / formed.explained_variance()[i], 1.0, 1e-6);
  }
}

TEST(PcaCentering, WithoutCentringSharesAndWhitenAreRefused) {
  const Table table = table_of(latent("tall", 50, 4, 2, 0.3, 5.0).columns);
  const auto option = [&](const PcaOptions& options) {
    try {
      Pca::fit(table, options);
    } catch (const Error& error) {
      return error.option();
    }
    return std::string("none");
  };
  EXPECT_EQ(option({.n_components = 0.5, .centering = Centering::none}), "n_components");
  EXPECT_EQ(option({.whiten = true, .centering = Centering::none}), "whiten");
  Table far = table_of({{1e300, 1e300, 1e300}, {1, 2, 4}});
  expect_error(ErrorCode::unsupported, "column 'a0' is constant at 1e+300",
               [&] { Pca::fit(far, {.centering = Centering::none, .scaling = Scaling::z}); });
}

}  // namespace
}  // namespace stope
