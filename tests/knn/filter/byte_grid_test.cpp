// Which tables are small whole numbers, and that their bytes lose nothing: squares of distances follow from the
// products of bytes exactly as the tensor filter takes them (docs/numerics/filter.md, "Bytes on matrix units").
#include "knn/filter/byte_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "knn/gpu/tensor/byte_columns.hpp"

namespace stope::knn {
namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<double> flat(const Rows& rows) {
  std::vector<double> all;
  for (const std::vector<double>& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

std::vector<Attribute> attributes_of(const Rows& rows) {
  std::vector<Attribute> attributes(rows.front().size());
  for (std::size_t c = 0; c < attributes.size(); ++c) {
    double low = rows.front()[c], high = low;
    for (const std::vector<double>& row : rows) low = std::min(low, row[c]), high = std::max(high, row[c]);
    attributes[c].range = high - low;
  }
  return attributes;
}

std::optional<ByteGrid> grid_of(const Rows& rows) {
  return find_byte_grid(flat(rows), attributes_of(rows));
}

void expect_grid(const Rows& rows, double step, const std::vector<double>& centres, int factor) {
  const std::optional<ByteGrid> grid = grid_of(rows);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->step, step);
  EXPECT_EQ(grid->centres, centres);
  EXPECT_EQ(grid->factor, factor);
  for (const std::vector<double>& row : rows) EXPECT_TRUE(grid->has(row.data()));
}

TEST(ByteGrid, UsualTablesHaveOneCentre) {
  expect_grid({{0, 255}, {128, 7}}, 1, {128, 128}, 1);
  expect_grid({{-128, 0}, {127, 3}}, 1, {0, 0}, 1);
  expect_grid({{0, 1}, {1, 0}}, 1, {0, 0}, 2);
  expect_grid({{-31, 0}, {31, 0}}, 1, {0, 0}, 2);
  expect_grid({{-32, 0}, {31, 0}}, 1, {0, 0}, 1);
  expect_grid({{0, 5}, {0, 5}}, 1, {0, 0}, 2);  // constant
  expect_grid({{-0.0, 2}, {0, 4}}, 1, {0, 0}, 2);
}

TEST(ByteGrid, OthersHaveOneEach) {
  expect_grid({{1e6, -300}, {1e6 + 255, -301}}, 1, {1e6 + 128, -300}, 1);
  expect_grid({{1e15, 0}, {1e15 + 20, 255}}, 1, {1e15 + 10, 128}, 1);
  expect_grid({{0.25, 7}, {1.25, 9}}, 1, {1.25, 8}, 2);  // whole numbers and a quarter
}

TEST(ByteGrid, StepsArePowersOfTwo) {
  expect_grid({{0.5}, {1.75}, {0}}, 0.25, {0}, 2);
  expect_grid({{0}, {0x1p40}, {0x1p33}}, 0x1p33, {128 * 0x1p33}, 1);
  expect_grid({{0}, {0x1p-200}, {-0x1p-205}}, 0x1p-205, {0}, 1);
  expect_grid({{4}, {8}, {200}}, 1, {128}, 1);  // odd centres would do, too
  expect_grid({{0}, {512}}, 512, {0}, 2);
  expect_grid({{0}, {256}, {4}}, 4, {0}, 1);
}

TEST(ByteGrid, OtherTablesHaveNone) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_FALSE(grid_of({{0}, {256}, {1}}));
  EXPECT_FALSE(grid_of({{0.1}, {0.2}}));
  EXPECT_FALSE(grid_of({{0}, {1}, {0x1p-8}}));
  EXPECT_FALSE(grid_of({{0}, {infinity}}));
  EXPECT_FALSE(grid_of({{nan}, {nan}}));
  EXPECT_FALSE(grid_of({{0}, {5e-324}}));
  EXPECT_FALSE(grid_of({{0x1p51}, {0x1p51 + 1}})) << "whole steps further are no doubles";
  EXPECT_FALSE(grid_of({{1e300}, {2e300}}));
  EXPECT_FALSE(grid_of({{1e9, 0x1p-40}, {1e9 + 1, 0x1p-39}})) << "one step for all";
  std::vector<Attribute> attributes(1);
  attributes[0].range = 1000;
  EXPECT_FALSE(find_byte_grid({0, 1, 2}, attributes)) << "rows that are not among these are farther apart";
  attributes[0].range = 100;
  EXPECT_EQ(find_byte_grid({0, 1, 2}, attributes)->factor, 1) << "twice their bytes have no room";
  attributes[0].range = 2;
  EXPECT_TRUE(find_byte_grid({0, 1, 2}, attributes));
  attributes[0].missing = true;
  EXPECT_FALSE(find_byte_grid({0, 1, 2}, attributes));
  attributes[0] = {.weight = 2.0, .range = 2.0};
  EXPECT_FALSE(find_byte_grid({0, 1, 2}, attributes));
  attributes[0] = {.range = 2.0, .nominal = true};
  EXPECT_FALSE(find_byte_grid({0, 1, 2}, attributes));
  EXPECT_TRUE(grid_of(Rows(3, std::vector<double>(kMostGridColumns, 1.0))));
  EXPECT_FALSE(grid_of(Rows(3, std::vector<double>(kMostGridColumns + 1, 1.0))));
}

TEST(ByteGrid, HasWhatIsAWholeStepWithin) {
  const std::optional<ByteGrid> bytes = grid_of({{0, 255}, {255, 0}}), small = grid_of({{1e6}, {1e6 + 2}});
  const auto has = [](const ByteGrid& grid, std::vector<double> row) { return grid.has(row.data()); };
  EXPECT_TRUE(has(*bytes, {0, 255}));
  for (const double value : {-1.0, 256.0, 0.5, 7 + 0x1p-45, 1e300, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    EXPECT_FALSE(has(*bytes, {3, value})) << value;
  }
  EXPECT_TRUE(has(*small, {1e6 + 1 + 63}));
  EXPECT_FALSE(has(*small, {1e6 + 1 + 64}));
  EXPECT_FALSE(has(*small, {std::nextafter(1e6, 0.0)}));
}

TEST(ByteGrid, ManyQueriesBesideIt) {
  const std::optional<ByteGrid> grid = grid_of({{0}, {255}});
  std::vector<double> queries(64, 5.0);
  EXPECT_FALSE(many_off_grid(*grid, queries.data(), 64, 1 << 20));
  queries[3] = 5.5;
  EXPECT_FALSE(many_off_grid(*grid, queries.data(), 64, 64 * 128));
  EXPECT_TRUE(many_off_grid(*grid, queries.data(), 64, 64 * 128 + 1));
  EXPECT_FALSE(many_off_grid(*grid, queries.data(), 0, 0));
}

// The scan's scores are factor <q,t> - ceil(factor |t|^2 / 2) + shift, and a float holds every one of them. The square
// of a distance is factor |q|^2 - 2 score, within the error that the columns state for a score.
TEST(ByteGrid, SquaresOfDistancesFollowFromWholeScores) {
  constexpr std::int64_t kShift = 6 * (1 << 20) + 1, kMostScore = kShift + (1 << 21);
  Random random(1);
  for (const auto& [least, most] : {std::pair{-128, 127}, std::pair{-31, 31}, std::pair{0, 1}}) {
    for (const std::size_t d : {1, 100, 128, 256}) {
      Rows rows(60, std::vector<double>(d));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        // The corners of the range, where scores are largest and smallest, and values in between.
        for (double& value : rows[r]) {
          const auto steps = static_cast<std::uint64_t>(most - least + 1);
          value = r == 0   ? least
                  : r == 1 ? most
                  : r == 2 ? (random.below(2) == 0 ? least : most)
                           : least + static_cast<double>(random.below(steps));
        }
      }
      const std::optional<ByteGrid> grid = grid_of(rows);
      ASSERT_TRUE(grid.has_value());
      const ImageColumns columns = make_byte_columns(*grid);
      ASSERT_EQ(columns.columns.size(), d);
      EXPECT_EQ(columns.byte_factor, grid->factor);
      EXPECT_EQ(columns.width, d <= 128 ? 128 : 256);
      const auto bytes = [&](const std::vector<double>& row, std::size_t c) {
        return std::llround((row[c] - columns.columns[c].centre) * columns.columns[c].scale);
      };
      for (const std::vector<double>& q : rows) {
        for (const std::vector<double>& t : rows) {
          std::int64_t product = 0, squares_q = 0, squares_t = 0;
          double squared = 0.0;
          for (std::size_t c = 0; c < d; ++c) {
            const std::int64_t x = bytes(q, c), y = bytes(t, c);
            ASSERT_TRUE(grid->factor * x >= -128 && grid->factor * x <= 127 && y >= -128 && y <= 127);
            product += grid->factor * x * y;
            squares_q += grid->factor * x * x;
            squares_t += grid->factor * y * y;
            squared += (q[c] - t[c]) * (q[c] - t[c]);
          }
          const std::int64_t score = product - (squares_t + 1) / 2 + kShift;
          ASSERT_GT(score, 0);
          ASSERT_LE(score, kMostScore);
          ASSERT_EQ(static_cast<std::int64_t>(static_cast<float>(score)), score);
          const double from_score = static_cast<double>(squares_q) - 2.0 * static_cast<double>(score - kShift);
          const double in_images = squared * columns.unit * columns.unit;
          ASSERT_LE(std::fabs(from_score - in_images), 2.0 * columns.product_error + 1e-9 * in_images);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stope::knn
