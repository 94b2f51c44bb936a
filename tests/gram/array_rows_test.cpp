// Scores and predictions of rows in memory have the bits of those of a table's rows, for every shape and type.
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

// Rows with room behind each, as floats or doubles, and their table.
template <class T>
struct Rows {
  std::int64_t n_rows, n_columns;
  std::vector<T> values;

  Rows(std::int64_t n, std::int64_t p, std::uint64_t seed)
      : n_rows(n), n_columns(p), values(static_cast<std::size_t>(n * (p + 3)), static_cast<T>(std::nan(""))) {
    Random random(seed);
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t c = 0; c < p; ++c)
        at(r, c) = static_cast<T>(1e3 + random.uniform() * static_cast<double>(c + 1));
    }
  }
  T& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * (n_columns + 3) + column)];
  }
  ArrayView view() const {
    return {values.data(), sizeof(T) == 4 ? ElementType::float32 : ElementType::float64, n_rows, n_columns,
            n_columns + 3};
  }
  Table table() {
    Table table;
    table.n_rows = n_rows;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      Buffer<T> column(n_rows);
      for (std::int64_t r = 0; r < n_rows; ++r) column[r] = at(r, c);
      table.columns.push_back({"x" + std::to_string(c), ValueType::real, Role::regular, std::move(column), {}});
    }
    return table;
  }
};

const std::pair<std::int64_t, std::int64_t> kShapes[] = {{1, 1},   {3, 2},    {17, 5},   {64, 8},    {65, 50},
                                                         {600, 9}, {70, 257}, {20, 600}, {9, 4'097}, {1'100, 20}};

template <class T>
void check_scores(std::int64_t n, std::int64_t p) {
  Rows<T> rows(n, p, static_cast<std::uint64_t>(n + p));
  Table table = rows.table();
  for (const double k : {1.0, 3.0, 4.0, 20.0}) {
    if (k > static_cast<double>(std::min(n, p))) continue;
    for (const bool whiten : {false, true}) {
      PcaOptions options;
      options.n_components = k;
      options.whiten = whiten;
      options.scaling = whiten ? Scaling::z : Scaling::none;
      const Pca pca = Pca::fit(table, options);
      const Table wanted = pca.transform(table);
      for (const int threads : {1, 3}) {
        RunOptions run;
        run.threads = threads;
        std::vector<double> scores(static_cast<std::size_t>(n * pca.n_components()));
        std::vector<float> narrow(scores.size());
        ASSERT_TRUE(pca.transform_rows(rows.view(), scores.data(), run));
        ASSERT_TRUE(pca.transform_rows(rows.view(), narrow.data(), run));
        for (std::size_t i = 0; i < scores.size(); ++i) {
          const auto row = static_cast<std::int64_t>(i) / pca.n_components();
          const auto at = i % static_cast<std::size_t>(pca.n_components());
          ASSERT_EQ(scores[i], wanted.columns[at].at(row))
              << n << " x " << p << ", " << k << " components, row " << row;
          ASSERT_EQ(narrow[i], static_cast<float>(scores[i]));
        }
      }
    }
  }
}

TEST(ArrayRows, ScoresAreThoseOfATable) {
  for (const auto& [n, p] : kShapes) {
    check_scores<double>(n, p);
    check_scores<float>(n, p);
  }
}

TEST(ArrayRows, PredictionsAreThoseOfATable) {
  for (const auto& [n, p] : kShapes) {
    Rows<double> rows(n, p, static_cast<std::uint64_t>(n * p));
    const Table table = rows.table();
    Table labelled = table;
    Random random(5);
    for (int label = 0; label < 5; ++label) {
      Buffer<double> target(n);
      for (double& v : target) v = random.uniform();
      labelled.columns.push_back({"y" + std::to_string(label), ValueType::real, Role::label, std::move(target), {}});
    }
    LsqOptions options;
    options.alpha = 1.0;
    const std::vector<LinearModel> models = LinearModel::fit_each(labelled, options);
    for (const std::size_t n_models : {1, 2, 5}) {
      std::vector<const LinearModel*> chosen;
      chosen.reserve(n_models);
      for (std::size_t i = 0; i < n_models; ++i) chosen.push_back(&models[i]);
      std::vector<double> got(static_cast<std::size_t>(n) * n_models);
      ASSERT_TRUE(LinearModel::predict_rows(chosen, rows.view(), got.data()));
      EXPECT_EQ(got, LinearModel::predict_each(chosen, table)) << n << " x " << p;
    }
  }
}

TEST(ArrayRows, LeaveOtherRowsToTheTable) {
  Rows<double> rows(200, 6, 3);
  const Pca pca = Pca::fit(rows.table(), {});
  std::vector<double> scores(200 * 6);
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Rows<double> changed = rows;
    changed.at(130, 2) = value;
    EXPECT_FALSE(pca.transform_rows(changed.view(), scores.data()));
  }
  ArrayView other = rows.view();
  other.column_stride = 2;
  other.n_rows = 90;
  other.row_stride = 18;
  EXPECT_FALSE(pca.transform_rows(other, scores.data()));
  other = rows.view();
  other.type = ElementType::int64;
  EXPECT_FALSE(pca.transform_rows(other, scores.data()));
  other = rows.view();
  other.n_columns = 5;
  try {
    pca.transform_rows(other, scores.data());
    FAIL() << "5 columns for 6 features";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("5 columns; the model has 6 features"), std::string::npos);
  }
}

}  // namespace
}  // namespace stope
