// Image columns against the measure: what the products of two rows' columns and their own squares add up to.
#include "knn/gpu/tensor/image_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "knn/fitted.hpp"
#include "stope/knn.hpp"

namespace stope::knn {
namespace {

using cuda_abi::ImageColumn;
using cuda_abi::ImagePart;

// Numbers and nominal values; the second of each may be missing. "many" has more values than there are columns for
// them.
Table mixed() {
  constexpr int kRows = 40;
  Random random(1);
  const double nan = std::nan("");
  std::vector<double> x, gaps;
  std::vector<std::int32_t> few, few_gaps, many;
  std::vector<std::string> names;
  for (int row = 0; row < kRows; ++row) {
    x.push_back(random.uniform());
    gaps.push_back(random.below(4) == 0 ? nan : random.uniform());
    few.push_back(static_cast<std::int32_t>(random.below(3)));
    few_gaps.push_back(static_cast<std::int32_t>(random.below(3)) - 1);
    many.push_back(static_cast<std::int32_t>(random.below(200)));
  }
  for (int value = 0; value < 200; ++value) names.push_back("v" + std::to_string(value));
  Table table;
  table.n_rows = kRows;
  table.columns = {make_numeric("x", x), make_nominal("few", few, {"a", "b", "c"}), make_numeric("gaps", gaps),
                   make_nominal("few gaps", few_gaps, {"a", "b"}), make_nominal("many", many, names)};
  return table;
}

double value_of(const ImageColumn& column, ImagePart part, double factor, const double* row) {
  const double value = row[column.source], number = std::isnan(value) ? 0.0 : (value - column.centre) * column.scale;
  switch (part) {
    case ImagePart::zero: return 0.0;
    case ImagePart::constant: return factor;
    case ImagePart::number: return number;
    case ImagePart::square_high: return -0.5 * number * number;
    case ImagePart::square_low: return 0.0;
    case ImagePart::present: return std::isnan(value) ? 0.0 : factor;
    case ImagePart::value: break;
  }
  return std::fmod(value, column.n_buckets) == column.value ? factor : 0.0;
}

// The sum over the numbers that are not masked.
double square_of(const ImageColumns& images, const double* row) {
  double sum = 0.0;
  for (const ImageColumn& column : images.columns) {
    const bool counts = column.query == ImagePart::number && column.masked == 0;
    if (counts) sum += std::pow(value_of(column, ImagePart::number, 1.0, row), 2);
  }
  return sum;
}

TEST(ImageColumns, GiveTheSquareOfTheDistance) {
  KnnOptions options;
  options.metric.name = "heom";
  options.feature_weights = {1.0, 0.5, 2.0, 1.5, 0.25};
  const Table table = mixed();
  const Fitted fitted(table, options, {});
  const ImageMap map(fitted, *fitted.kernel().filter_form());
  const ImageColumns images = make_image_columns(map, fitted.attributes(), false);
  const double weight = images.unit * images.unit;  // of a mismatch in an attribute of weight 1
  EXPECT_NEAR(images.nominal, weight * (0.5 + 2.0 + 1.5 + 0.25), 1e-12 * images.nominal);
  EXPECT_NEAR(images.hashed, weight * 0.25, 1e-12 * images.hashed);
  EXPECT_TRUE(images.masks);
  EXPECT_GE(images.width, std::ssize(images.columns));
  EXPECT_EQ(images.width % 32, 0);
  const KnnIndex index = KnnIndex::fit(table, options);
  const Neighbors all = index.kneighbors(table, {.n_neighbors = table.n_rows});
  for (std::int64_t q = 0; q < table.n_rows; ++q) {
    for (std::int64_t i = 0; i < table.n_rows; ++i) {
      const double* const query = fitted.rows() + q * fitted.width();
      const double* const train =
          fitted.rows() + all.indices[static_cast<std::size_t>(q * table.n_rows + i)] * fitted.width();
      double score = -0.5 * square_of(images, train);
      for (const ImageColumn& column : images.columns) {
        score += value_of(column, column.query, static_cast<double>(column.query_factor), query) *
                 value_of(column, column.train, static_cast<double>(column.train_factor), train);
      }
      const double found = images.constant + square_of(images, query) - 2.0 * score;
      const double expected = std::pow(all.distances[static_cast<std::size_t>(q * table.n_rows + i)] * images.unit, 2);
      const double error = 2.0 * images.product_error + 1e-9;
      ASSERT_LE(found, expected + error) << q << ", " << i;
      ASSERT_GE(found, expected - images.hashed - error) << q << ", " << i;
    }
  }
}

// Three columns more hold the start of a score, unless the rows would become wider for them.
TEST(ImageColumns, HaveTheNextWidthOfAPanel) {
  struct Shape {
    std::int64_t n_numbers, width, start_column;
  };
  for (const Shape& shape :
       {Shape{1, 32, 1}, Shape{29, 32, 29}, Shape{30, 32, -1}, Shape{32, 32, -1}, Shape{33, 64, 33}, Shape{61, 64, 61},
        Shape{62, 64, -1}, Shape{64, 64, -1}, Shape{65, 96, 65}, Shape{93, 96, 93}, Shape{94, 96, -1},
        Shape{96, 96, -1}, Shape{97, 128, 97}, Shape{126, 128, -1}, Shape{129, 192, 129}, Shape{191, 256, 191}}) {
    Table table;
    table.n_rows = 2;
    for (std::int64_t c = 0; c < shape.n_numbers; ++c) {
      table.columns.push_back(make_numeric("x" + std::to_string(c), {0.0, 1.0}));
    }
    const Fitted fitted(table, {}, {});
    const ImageMap map(fitted, *fitted.kernel().filter_form());
    const ImageColumns images = make_image_columns(map, fitted.attributes(), false);
    EXPECT_EQ(images.width, shape.width) << shape.n_numbers;
    EXPECT_EQ(images.start_column, shape.start_column) << shape.n_numbers;
  }
}

}  // namespace
}  // namespace stope::knn
