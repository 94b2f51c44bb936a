// Fits of rows in memory have the bits of those of a table of the same values, for every shape and type. What cannot be
// fitted in place is said to be so.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/lsq.hpp"
#include "stope/pca.hpp"

namespace stope {
namespace {

// Rows with room behind each, as floats or doubles, their table, and a label.
template <class T>
struct Rows {
  std::int64_t n_rows, n_columns;
  std::vector<T> values;
  std::vector<double> label;

  Rows(std::int64_t n, std::int64_t p) : n_rows(n), n_columns(p), values(static_cast<std::size_t>(n * (p + 3)), T{7}) {
    Random random(static_cast<std::uint64_t>(n + 7 * p));
    for (std::int64_t r = 0; r < n; ++r) {
      double sum = random.uniform();
      for (std::int64_t c = 0; c < p; ++c) {
        at(r, c) = static_cast<T>(10.0 + random.uniform() * static_cast<double>(c % 9 + 1));
        sum += static_cast<double>(at(r, c)) * (c % 5 == 0 ? 1.0 : 0.1);
      }
      label.push_back(sum);
    }
  }
  T& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * (n_columns + 3) + column)];
  }
  ArrayView view() const {
    return {values.data(), sizeof(T) == 4 ? ElementType::float32 : ElementType::float64, n_rows, n_columns,
            n_columns + 3};
  }
  Table labels() const {
    Table table;
    table.n_rows = n_rows;
    for (const double factor : {1.0, -2.0}) {
      Buffer<double> values_of(n_rows);
      for (std::int64_t r = 0; r < n_rows; ++r) values_of[r] = factor * label[static_cast<std::size_t>(r)] + factor;
      table.columns.push_back(column_of(factor > 0 ? "y" : "z", values_of));
      table.columns.back().role = Role::label;
    }
    return table;
  }
  Table table() {
    Table table;
    table.n_rows = n_rows;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      Buffer<T> column(n_rows);
      for (std::int64_t r = 0; r < n_rows; ++r) column[r] = at(r, c);
      table.columns.push_back(column_of("x" + std::to_string(c), std::move(column)));
    }
    return table;
  }
  Table table_with_labels() {
    Table all = table();
    for (Column& column : labels().columns) all.columns.push_back(column);
    return all;
  }
};

const std::pair<std::int64_t, std::int64_t> kShapes[] = {
    {1, 1}, {3, 2}, {17, 5}, {64, 8}, {65, 50}, {600, 9}, {70, 257}, {20, 600}, {9, 4'097}, {1'100, 20}, {9'000, 33}};

void expect_same(const Pca& got, const Pca& wanted, const std::string& what) {
  ASSERT_EQ(got.n_components(), wanted.n_components()) << what;
  EXPECT_EQ(got.feature_names(), wanted.feature_names()) << what;
  EXPECT_EQ(got.mean(), wanted.mean()) << what;
  EXPECT_EQ(got.scale(), wanted.scale()) << what;
  EXPECT_EQ(got.explained_variance(), wanted.explained_variance()) << what;
  EXPECT_EQ(got.explained_variance_ratio(), wanted.explained_variance_ratio()) << what;
  EXPECT_EQ(got.noise_variance(), wanted.noise_variance()) << what;
  EXPECT_EQ(got.report().method, wanted.report().method) << what;
  for (std::int64_t i = 0; i < got.components().size(); ++i) {
    ASSERT_EQ(got.components()[i], wanted.components()[i]) << what << ", entry " << i;
  }
}

template <class T>
void check_pca(std::int64_t n, std::int64_t p) {
  Rows<T> rows(n, p);
  const Table table = rows.table();
  for (const Centering centering : {Centering::mean, Centering::none}) {
    for (const Scaling scaling : {Scaling::none, Scaling::z}) {
      for (const int threads : {1, 3}) {
        PcaOptions options;
        options.centering = centering;
        options.scaling = scaling;
        RunOptions run;
        run.threads = threads;
        const std::optional<Pca> got = Pca::fit_rows(rows.view(), {}, options, run);
        ASSERT_TRUE(got.has_value());
        expect_same(*got, Pca::fit(table, options), std::to_string(n) + " x " + std::to_string(p));
      }
    }
  }
}

TEST(FitRows, PcaHasTheBitsOfATable) {
  for (const auto& [n, p] : kShapes) {
    check_pca<float>(n, p);
    check_pca<double>(n, p);
  }
}

TEST(FitRows, BlockLanczosHasTheBitsOfATable) {
  Rows<double> rows(900, 700);
  const Table table = rows.table();
  PcaOptions options;
  options.n_components = 2;
  RunOptions run;
  run.memory_limit = 2'000'000;  // too little for the products
  const Pca wanted = Pca::fit(table, options, run);
  ASSERT_EQ(wanted.report().method, "block Lanczos");
  const std::optional<Pca> got = Pca::fit_rows(rows.view(), {}, options, run);
  ASSERT_TRUE(got.has_value());
  expect_same(*got, wanted, "block Lanczos");
}

template <class T>
void check_lsq(std::int64_t n, std::int64_t p) {
  Rows<T> rows(n, p);
  const Table table = rows.table_with_labels();
  for (const double alpha : {0.0, 1.0}) {
    for (const bool intercept : {false, true}) {
      LsqOptions options;
      options.alpha = alpha;
      options.fit_intercept = intercept;
      options.standard_errors = alpha == 0.0 && n > p + 1;
      const std::vector<LinearModel> wanted = LinearModel::fit_each(table, options);
      const auto got = LinearModel::fit_rows(rows.view(), {}, rows.labels(), options);
      ASSERT_TRUE(got.has_value());
      ASSERT_EQ(got->size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const LinearModel &a = (*got)[i], &b = wanted[i];
        EXPECT_EQ(a.feature_names(), b.feature_names());
        EXPECT_EQ(a.coefficients(), b.coefficients()) << n << " x " << p << ", alpha " << alpha;
        EXPECT_EQ(a.intercept(), b.intercept());
        EXPECT_EQ(a.standard_errors().size(), b.standard_errors().size());
        for (std::size_t j = 0; j < a.standard_errors().size(); ++j) {
          const double x = a.standard_errors()[j], y = b.standard_errors()[j];
          EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y)));
        }
        EXPECT_EQ(a.rank(), b.rank());
        EXPECT_TRUE(a.residual_sum_of_squares() == b.residual_sum_of_squares());
        EXPECT_EQ(a.report().method, b.report().method);
      }
    }
  }
}

TEST(FitRows, LinearModelsHaveTheBitsOfATable) {
  for (const auto& [n, p] : kShapes) {
    check_lsq<float>(n, p);
    check_lsq<double>(n, p);
  }
}

TEST(FitRows, ColumnsThatDependOnOneAnotherHaveTheBitsOfATable) {
  Rows<double> rows(400, 6);
  for (std::int64_t r = 0; r < 400; ++r) rows.at(r, 5) = rows.at(r, 0) + rows.at(r, 1);
  const auto got = LinearModel::fit_rows(rows.view(), {}, rows.labels(), {});
  ASSERT_TRUE(got.has_value());
  const std::vector<LinearModel> wanted = LinearModel::fit_each(rows.table_with_labels(), {});
  EXPECT_EQ(wanted[0].report().method, "qr");
  EXPECT_EQ((*got)[0].coefficients(), wanted[0].coefficients());
  EXPECT_EQ((*got)[0].rank(), 5);
}

TEST(FitRows, NamesOfColumnsAreKept) {
  Rows<double> rows(30, 2);
  EXPECT_EQ(Pca::fit_rows(rows.view(), {"a", "b"}, {})->feature_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Pca::fit_rows(rows.view(), {}, {})->feature_names(), (std::vector<std::string>{"x0", "x1"}));
}

TEST(FitRows, RefusesNamesThatRepeatOrAreTooFew) {
  Rows<double> rows(30, 2);
  for (const std::vector<std::string>& names : {std::vector<std::string>{"a"}, std::vector<std::string>{"a", "a"}}) {
    try {
      Pca::fit_rows(rows.view(), names, {});
      FAIL() << names.size();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    }
  }
  Table labels = rows.labels();
  labels.n_rows = 29;
  EXPECT_THROW(LinearModel::fit_rows(rows.view(), {}, labels, {}), Error);
}

TEST(FitRows, SaysWhatItCannotReadInPlace) {
  Rows<double> rows(30, 4);
  ArrayView by_columns{rows.values.data(), ElementType::float64, 30, 4, 1, 30};
  EXPECT_FALSE(Pca::fit_rows(by_columns, {}, {}).has_value());
  EXPECT_FALSE(LinearModel::fit_rows(by_columns, {}, rows.labels(), {}).has_value());
  const std::vector<std::int32_t> whole(120, 1);
  EXPECT_FALSE(Pca::fit_rows({whole.data(), ElementType::int32, 30, 4}, {}, {}).has_value());
  Table weighted = rows.labels();
  weighted.columns[1].role = Role::weight;
  EXPECT_FALSE(LinearModel::fit_rows(rows.view(), {}, weighted, {}).has_value());
  for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Rows<double> changed = rows;
    changed.at(17, 2) = wrong;
    EXPECT_FALSE(Pca::fit_rows(changed.view(), {}, {}).has_value());
    EXPECT_FALSE(LinearModel::fit_rows(changed.view(), {}, rows.labels(), {}).has_value());
  }
}

}  // namespace
}  // namespace stope
