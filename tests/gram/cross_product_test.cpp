// Compares sums of outer products with long double. The bits must be the same whatever computes them.
#include "gram/cross_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/random.hpp"
#include "gram/vector_panel.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {
namespace {

std::vector<double> random_values(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back((2 * random.uniform() - 1) * std::pow(10.0, i % 7 - 3));
  return values;
}

TEST(TileProduct, SameBitsOnEveryInstructionSet) {
  TileProduct known[3] = {};
  const int n = tile_products(known);
  for (const std::int64_t depth : {0, 1, 2, 31, 32, 33, 255, 256}) {
    Buffer<double> a(depth * kTile + kTile), b(depth * kTile + kTile);
    const std::vector<double> values = random_values(2 * depth * kTile, 5);
    std::copy(values.begin(), values.begin() + depth * kTile, a.begin());
    std::copy(values.begin() + depth * kTile, values.end(), b.begin());
    std::vector<double> first(kTile * kTile), other(kTile * kTile);
    known[0](a.data(), b.data(), depth, first.data());
    for (std::int64_t i = 0; i < kTile; ++i) {
      for (std::int64_t j = 0; j < kTile; ++j) {
        double sum = 0.0;  // the definition: one sum in the order of the depth
        for (std::int64_t r = 0; r < depth; ++r) sum += a[r * kTile + i] * b[r * kTile + j];
        ASSERT_EQ(first[static_cast<std::size_t>(i * kTile + j)], sum);
      }
    }
    for (int level = 1; level < n; ++level) {
      known[level](a.data(), b.data(), depth, other.data());
      EXPECT_EQ(std::memcmp(first.data(), other.data(), sizeof(double) * first.size()), 0) << level;
    }
  }
}

TEST(CrossProduct, EqualsTheDefinition) {
  for (const std::int64_t depth : {1, 255, 256, 257, 4095, 4096, 4097, 9000}) {
    for (const std::int64_t width : {1, 15, 16, 17, 63, 64, 65, 130}) {
      SCOPED_TRACE(std::to_string(depth) + " x " + std::to_string(width));
      const std::int64_t other_width = 9;
      const std::vector<double> a = random_values(depth * width, 1), b = random_values(depth * other_width, 2);
      const VectorPanel left(a.data(), width, depth), right(b.data(), other_width, depth);
      std::vector<double> whole(static_cast<std::size_t>(width * other_width)),
          half(static_cast<std::size_t>(width * width));
      ThreadPool pool(2);
      cross_product(left, right, depth, pool, {}, whole.data());
      cross_product(left, left, depth, pool, {}, half.data());
      const auto column = [&](const std::vector<double>& of, std::int64_t j, std::int64_t r) {
        return of[static_cast<std::size_t>(j * depth + r)];
      };
      const auto expect = [&](double got, const std::vector<double>& x, std::int64_t i, const std::vector<double>& y,
                              std::int64_t j) {
        long double sum = 0, magnitude = 0;
        for (std::int64_t r = 0; r < depth; ++r) {
          const long double term =
              static_cast<long double>(column(x, i, r)) * static_cast<long double>(column(y, j, r));
          sum += term;
          magnitude += std::fabs(term);
        }
        const double bound =
            static_cast<double>(magnitude) * 0x1p-53 * static_cast<double>(256 + 16 + depth / 4096 + 2);
        EXPECT_LE(std::fabs(static_cast<double>(static_cast<long double>(got) - sum)), bound) << i << " " << j;
      };
      for (std::int64_t i = 0; i < width; i += 7) {
        for (std::int64_t j = 0; j < other_width; ++j)
          expect(whole[static_cast<std::size_t>(i * other_width + j)], a, i, b, j);
        for (std::int64_t j = 0; j < width; j += 5) {
          expect(half[static_cast<std::size_t>(i * width + j)], a, i, a, j);
          EXPECT_EQ(half[static_cast<std::size_t>(i * width + j)], half[static_cast<std::size_t>(j * width + i)]);
        }
      }
    }
  }
}

TEST(CrossProduct, SameBitsWithAnyThreadsAndInBlocks) {
  const std::int64_t depth = 20000, width = 70;
  const std::vector<double> a = random_values(depth * width, 3);
  const VectorPanel panel(a.data(), width, depth), same(a.data(), width, depth);
  std::vector<double> first(static_cast<std::size_t>(width * width)), other(first.size());
  ThreadPool one(1), five(5);
  cross_product(panel, panel, depth, one, {}, first.data());
  cross_product(panel, panel, depth, five, {}, other.data());
  EXPECT_EQ(first, other);
  cross_product(panel, same, depth, five, {}, other.data());
  EXPECT_EQ(first, other);
  std::fill(other.begin(), other.end(), 0.0);
  for_each_block(panel, same, depth, five, {}, [&](const ProductBlock& block) {
    for (std::int64_t i = 0; i < block.n_rows; ++i) {
      for (std::int64_t j = 0; j < block.n_columns; ++j) {
        other[static_cast<std::size_t>((block.row + i) * width + block.column + j)] = block.values[i * kBlock + j];
      }
    }
  });
  EXPECT_EQ(first, other);
}

}  // namespace
}  // namespace stope::gram
