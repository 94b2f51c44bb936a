// Compares least squares and ridge with a singular value decomposition in long double.
#include "stope/lsq.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "oracle/svd_oracle.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using oracle::Real;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Real real(double v) {
  return static_cast<Real>(v);
}

struct Case {
  std::string name;
  std::vector<std::vector<double>> columns;
  std::vector<double> target, weights = {};
  double condition = 1e3;  // about the condition of the centred columns, each scaled to length 1
};

Case random_case(std::string name, std::int64_t n, std::int64_t p, double offset = 0.0, std::uint64_t seed = 1) {
  Random random(seed + static_cast<std::uint64_t>(n * 31 + p));
  const auto draw = [&] { return 2 * random.uniform() - 1; };
  Case c{std::move(name), {}, std::vector<double>(static_cast<std::size_t>(n), 2.5)};
  for (std::int64_t j = 0; j < p; ++j) {
    c.columns.emplace_back();
    const double slope = draw();
    for (std::int64_t i = 0; i < n; ++i) {
      c.columns.back().push_back(offset + draw());
      c.target[static_cast<std::size_t>(i)] += slope * c.columns.back().back();
    }
  }
  for (double& v : c.target) v += 0.1 * draw();
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> all = {random_case("tall", 200, 6),
                           random_case("one column", 30, 1),
                           random_case("as many as rows", 12, 12),
                           random_case("wide", 15, 40),
                           random_case("one row", 1, 3),
                           random_case("two rows", 2, 3),
                           random_case("far from zero", 300, 4, 1e6),
                           random_case("more than one group", 4200, 9, -2.0)};
  all[6].condition = 1e6;
  Case weighted = random_case("weighted", 80, 5);
  for (std::size_t i = 0; i < 80; ++i) weighted.weights.push_back(static_cast<double>(i % 4) * 0.5);
  all.push_back(weighted);
  Case wide_weighted = random_case("wide, weighted", 14, 30);
  for (std::size_t i = 0; i < 14; ++i) wide_weighted.weights.push_back(i == 3 ? 0.0 : 1.0 + static_cast<double>(i));
  all.push_back(wide_weighted);
  Case constant = random_case("a constant column", 60, 5);
  constant.columns[2].assign(60, 0.1);
  all.push_back(constant);
  Case repeated = random_case("a column twice, and doubled", 60, 6);
  repeated.columns[3] = repeated.columns[0];
  repeated.columns[4] = repeated.columns[0];
  for (double& v : repeated.columns[4]) v *= 2;
  all.push_back(repeated);
  Case dummies = random_case("one of three", 90, 5);
  for (std::size_t i = 0; i < 90; ++i) {
    for (std::size_t j = 0; j < 3; ++j) dummies.columns[j][i] = i % 3 == j ? 1 : 0;
  }
  all.push_back(dummies);
  Case scales = random_case("scales from 1e-12 to 1e12", 100, 5);
  for (std::size_t j = 0; j < 5; ++j) {
    for (double& v : scales.columns[j]) v *= std::pow(10.0, 6.0 * static_cast<double>(j) - 12);
  }
  all.push_back(scales);
  Case powers{"powers of x", {}, {}, {}, 1e9};
  for (int k = 1; k <= 10; ++k) {
    powers.columns.emplace_back();
    for (int i = 0; i < 120; ++i) powers.columns.back().push_back(std::pow(0.2 + i / 120.0, k));
  }
  for (int i = 0; i < 120; ++i) powers.target.push_back(std::sin(i / 7.0));
  all.push_back(powers);
  Case flat = random_case("a constant target", 25, 3);
  flat.target.assign(25, 0.3);
  all.push_back(flat);
  return all;
}

Table table_of(const Case& c) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(c.target.size());
  for (std::size_t j = 0; j < c.columns.size(); ++j) {
    table.columns.push_back(make_numeric("a" + std::to_string(j), c.columns[j]));
  }
  table.columns.push_back(make_numeric("y", c.target));
  table.columns.back().role = Role::label;
  if (!c.weights.empty()) {
    table.columns.push_back(make_numeric("w", c.weights));
    table.columns.back().role = Role::weight;
  }
  return table;
}

oracle::LinearFit expected(const Case& c, double alpha, bool intercept) {
  const std::size_t n = c.target.size();
  oracle::DenseMatrix x(static_cast<std::int64_t>(n), static_cast<std::int64_t>(c.columns.size()));
  std::vector<Real> y, weights;
  for (std::size_t i = 0; i < n; ++i) {
    y.push_back(real(c.target[i]));
    weights.push_back(c.weights.empty() ? 1 : real(c.weights[i]));
    for (std::size_t j = 0; j < c.columns.size(); ++j) {
      x.at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)) = real(c.columns[j][i]);
    }
  }
  return oracle::least_squares(x, y, weights, real(alpha), intercept, c.name.starts_with("scales") ? 1e-30L : 1e-16L);
}

void expect_equal(const Case& c, const LinearModel& model, const oracle::LinearFit& want, double tolerance) {
  const std::size_t n = c.target.size();
  Real scale = 0, spread = 0, mean = 0;
  for (const double v : c.target) mean += real(v) / static_cast<Real>(n);
  for (const double v : c.target) spread = std::max(spread, std::fabs(real(v)));
  for (std::size_t j = 0; j < c.columns.size(); ++j) {
    // Each coefficient is measured in units of what its column contributes.
    Real size = 0;
    for (const double v : c.columns[j]) size = std::max(size, std::fabs(real(v) - real(c.columns[j][0])));
    scale = std::max(scale, size * std::fabs(want.coefficients[j]));
  }
  scale = std::max(scale, spread);
  for (std::size_t j = 0; j < c.columns.size(); ++j) {
    Real size = 0;
    for (const double v : c.columns[j]) size = std::max(size, std::fabs(real(v) - real(c.columns[j][0])));
    const Real off = std::fabs(real(model.coefficients()[j]) - want.coefficients[j]) * size;
    EXPECT_LE(off, real(tolerance) * scale)
        << j << ": " << model.coefficients()[j] << " instead of " << static_cast<double>(want.coefficients[j]);
  }
  Real at_means = 0;
  for (std::size_t j = 0; j < c.columns.size(); ++j)
    at_means += std::fabs(real(c.columns[j][0]) * want.coefficients[j]);
  EXPECT_LE(std::fabs(real(model.intercept()) - want.intercept),
            real(tolerance) * (scale + at_means + std::fabs(mean)));
  EXPECT_LE(std::fabs(real(model.residual_sum_of_squares()) - want.rss),
            real(tolerance) * (want.rss + scale * scale * static_cast<Real>(n)));
}

TEST(Lsq, EqualsTheDecomposition) {
  for (const Case& c : cases()) {
    for (const double alpha : {0.0, 1e-6, 0.7, 50.0}) {
      for (const bool intercept : {true, false}) {
        SCOPED_TRACE(c.name + ", alpha " + std::to_string(alpha) + (intercept ? "" : ", no intercept"));
        LsqOptions options;
        options.alpha = alpha;
        options.fit_intercept = intercept;
        const LinearModel model = LinearModel::fit(table_of(c), options);
        const oracle::LinearFit want = expected(c, alpha, intercept);
        // Without an intercept the offset makes the columns of "far from zero" dependent, more so the farther they are.
        const double condition = c.condition * (c.name.starts_with("far") ? 1e4 : 1);
        // Over dependent columns, rounding leaves an error that a small ridge divides.
        const bool divided = alpha > 0.0 && alpha < 1e-3 && want.rank < static_cast<std::int64_t>(c.columns.size());
        expect_equal(c, model, want, divided ? 1e-15 / alpha : 1e-14 * condition);
        if (alpha == 0.0) {
          EXPECT_EQ(model.rank(), want.rank);
        }
      }
    }
  }
}

TEST(Lsq, LsqrFindsTheSame) {
  for (Case c :
       {random_case("tall", 500, 60), random_case("wide", 50, 200), random_case("far from zero", 400, 50, 1e5)}) {
    for (const double alpha : {0.0, 0.3}) {
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(c.name + ", alpha " + std::to_string(alpha));
        c.weights.clear();
        for (std::size_t i = 0; i < c.target.size() && weighted; ++i)
          c.weights.push_back(0.5 + static_cast<double>(i % 3));
        LsqOptions options;
        options.alpha = alpha;
        options.tolerance = 1e-13;
        RunOptions run;
        run.threads = 2;
        run.memory_limit = 600'000;
        const LinearModel model = LinearModel::fit(table_of(c), options, run);
        EXPECT_EQ(model.report().method, "lsqr") << model.report().method_reason;
        expect_equal(c, model, expected(c, alpha, true), 1e-9);
      }
    }
  }
}

TEST(Lsq, StandardErrors) {
  for (const Case& c : cases()) {
    if (c.columns.size() + 1 >= c.target.size()) continue;
    for (const bool intercept : {true, false}) {
      SCOPED_TRACE(c.name + (intercept ? "" : ", no intercept"));
      LsqOptions options;
      options.standard_errors = true;
      options.fit_intercept = intercept;
      const LinearModel model = LinearModel::fit(table_of(c), options);
      const oracle::LinearFit want = expected(c, 0.0, intercept);
      ASSERT_EQ(model.standard_errors().size(), c.columns.size());
      for (std::size_t j = 0; j < c.columns.size(); ++j) {
        if (want.rank < static_cast<std::int64_t>(c.columns.size())) {
          EXPECT_TRUE(std::isnan(model.standard_errors()[j]));
          continue;
        }
        const auto error = static_cast<double>(want.standard_errors[j]);
        EXPECT_NEAR(model.standard_errors()[j], error, 1e-6 * error + 1e-15) << j;
      }
      if (want.rank == static_cast<std::int64_t>(c.columns.size()) && intercept) {
        const auto error = static_cast<double>(want.intercept_standard_error);
        EXPECT_NEAR(model.intercept_standard_error(), error, 1e-6 * error + 1e-15);
      }
    }
  }
}

TEST(Lsq, SameBitsWithAnyThreads) {
  for (const Case& c : {random_case("tall", 30000, 20), random_case("wide", 40, 15000)}) {
    RunOptions one, many;
    one.threads = 1;
    many.threads = 5;
    const LinearModel a = LinearModel::fit(table_of(c), {}, one), b = LinearModel::fit(table_of(c), {}, many);
    EXPECT_EQ(a.coefficients(), b.coefficients());
    EXPECT_EQ(a.intercept(), b.intercept());
    EXPECT_EQ(a.predict(table_of(c), one), b.predict(table_of(c), many));
  }
}

TEST(Lsq, PredictsAndTravelsAsATable) {
  Case c = random_case("plain", 50, 4, 3.0);
  const Table table = table_of(c);
  LsqOptions options;
  options.standard_errors = true;
  const LinearModel model = LinearModel::fit(table, options);
  const LinearModel back = LinearModel::from_table(model.to_table());
  EXPECT_EQ(model.predict(table), back.predict(table));
  const std::vector<double> predictions = model.predict(table);
  double rss = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    Real sum = real(model.intercept());
    for (std::size_t j = 0; j < 4; ++j) sum += real(c.columns[j][i]) * real(model.coefficients()[j]);
    EXPECT_NEAR(predictions[i], static_cast<double>(sum), 1e-13);
    rss += std::pow(c.target[i] - predictions[i], 2);
  }
  EXPECT_NEAR(rss, model.residual_sum_of_squares(), 1e-12);
  EXPECT_GT(model.r2(), 0.9);
  expect_error(ErrorCode::invalid_data, "no column 'kind'", [&] { LinearModel::from_table(table); });
  Table lacking = table;
  lacking.columns.erase(lacking.columns.begin());
  expect_error(ErrorCode::invalid_data, "the table has no column 'a0'", [&] { model.predict(lacking); });
}

TEST(Lsq, LabelsTogetherHaveTheBitsOfEachAlone) {
  for (const Case& c : {random_case("tall", 4200, 9, 3.0), random_case("wide", 15, 40), random_case("one row", 1, 3)}) {
    const auto n = static_cast<std::int64_t>(c.target.size());
    Table table;
    table.n_rows = n;
    for (std::size_t j = 0; j < c.columns.size(); ++j) {
      table.columns.push_back(make_numeric("x" + std::to_string(j), c.columns[j]));
    }
    for (int i = 0; i < 18; ++i) {  // more than one tile of predictions
      std::vector<double> target = c.target;
      for (double& v : target) v = i == 3 ? 2.5 : std::ldexp(v, 40 * (i % 3)) + i;
      table.columns.push_back(make_numeric("y" + std::to_string(i), target));
      table.columns.back().role = Role::label;
    }
    for (const double alpha : {0.0, 0.5}) {
      for (const RunOptions& run : {RunOptions{.threads = 1}, RunOptions{.threads = 3}}) {
        const LsqOptions options{.alpha = alpha};
        const std::vector<LinearModel> models = LinearModel::fit_each(table, options, run);
        ASSERT_EQ(models.size(), 18U) << c.name;
        std::vector<const LinearModel*> all;
        for (const LinearModel& model : models) all.push_back(&model);
        const std::vector<double> together = LinearModel::predict_each(all, table, run);
        for (std::size_t i = 0; i < models.size(); ++i) {
          Table alone = table;
          alone.columns.resize(c.columns.size());
          alone.columns.push_back(table.columns[c.columns.size() + i]);
          const LinearModel model = LinearModel::fit(alone, options, run);
          EXPECT_EQ(models[i].coefficients(), model.coefficients()) << c.name;
          EXPECT_EQ(models[i].intercept(), model.intercept()) << c.name;
          EXPECT_EQ(models[i].rank(), model.rank()) << c.name;
          EXPECT_EQ(models[i].residual_sum_of_squares(), model.residual_sum_of_squares()) << c.name;
          const std::vector<double> predictions = model.predict(table, run);
          for (std::size_t row = 0; row < predictions.size(); ++row) {
            ASSERT_EQ(together[row * models.size() + i], predictions[row]) << c.name;
          }
        }
      }
    }
  }
}

TEST(Lsq, RefusesToPredictWithModelsThatDiffer) {
  const Case c = random_case("tall", 30, 3);
  Table table;
  table.n_rows = 30;
  for (std::size_t j = 0; j < 3; ++j) table.columns.push_back(make_numeric("x" + std::to_string(j), c.columns[j]));
  table.columns.push_back(make_numeric("y", c.target));
  table.columns.back().role = Role::label;
  const LinearModel model = LinearModel::fit(table, {});
  table.columns[2].role = Role::ignore;
  const LinearModel other = LinearModel::fit(table, {});
  const auto refused = [&](const std::vector<const LinearModel*>& models) {
    try {
      LinearModel::predict_each(models, table);
      return false;
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
  };
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({&model, &other}));
  table.columns[3].role = Role::regular;
  expect_error(ErrorCode::invalid_argument, "no target: a column of role label is needed",
               [&] { LinearModel::fit_each(table, {}); });
}

TEST(Lsq, MissingValues) {
  Case c = random_case("plain", 40, 3, 1.0);
  c.columns[1][5] = kNaN;
  const auto message = [](const Case& bad, const LsqOptions& options) -> std::string {
    try {
      LinearModel::fit(table_of(bad), options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(c, {}).find("column 'a1', row 5"), std::string::npos);
  LsqOptions mean;
  mean.missing = MissingValues::mean;
  const LinearModel model = LinearModel::fit(table_of(c), mean);
  LsqOptions origin = mean;
  origin.fit_intercept = false;
  const LinearModel through_origin = LinearModel::fit(table_of(c), origin);
  Case filled = c;
  Real sum = 0;
  for (std::size_t i = 0; i < 40; ++i) sum += i == 5 ? 0 : real(c.columns[1][i]);
  filled.columns[1][5] = static_cast<double>(sum / 39);
  expect_equal(filled, model, expected(filled, 0.0, true), 1e-12);
  expect_equal(filled, through_origin, expected(filled, 0.0, false), 1e-12);
  EXPECT_NEAR(model.predict(table_of(c))[5], model.predict(table_of(filled))[5], 1e-13);
  c.weights.assign(40, 1.0);
  c.weights[5] = 0.0;  // then no row that counts lacks a value
  c.target[5] = kNaN;
  const LinearModel without = LinearModel::fit(table_of(c), {});
  Case rest = c;
  for (auto& column : rest.columns) column.erase(column.begin() + 5);
  rest.target.erase(rest.target.begin() + 5);
  rest.weights.clear();
  expect_equal(rest, without, expected(rest, 0.0, true), 1e-12);
  c.weights[5] = 1.0;
  EXPECT_NE(message(c, mean).find("column 'y', row 5"), std::string::npos);
}

TEST(Lsq, RefusesWhatItCannotTake) {
  const Case c = random_case("plain", 20, 3);
  const auto code_of = [](const Table& table, const LsqOptions& options, const RunOptions& run = {}) {
    try {
      LinearModel::fit(table, options, run);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  LsqOptions negative, errors;
  negative.alpha = -1;
  EXPECT_EQ(code_of(table_of(c), negative), ErrorCode::invalid_argument);
  negative.alpha = kNaN;
  EXPECT_EQ(code_of(table_of(c), negative), ErrorCode::invalid_argument);
  errors.standard_errors = true;
  errors.alpha = 1;
  EXPECT_EQ(code_of(table_of(c), errors), ErrorCode::invalid_argument);
  errors.alpha = 0;
  EXPECT_EQ(code_of(table_of(random_case("wide", 4, 4)), errors), ErrorCode::invalid_argument);
  Table no_target = table_of(c);
  no_target.columns.back().role = Role::regular;
  EXPECT_EQ(code_of(no_target, {}), ErrorCode::invalid_argument);
  Case weights = c;
  weights.weights.assign(20, 0.0);
  EXPECT_EQ(code_of(table_of(weights), {}), ErrorCode::invalid_argument);
  weights.weights.assign(20, -1.0);
  EXPECT_EQ(code_of(table_of(weights), {}), ErrorCode::invalid_data);
  LsqOptions few;
  few.max_iterations = 2;
  few.tolerance = 1e-14;
  RunOptions little;
  little.threads = 1;
  little.memory_limit = 600'000;
  EXPECT_EQ(code_of(table_of(random_case("tall", 300, 60)), few, little), ErrorCode::unsupported);
  RunOptions nothing;
  nothing.memory_limit = 100;
  EXPECT_EQ(code_of(table_of(c), {}, nothing), ErrorCode::out_of_memory);
}

TEST(Lsq, ATargetOfTextsIsRefusedAndOneOfMostlyNumbersNamesTheOptionThatReadsIt) {
  const auto option_of = [](const std::vector<std::string>& values) {
    Table table;
    table.n_rows = 3;
    table.columns = {make_numeric("x", {1.0, 2.0, 3.0}), make_nominal("y", {0, 1, 2}, values)};
    table.columns[1].role = Role::label;
    try {
      LinearModel::fit(table, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      return error.option();
    }
    return std::string("no error");
  };
  EXPECT_EQ(option_of({"1", "2.5", "n/a"}), "numeric");
  EXPECT_EQ(option_of({"1", "two", "three"}), "");
}

}  // namespace
}  // namespace stope
