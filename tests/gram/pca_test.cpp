// Compares PCA, by every method, with a singular value decomposition in long double, on tables of every shape.
#include "stope/pca.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "gram/pca_cases.hpp"
#include "gram/pca_plan.hpp"
#include "oracle/svd_oracle.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using oracle::Real;
using namespace pca_cases;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Case> cases() {
  std::vector<Case> all = {
      latent("tall", 300, 7, 3, 0.1, 0.0),
      latent("wide", 9, 130, 4, 0.1, 0.0),
      latent("square", 33, 33, 5, 0.3, 2.0),
      latent("far from zero", 500, 5, 2, 1e-3, 1e6),
      latent("rank deficient", 60, 12, 3, 0.0, 1.0),
      latent("one column", 40, 1, 1, 0.0, 3.0),
      latent("one row", 1, 5, 1, 0.0, 0.0),
      latent("two rows", 2, 6, 1, 0.2, 0.0),
      latent("more groups than one", 4500, 17, 4, 0.5, -3.0),
  };
  Case constant = latent("a constant column, a doubled one", 50, 6, 6, 0.1, 0.0);
  constant.columns[2].assign(50, 0.1);  // their sum is not 50 times 0.1
  constant.columns[4] = constant.columns[1];
  all.push_back(constant);
  Case same{"constant everywhere", std::vector<std::vector<double>>(4, std::vector<double>(20, 7.25))};
  all.push_back(same);
  Case huge = latent("huge", 40, 5, 3, 0.1, 0.0), tiny = huge;
  tiny.name = "tiny";
  for (auto& column : huge.columns) {
    for (double& v : column) v *= 1e150;
  }
  for (auto& column : tiny.columns) {
    for (double& v : column) v *= 1e-160;
  }
  all.push_back(huge);
  Case identity{"identity covariance", {}};
  for (int j = 0; j < 6; ++j) {
    std::vector<double> column(12, 0.0);
    column[static_cast<std::size_t>(2 * j)] = 1;
    column[static_cast<std::size_t>(2 * j + 1)] = -1;
    identity.columns.push_back(column);
  }
  all.push_back(identity);
  return all;
}

struct Expected {
  std::vector<Real> variances;
  std::vector<std::vector<Real>> components;
  Real total = 0;
};

Expected expected(const Case& c, Scaling scaling) {
  const auto n = static_cast<std::int64_t>(c.columns[0].size()), p = static_cast<std::int64_t>(c.columns.size());
  oracle::DenseMatrix matrix(n, p);
  for (std::int64_t j = 0; j < p; ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      matrix.at(i, j) = real(c.columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]);
  }
  oracle::centre(matrix, std::vector<Real>(static_cast<std::size_t>(n), 1));
  const Real degrees = static_cast<Real>(std::max<std::int64_t>(n - 1, 1));
  for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
    auto& column = matrix.columns[j];
    const auto [low, high] = std::minmax_element(c.columns[j].begin(), c.columns[j].end());
    if (*low == *high) column.assign(column.size(), 0);
    const Real deviation = std::sqrt(oracle::dot(column, column) / degrees);
    if (scaling == Scaling::z && deviation > 0) {
      for (Real& v : column) v /= deviation;
    }
  }
  const oracle::Svd svd = oracle::svd(matrix);
  Expected result;
  for (const Real s : svd.s) result.variances.push_back(s * s / degrees);
  for (const Real v : result.variances) result.total += v;
  result.components = svd.v;
  return result;
}

// Expects components to 1e-6 where the eigenvalue is apart from all others, otherwise the subspace of its cluster.
void expect_components(const Pca& pca, const Expected& want) {
  const auto k = static_cast<std::size_t>(pca.n_components());
  const auto p = static_cast<std::size_t>(pca.n_features());
  const auto& values = want.variances;
  std::size_t begin = 0;
  while (begin < k) {
    std::size_t end = begin + 1;
    while (end < values.size() && values[end - 1] - values[end] <= std::max(1e-6L * values[end - 1], 1e-9L * values[0]))
      ++end;
    if (values[begin] <= 1e-9L * values[0]) break;  // hardly any variance: any direction will do
    for (std::size_t i = begin; i < std::min(end, k); ++i) {
      std::vector<Real> rest(pca.components().begin() + static_cast<std::int64_t>(i * p),
                             pca.components().begin() + static_cast<std::int64_t>((i + 1) * p));
      for (std::size_t c = begin; c < end; ++c) {
        const Real part = oracle::dot(rest, want.components[c]);
        for (std::size_t j = 0; j < p; ++j) rest[j] -= part * want.components[c][j];
      }
      EXPECT_LE(std::sqrt(oracle::dot(rest, rest)), 1e-6L) << "component " << i;
    }
    begin = end;
  }
}

void expect_orthonormal_with_signs(const Pca& pca) {
  const std::int64_t p = pca.n_features();
  for (std::int64_t i = 0; i < pca.n_components(); ++i) {
    const double* const x = pca.components().data() + i * p;
    for (std::int64_t o = 0; o <= i; ++o) {
      const double* const y = pca.components().data() + o * p;
      double product = 0;
      for (std::int64_t j = 0; j < p; ++j) product += x[j] * y[j];
      EXPECT_NEAR(product, o == i ? 1 : 0, 1e-10) << i << " " << o;
    }
    const double* const largest =
        std::max_element(x, x + p, [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    if (*largest < 0) {  // only where another is as large
      EXPECT_TRUE(std::any_of(x, largest, [&](double v) { return v >= -*largest * (1 - 1e-9); })) << i;
    }
  }
}

void expect_equal(const Case& c, const Pca& pca, Scaling scaling) {
  const Expected want = expected(c, scaling);
  const double total = static_cast<double>(want.total);
  Real kept = 0;
  for (std::size_t i = 0; i < pca.explained_variance().size(); ++i) {
    const double value = pca.explained_variance()[i];
    EXPECT_NEAR(value, static_cast<double>(want.variances[i]), 1e-9 * total) << i;
    EXPECT_NEAR(pca.explained_variance_ratio()[i], total > 0 ? value / total : 0, 1e-9);
    const double degrees = std::max<double>(static_cast<double>(c.columns[0].size()) - 1, 1);
    EXPECT_NEAR(pca.singular_values()[i], std::sqrt(value) * std::sqrt(degrees), 1e-9 * std::sqrt(total * degrees));
    kept += want.variances[i];
  }
  const auto left = static_cast<Real>(want.variances.size()) - static_cast<Real>(pca.n_components());
  EXPECT_NEAR(pca.noise_variance(), left > 0 ? static_cast<double>((want.total - kept) / left) : 0, 1e-9 * total);
  expect_components(pca, want);
  expect_orthonormal_with_signs(pca);
}

TEST(Pca, EqualsTheDecomposition) {
  for (const Case& c : cases()) {
    for (const Scaling scaling : {Scaling::none, Scaling::z}) {
      SCOPED_TRACE(c.name + (scaling == Scaling::z ? ", z" : ""));
      const Table table = table_of(c.columns);
      const auto q = std::min(table.n_rows, static_cast<std::int64_t>(table.columns.size()));
      for (std::int64_t k : {std::int64_t{0}, std::int64_t{1}, (q + 1) / 2}) {
        PcaOptions options;
        options.n_components = static_cast<double>(k);
        options.scaling = scaling;
        const Pca pca = Pca::fit(table, options);
        EXPECT_EQ(pca.n_components(), k == 0 ? q : k);
        expect_equal(c, pca, scaling);
      }
    }
  }
}

TEST(Pca, BlockLanczosEqualsTheDecomposition) {
  for (const Case& c : {latent("tall", 700, 150, 20, 0.3, 1.0), latent("wide", 160, 400, 30, 0.1, 1e3)}) {
    SCOPED_TRACE(c.name);
    const Table table = table_of(c.columns);
    PcaOptions options;
    options.n_components = 5;
    RunOptions run;
    run.threads = 2;               // each thread holds sums
    run.memory_limit = 1'200'000;  // less than a matrix of the smaller side takes
    const Pca pca = Pca::fit(table, options, run);
    EXPECT_EQ(pca.report().method, "block Lanczos") << pca.report().method_reason;
    EXPECT_GT(pca.report().products, 0);
    expect_equal(c, pca, Scaling::none);
    options.n_components = 0.6;
    const Pca share = Pca::fit(table, options, run);
    const Pca all = Pca::fit(table, {});
    EXPECT_NE(all.report().method, "block Lanczos");
    std::int64_t n_wanted = 0;
    for (double sum = 0; sum <= 0.6; ++n_wanted)
      sum += all.explained_variance_ratio()[static_cast<std::size_t>(n_wanted)];
    EXPECT_EQ(share.n_components(), n_wanted);
  }
}

TEST(Pca, FewComponentsOfAFormedMatrix) {
  for (const Case& c : {latent("tall", 1000, 410, 30, 0.1, 1.0), latent("wide", 405, 900, 30, 0.1, -2.0)}) {
    if (effort() < 40 && c.name == "wide") continue;  // a sanitizer sees the same code
    SCOPED_TRACE(c.name);
    const Table table = table_of(c.columns);
    const Pca all = Pca::fit(table, {});
    PcaOptions options;
    options.n_components = 20;
    const Pca few = Pca::fit(table, options);
    EXPECT_NE(few.report().method, "block Lanczos");
    EXPECT_GT(few.report().iterations, 0);
    for (std::int64_t i = 0; i < 20; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_NEAR(few.explained_variance()[at], all.explained_variance()[at], 1e-11 * all.explained_variance()[0]);
      for (std::int64_t j = 0; j < few.n_features(); ++j) {
        ASSERT_NEAR(few.components()[i * few.n_features() + j], all.components()[i * few.n_features() + j], 1e-8) << i;
      }
    }
  }
}

TEST(Pca, ShareOfTheVariance) {
  const Case c = latent("shares", 200, 10, 10, 0.1, 0.0);
  const Table table = table_of(c.columns);
  const Pca all = Pca::fit(table, {});
  double sum = 0;
  for (std::int64_t k = 1; k < 10; ++k) {
    const double before = sum;
    sum += all.explained_variance_ratio()[static_cast<std::size_t>(k - 1)];
    PcaOptions options;
    options.n_components = 0.5 * (before + sum);
    EXPECT_EQ(Pca::fit(table, options).n_components(), k);
  }
}

TEST(Pca, ScoresAreProjections) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Table table = table_of(c.columns);
    table.columns.push_back(make_numeric("y", c.columns[0]));
    table.columns.back().role = Role::label;
    for (const bool whiten : {false, true}) {
      PcaOptions options;
      options.whiten = whiten;
      const Pca pca = Pca::fit(table, options);
      const Table scores = pca.transform(table);
      ASSERT_EQ(scores.columns.size(), static_cast<std::size_t>(pca.n_components()) + 1);
      EXPECT_EQ(scores.columns.back().name, "y");
      for (std::int64_t i = 0; i < pca.n_components(); ++i) {
        const double variance = pca.explained_variance()[static_cast<std::size_t>(i)];
        const double divisor = whiten ? std::max(std::sqrt(variance), 2.220446049250313e-16) : 1;
        for (std::int64_t row = 0; row < table.n_rows; row += 3) {
          Real sum = 0, magnitude = 0;
          for (std::size_t j = 0; j < c.columns.size(); ++j) {
            const Real term = (real(c.columns[j][static_cast<std::size_t>(row)]) - real(pca.mean()[j])) *
                              real(pca.components()[i * pca.n_features() + static_cast<std::int64_t>(j)]);
            sum += term;
            magnitude += std::fabs(term);
          }
          EXPECT_NEAR(scores.columns[static_cast<std::size_t>(i)].at(row), static_cast<double>(sum / real(divisor)),
                      1e-13 * static_cast<double>(magnitude / real(divisor)));
        }
      }
    }
  }
}

TEST(Pca, SameBitsWithAnyThreadsAndMemory) {
  for (const Case& c : {latent("tall", 30000, 20, 5, 0.2, 4.0), latent("wide", 30, 15000, 5, 0.2, 4.0)}) {
    RunOptions one, many;
    one.threads = 1;
    one.memory_limit = 8'000'000;
    many.threads = 5;
    const Table table = table_of(c.columns);
    const Pca a = Pca::fit(table, {}, one), b = Pca::fit(table, {}, many);
    EXPECT_EQ(a.explained_variance(), b.explained_variance());
    EXPECT_TRUE(std::equal(a.components().begin(), a.components().end(), b.components().begin()));
    const Table x = a.transform(table, one), y = b.transform(table, many);
    for (std::size_t i = 0; i < x.columns.size(); ++i) {
      for (std::int64_t row = 0; row < x.n_rows; ++row) ASSERT_EQ(x.columns[i].at(row), y.columns[i].at(row));
    }
  }
}

TEST(Pca, MissingValuesAsTheMean) {
  Case c = latent("missing", 80, 4, 2, 0.2, 1.0);
  const Case complete = c;
  c.columns[1][7] = c.columns[1][9] = c.columns[3][0] = kNaN;
  try {
    Pca::fit(table_of(c.columns), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data);
    EXPECT_NE(std::string(error.what()).find("column 'a1', row 7"), std::string::npos) << error.what();
  }
  PcaOptions options;
  options.missing = MissingValues::mean;
  const Pca pca = Pca::fit(table_of(c.columns), options);
  for (auto& column : c.columns) {
    Real sum = 0, n = 0;
    for (const double v : column) {
      if (!std::isnan(v)) sum += real(v), n += 1;
    }
    for (double& v : column) v = std::isnan(v) ? static_cast<double>(sum / n) : v;
  }
  expect_equal(c, pca, Scaling::none);
  Table other = table_of(complete.columns);
  EXPECT_EQ(pca.transform(other).n_rows, 80);
  std::get<Buffer<double>>(other.columns[2].data)[5] = kNaN;
  const Table scores = pca.transform(other);
  EXPECT_TRUE(std::isfinite(scores.columns[0].at(5)));
}

TEST(Pca, RefusesWhatItCannotTake) {
  const Case c = latent("plain", 20, 4, 2, 0.2, 1.0);
  const Table table = table_of(c.columns);
  const auto code_of = [](const Table& t, const PcaOptions& options, const RunOptions& run = {}) {
    try {
      Pca::fit(t, options, run);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  for (const double k : {-1.0, 1.5, 5.0, kNaN}) {
    PcaOptions options;
    options.n_components = k;
    EXPECT_EQ(code_of(table, options), ErrorCode::invalid_argument) << k;
  }
  Table nominal = table;
  nominal.columns.push_back(make_nominal("colour", std::vector<std::int32_t>(20, 0), {"red"}));
  EXPECT_EQ(code_of(nominal, {}), ErrorCode::unsupported);
  PcaOptions skip;
  skip.nominal = NominalFeatures::skip;
  EXPECT_EQ(Pca::fit(nominal, skip).n_features(), 4);
  Case infinite = c;
  infinite.columns[1][3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code_of(table_of(infinite.columns), {}), ErrorCode::invalid_data);
  Table empty = table.take({});
  EXPECT_EQ(code_of(empty, {}), ErrorCode::invalid_data);
  Table none;
  none.n_rows = 3;
  EXPECT_EQ(code_of(none, {}), ErrorCode::invalid_data);
  RunOptions small;
  small.memory_limit = 1000;
  EXPECT_EQ(code_of(table, {}, small), ErrorCode::out_of_memory);
  RunOptions cancelled;
  cancelled.cancel.cancel();
  EXPECT_EQ(code_of(table, {}, cancelled), ErrorCode::cancelled);
}

TEST(Pca, ComponentsAsATableAndBack) {
  const Case c = latent("plain", 30, 5, 2, 0.2, 1.0);
  const Table table = table_of(c.columns);
  PcaOptions options;
  options.n_components = 3;
  options.scaling = Scaling::z;
  const Pca pca = Pca::fit(table, options);
  const Pca back = Pca::from_table(pca.to_table());
  const Table a = pca.transform(table), b = back.transform(table);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::int64_t row = 0; row < 30; ++row) EXPECT_EQ(a.columns[i].at(row), b.columns[i].at(row));
  }
  EXPECT_EQ(back.explained_variance(), pca.explained_variance());
  EXPECT_EQ(back.noise_variance(), pca.noise_variance());
  Table lacking = pca.to_table();
  lacking.columns.erase(lacking.columns.begin() + 2);
  expect_error(ErrorCode::invalid_data, "no column 'mean'", [&] { Pca::from_table(lacking); });
  expect_error(ErrorCode::invalid_data, "no column 'kind'", [&] { Pca::from_table(table); });
  Table other = table;
  other.columns.pop_back();
  expect_error(ErrorCode::invalid_data, "the table has no column 'a4'", [&] { pca.transform(other); });
}

// Found by fuzz/model_fuzz.cpp: such a model was read, and what was then written could not be read.
TEST(Pca, TwoAttributesOfOneNameAreRefusedWhateverTheirCodes) {
  const Case c = latent("plain", 30, 5, 2, 0.2, 1.0);
  Table table = Pca::fit(table_of(c.columns), {.n_components = 2}).to_table();
  Column& column = table.columns[static_cast<std::size_t>(table.find("name"))];
  std::vector<std::string> names = column.values.names();
  names[1] = names[0];
  column.values = names;
  expect_error(ErrorCode::invalid_data, "the name of an earlier row", [&] { Pca::from_table(table); });
}

TEST(PcaPlan, ChoosesByShapeAndMemory) {
  const std::int64_t much = std::int64_t{8} << 30;
  const auto method = [&](std::int64_t n, std::int64_t p, std::int64_t k, std::int64_t budget) {
    return gram::plan_pca({n, p, k, false}, budget, 2).method;
  };
  EXPECT_EQ(method(10'000'000, 50, 50, much), gram::PcaMethod::covariance);
  EXPECT_EQ(method(500, 500'000, 10, much), gram::PcaMethod::outer);
  EXPECT_EQ(method(50'000, 20'000, 10, much),
            gram::PcaMethod::lanczos);  // 3.2 GB of covariances, 72 Tflop to decompose
  EXPECT_EQ(method(10'000, 10'000, 10, much), gram::PcaMethod::lanczos);
  EXPECT_EQ(method(500, 500'000, 10, 1'000'000'000), gram::PcaMethod::outer);
  EXPECT_EQ(method(100'000, 3'000, 5, 50'000'000), gram::PcaMethod::lanczos);
  expect_error(ErrorCode::out_of_memory, "needs 288000000 bytes, but the memory limit leaves 50000000",
               [&] { method(100'000, 3'000, 3'000, 50'000'000); });
}

}  // namespace
}  // namespace stope
