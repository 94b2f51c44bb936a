// Compares sums of outer products with double-double sums. The bits must be the same whatever computes them, and parts
// of the rows must join to the bits of the whole.
#include "gram/cross_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.hpp"
#include "effort.hpp"
#include "gram/shape.hpp"
#include "gram/vector_panel.hpp"
#include "oracle/double_double.hpp"
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
  TileProducts known[3] = {};
  const int n = tile_products(known);
  for (const std::int64_t depth : {0, 1, 2, 31, 32, 33, 255, 256}) {
    Buffer<double> a(depth * kTile + kTile), b(depth * kTile + kTile);
    const std::vector<double> values = random_values(2 * depth * kTile, 5);
    std::copy(values.begin(), values.begin() + depth * kTile, a.begin());
    std::copy(values.begin() + depth * kTile, values.end(), b.begin());
    std::vector<double> first(kTile * kTile), other(kTile * kTile);
    known[0].of_tiles(a.data(), b.data(), depth, {}, first.data(), kTile);
    for (std::int64_t i = 0; i < kTile; ++i) {
      for (std::int64_t j = 0; j < kTile; ++j) {
        double sum = 0.0;  // the definition: one chain of fused multiply-adds in the order of the depth
        for (std::int64_t r = 0; r < depth; ++r) sum = std::fma(a[r * kTile + i], b[r * kTile + j], sum);
        ASSERT_EQ(first[static_cast<std::size_t>(i * kTile + j)], sum);
      }
    }
    for (int level = 1; level < n; ++level) {
      std::fill(other.begin(), other.end(), 0.0);
      known[level].of_tiles(a.data(), b.data(), depth, {}, other.data(), kTile);
      EXPECT_EQ(std::memcmp(first.data(), other.data(), sizeof(double) * first.size()), 0) << level;
    }
  }
}

// Some number: of usual size, of any size, close to another one's negative, or not finite.
double any_number(Random& random, double near) {
  const double sign = random.below(2) == 0 ? 1.0 : -1.0, mantissa = 1.0 + random.uniform();
  switch (random.below(8)) {
    case 0: return sign * std::ldexp(mantissa, static_cast<int>(random.below(2100)) - 1075);
    case 1: return -near;
    case 2: return -near * (1.0 + std::ldexp(sign, -static_cast<int>(random.below(53))));
    case 3: return sign * std::ldexp(mantissa, static_cast<int>(random.below(240)) - 120);
    case 4: return sign * std::ldexp(1.0 + std::ldexp(1.0, -static_cast<int>(random.below(53))), 3);
    case 5: return random.below(40) == 0 ? sign * std::numeric_limits<double>::infinity() : 0.0 * sign;
    default: return sign * mantissa;
  }
}

// A tile of depth 2 computes a b + c, where the first row leaves c. It is rounded once on every instruction set.
TEST(TileProduct, RoundsOnceWhateverTheNumbers) {
  TileProducts known[3] = {};
  const int n = tile_products(known);
  Random random(50);
  for (std::int64_t round = 0; round < repeated<std::int64_t>(4000, 400); ++round) {
    Buffer<double> a(2 * kTile), b(2 * kTile);
    for (std::int64_t i = 0; i < kTile; ++i) {
      b[i] = 1.0;
      a[kTile + i] = any_number(random, 1.0);
      b[kTile + i] = any_number(random, a[kTile + i]);
      a[i] = any_number(random, a[kTile + i] * b[kTile + i]);
    }
    for (int level = 0; level < n; ++level) {
      std::vector<double> got(kTile * kTile);
      known[level].of_tiles(a.data(), b.data(), 2, {}, got.data(), kTile);
      for (std::int64_t i = 0; i < kTile; ++i) {
        for (std::int64_t j = 0; j < kTile; ++j) {
          const double wanted = std::fma(a[kTile + i], b[kTile + j], std::fma(a[i], 1.0, 0.0)) + 0.0;
          const double found = got[static_cast<std::size_t>(i * kTile + j)];
          if (std::isnan(wanted)) {
            ASSERT_TRUE(std::isnan(found)) << level;
          } else {
            ASSERT_EQ(found, wanted) << level << ": " << a[kTile + i] << " * " << b[kTile + j] << " + " << a[i];
          }
        }
      }
    }
  }
}

// Parts of a tile have the entries that are asked for, added to what is there, and nothing beyond the tile.
TEST(TileProduct, ComputesPartsOfTiles) {
  constexpr std::int64_t kDepth = 37, kStride = kTile + 3;
  TileProducts known[3] = {};
  const int n = tile_products(known);
  const std::vector<double> values = random_values(2 * kDepth * kTile, 6);
  Buffer<double> a(kDepth * kTile), b(kDepth * kTile);
  std::copy_n(values.begin(), a.size(), a.begin());
  std::copy_n(values.begin() + a.size(), b.size(), b.begin());
  std::vector<double> whole(kTile * kTile), part(kTile * kStride);
  known[0].of_tiles(a.data(), b.data(), kDepth, {}, whole.data(), kTile);
  for (int level = 0; level < n; ++level) {
    for (std::int64_t n_rows = 1; n_rows <= kTile; ++n_rows) {
      for (std::int64_t n_columns = 1; n_columns <= kTile; ++n_columns) {
        for (const bool on_diagonal : {false, true}) {
          std::fill(part.begin(), part.end(), 0.5);
          known[level].of_tiles(a.data(), b.data(), kDepth, {n_rows, n_columns, on_diagonal}, part.data(), kStride);
          for (std::int64_t i = 0; i < kTile; ++i) {
            for (std::int64_t j = 0; j < kStride; ++j) {
              const double got = part[static_cast<std::size_t>(i * kStride + j)];
              if (j >= kTile) {
                ASSERT_EQ(got, 0.5) << i << " " << j;
              }
              if (i >= n_rows || j >= n_columns || (on_diagonal && j < i)) continue;
              ASSERT_EQ(got, 0.5 + whole[static_cast<std::size_t>(i * kTile + j)])
                  << level << ": " << n_rows << " x " << n_columns << ", entry " << i << " " << j;
            }
          }
        }
      }
    }
  }
}

TEST(CrossProduct, EqualsTheDefinition) {
  std::int64_t number = 0;
  for (const std::int64_t depth : {1, 255, 256, 257, 4095, 4096, 4097, 9000, 30000}) {
    for (const std::int64_t width : {1, 15, 16, 17, 63, 64, 65, 130}) {
      if (!chosen(number++)) continue;
      SCOPED_TRACE(std::to_string(depth) + " x " + std::to_string(width));
      const std::int64_t other_width = 9;
      const std::vector<double> a = random_values(depth * width, 1), b = random_values(depth * other_width, 2);
      const VectorPanel left(a.data(), width, depth), right(b.data(), other_width, depth);
      std::vector<double> whole(static_cast<std::size_t>(width * other_width)),
          half(static_cast<std::size_t>(width * width));
      ThreadPool pool(2);
      cross_product(left, right, depth, pool, {}, whole.data());
      cross_product(left, left, depth, pool, {}, half.data());
      const auto expect = [&](double got, const std::vector<double>& x, std::int64_t i, const std::vector<double>& y,
                              std::int64_t j) {
        const oracle::ExactProduct exact = oracle::exact_product(
            depth, [&](std::int64_t r) { return x[static_cast<std::size_t>(i * depth + r)]; },
            [&](std::int64_t r) { return y[static_cast<std::size_t>(j * depth + r)]; });
        // 256 fused steps in a leaf, 15 additions in a group, and the levels of the tree.
        const double roundings = 256 + 15 + std::ceil(std::log2(std::ceil(static_cast<double>(depth) / 4096)));
        EXPECT_LE(exact.sum.distance(got), roundings * 0x1p-53 * exact.magnitude) << i << " " << j;
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

// Rows [begin, begin + n) of vectors that are `depth` long.
std::vector<double> products_of(const std::vector<double>& a, std::int64_t width, const std::vector<double>& b,
                                std::int64_t other_width, std::int64_t depth, std::int64_t begin, std::int64_t n,
                                int threads) {
  const VectorPanel left(a.data() + begin, width, depth), right(b.data() + begin, other_width, depth);
  std::vector<double> sums(static_cast<std::size_t>(width * other_width));
  ThreadPool pool(threads);
  cross_product(left, &a == &b ? left : right, n, pool, {}, sums.data());
  return sums;
}

TEST(CrossProduct, PartsOfAlignedGroupsJoinToTheBitsOfTheWhole) {
  Random random(23);
  for (std::int64_t round = 0; round < repeated<std::int64_t>(40, 10); ++round) {
    const auto depth = 1 + static_cast<std::int64_t>(random.below(60'000));
    const auto width = 1 + static_cast<std::int64_t>(random.below(80)), other = 1 + width / 3;
    const std::int64_t part = kGroupRows << random.below(4);
    SCOPED_TRACE(std::to_string(depth) + " x " + std::to_string(width) + " in parts of " + std::to_string(part));
    const std::vector<double> a = random_values(depth * width, random.below(1000));
    const bool symmetric = random.below(2) == 0;
    const std::vector<double> b = symmetric ? a : random_values(depth * other, random.below(1000));
    const auto products = [&](std::int64_t begin, std::int64_t n) {
      return products_of(a, width, symmetric ? a : b, symmetric ? width : other, depth, begin, n,
                         1 + static_cast<int>(random.below(5)));
    };
    std::vector<std::vector<double>> parts;
    for (std::int64_t begin = 0; begin < depth; begin += part) {
      parts.push_back(products(begin, std::min(part, depth - begin)));
    }
    const std::vector<double> whole = products(0, depth);
    std::vector<double> column(parts.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (std::size_t at = 0; at < parts.size(); ++at) column[at] = parts[at][i];
      ASSERT_EQ(tree_sum(column.data(), static_cast<std::int64_t>(column.size())), whole[i]) << i;
    }
  }
}

TEST(CrossProduct, SameBitsWithAnyThreadsAndInBlocks) {
  const std::int64_t depth = 30000, width = 70;
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

// Blocks of up to 512 columns, which the number of threads and groups decides on, give the bits of small ones.
TEST(CrossProduct, SameBitsInBlocksOfAnySize) {
  for (const auto& [depth, width] : {std::pair<std::int64_t, std::int64_t>{9 * kGroupRows + 77, 150}, {5000, 330}}) {
    const std::vector<double> a = random_values(depth * width, 7);
    const VectorPanel panel(a.data(), width, depth), same(a.data(), width, depth);
    const auto n = static_cast<std::size_t>(width * width);
    std::vector<double> wanted(n), other(n), given(n);
    ThreadPool any(3);
    for_each_block(panel, same, depth, any, {}, [&](const ProductBlock& block) {
      for (std::int64_t i = 0; i < block.n_rows; ++i) {
        std::copy_n(block.values + i * kBlock, block.n_columns, wanted.data() + (block.row + i) * width + block.column);
      }
    });
    for (const int threads : effort() < 100 ? std::vector{2, 40} : std::vector{1, 2, 3, 8, 40}) {
      ThreadPool pool(threads);
      cross_product(panel, panel, depth, pool, {}, other.data());
      EXPECT_EQ(wanted, other) << depth << " x " << width << ", threads " << threads;
      cross_product(panel, same, depth, pool, {}, given.data());
      EXPECT_EQ(wanted, given) << depth << " x " << width << ", threads " << threads;
    }
  }
}

// 800 columns are some blocks on or above the diagonal, of which one thread or five sum up whole ones and 20 do not.
TEST(CrossProduct, WideProductsHaveTheBitsOfTheirBlocksAndOneTreeAThread) {
  const std::int64_t depth = 2 * kGroupRows + 300, width = 800;
  const std::vector<double> a = random_values(depth * width, 5);
  const VectorPanel panel(a.data(), width, depth);
  std::vector<double> first(static_cast<std::size_t>(width * width)), other(first.size());
  ThreadPool many(20);
  cross_product(panel, panel, depth, many, {}, first.data());
  for (const int threads : {1, 5}) {
    ThreadPool few(threads);
    std::fill(other.begin(), other.end(), 0.0);
    cross_product(panel, panel, depth, few, {}, other.data());
    EXPECT_EQ(first, other) << threads;
  }
  // 2,000 features of 10 million rows: trees of half a megabyte a level for four threads, and their operands. That is
  // less than the 64 MB of a decomposition's copy and eigenvectors.
  EXPECT_LT(cross_product_bytes(2000, 2000, 10'000'000, 4), 64'000'000);
  EXPECT_LT(cross_product_bytes(2000, 2000, 10'000'000, 4), cross_product_bytes(2000, 2000, 10'000'000, 400));
}

}  // namespace
}  // namespace stope::gram
