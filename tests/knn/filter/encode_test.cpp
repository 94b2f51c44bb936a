// The kernels that make images: every instruction set against the portable steps (row_image.hpp, byte_steps.hpp), value
// by value, for sizes that straddle registers, groups of columns and runs, and for values that leave every range.
#include "knn/filter/encode/encode.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/simd/cpu.hpp"
#include "knn/filter/byte_steps.hpp"
#include "knn/filter/derived_images.hpp"
#include "knn/filter/filter_cases.hpp"
#include "knn/filter/row_mapper.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Level {
  std::string name;
  const EncodeKernels* kernels;
};
std::vector<Level> levels() {
  std::vector<Level> all = {{"scalar", &scalar::kEncodeKernels}};
  if (simd::has_avx2()) all.push_back({"avx2", &avx2::kEncodeKernels});
  if (simd::has_avx512()) all.push_back({"avx512", &avx512::kEncodeKernels});
  return all;
}

// Usual values far from 0, and one in `rare` that is not usual.
double value_of(Random& random, std::uint64_t rare) {
  static const std::vector<double> kOthers = {0.0,    -0.0,   1e-320, -1e-310, 1e-200,  1e25,         -1e29,
                                              3e30,   1e200,  -1e308, kInf,    -kInf,   std::nan(""), 1e100,
                                              1e-100, 1e-101, 1.0,    -1.0,    0x1p-126};
  if (random.below(rare) == 0) return kOthers[random.below(kOthers.size())];
  return 1e6 + 3.0 * random.uniform();
}

Table random_table(Random& random, std::size_t width, int n_nominal, std::uint64_t rare) {
  std::vector<std::vector<double>> columns(width, std::vector<double>(96));
  for (std::vector<double>& column : columns) {
    for (double& value : column) value = value_of(random, rare);
  }
  Table table = table_of(columns);
  for (int c = 0; c < n_nominal; ++c) {
    std::vector<std::int32_t> codes(96);
    for (std::int32_t& code : codes) code = static_cast<std::int32_t>(random.below(4)) - 1;
    table.columns.insert(table.columns.begin() + c, make_nominal("n" + std::to_string(c), codes, {"a", "b", "c"}));
  }
  return table;
}

// Rows side by side have the images and the residuals of one row after the other, bit for bit.
void expect_the_maps_columns(const RowMapper& mapper, const Fitted& fitted) {
  const auto n_columns = static_cast<std::size_t>(mapper.image_map().n_columns());
  constexpr auto kRows = static_cast<std::size_t>(RowMapper::kRowsTogether);
  std::vector<float> images(n_columns * kRows), expected(n_columns);
  std::vector<double> residuals(kRows);
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{7}, std::int64_t{8}, fitted.n_rows()}) {
    mapper.map_columns(fitted.rows(), n, images.data(), residuals.data());
    for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row) {
      const double residual =
          mapper.image_map().map(fitted.rows() + static_cast<std::int64_t>(row) * fitted.width(), expected.data());
      ASSERT_EQ(std::isnan(residuals[row]), std::isnan(residual)) << row;
      if (std::isnan(residual)) continue;
      ASSERT_EQ(residuals[row], residual) << row;
      for (std::size_t c = 0; c < n_columns; ++c) {
        const float found = images[c * kRows + row];
        ASSERT_TRUE(found == expected[c] || (std::isnan(found) && std::isnan(expected[c]))) << row << ", " << c;
      }
    }
  }
}

void expect_the_maps_images(const Table& table, const std::string& metric) {
  KnnOptions options;
  options.metric.name = metric;
  const Fitted fitted(table, options, {});
  const auto map = std::make_shared<const ImageMap>(fitted, *fitted.kernel().filter_form());
  if (!map->bounds()) return;  // no filter takes such scales
  const bool unit_rows = map->form().space == Space::unit_rows;
  const auto n = static_cast<std::size_t>(map->n_columns());
  for (const Level& level : levels()) {
    EncodeKernels kernels = *level.kernels;
    kernels.least_numbers = 0;
    const RowMapper mapper(map, kernels);
    if (mapper.maps_columns()) {
      SCOPED_TRACE(metric + ", " + level.name + ", " + std::to_string(n) + " columns side by side");
      ASSERT_NO_FATAL_FAILURE(expect_the_maps_columns(mapper, fitted));
    }
    for (std::int64_t row = 0; row < fitted.n_rows(); ++row) {
      SCOPED_TRACE(metric + ", " + level.name + ", row " + std::to_string(row) + ", " + std::to_string(n) + " columns");
      std::vector<float> expected(n), found(n + 1, 42.0F);
      const double residual = map->map(fitted.rows() + row * fitted.width(), expected.data());
      const double ours = mapper.map(fitted.rows() + row * fitted.width(), found.data());
      ASSERT_EQ(std::isnan(ours), std::isnan(residual));
      ASSERT_EQ(found[n], 42.0F) << "written behind the image";
      // The norm of a unit row is added up in another order.
      if (!std::isnan(residual)) {
        ASSERT_NEAR(ours, residual, unit_rows ? 1e-14 : 1e-9 * residual);
      }
      for (std::size_t c = 0; c < n; ++c) {
        if (std::isnan(expected[c])) {
          ASSERT_TRUE(std::isnan(found[c])) << c;
        } else if (unit_rows) {
          ASSERT_NEAR(found[c], expected[c], 1e-7) << c;
        } else {
          ASSERT_EQ(found[c], expected[c]) << c;
          ASSERT_EQ(std::signbit(found[c]), std::signbit(expected[c])) << c;
        }
      }
    }
  }
}

TEST(EncodeKernels, MapRowsAsThePortableStepsDo) {
  Random random(1);
  for (const std::size_t width : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 515}) {
    for (const std::uint64_t rare : {1000000, 40, 3}) {
      for (const char* metric : {"euclidean", "manhattan", "chebyshev", "cosine", "nan-euclidean", "canberra"}) {
        expect_the_maps_images(random_table(random, width, 0, rare), metric);
      }
      for (const char* metric : {"gower", "heom", "mixed-euclidean"}) {
        expect_the_maps_images(random_table(random, width, 3, rare), metric);
      }
    }
  }
}

TEST(EncodeKernels, TransposeEveryWidth) {
  for (std::int64_t n = 1; n < 70; ++n) {
    std::vector<float> images(static_cast<std::size_t>(n * kTransposedRows));
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i);
    for (const Level& level : levels()) {
      std::vector<float> block(static_cast<std::size_t>(n * kScanBlockRows), -1.0F);
      level.kernels->transpose(images.data(), n, block.data() + kTransposedRows);
      for (std::int64_t c = 0; c < n; ++c) {
        for (std::int64_t row = 0; row < kScanBlockRows; ++row) {
          const bool ours = row / kTransposedRows == 1;
          const float expected = ours ? images[static_cast<std::size_t>((row - kTransposedRows) * n + c)] : -1.0F;
          ASSERT_EQ(block[static_cast<std::size_t>(c * kScanBlockRows + row)], expected) << level.name << n;
        }
      }
    }
  }
}

// What a block becomes in bytes (or nibbles), computed value by value.
struct Rounded {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int32_t> squares;
  std::vector<double> errors;
};
Rounded rounded(const std::vector<float>& block, std::int64_t n_columns, const Rounding& rounding, bool nibbles) {
  const std::int64_t group = nibbles ? 8 : 4, n_groups = (n_columns + group - 1) / group;
  Rounded result{std::vector<std::uint8_t>(static_cast<std::size_t>(n_groups * kScanBlockRows * 4), nibbles ? 0 : 128),
                 std::vector<std::int32_t>(kScanBlockRows, 0), std::vector<double>(kScanBlockRows, 0.0)};
  for (std::int64_t c = 0; c < n_columns; ++c) {
    for (std::int64_t row = 0; row < kScanBlockRows; ++row) {
      const float value = block[static_cast<std::size_t>(c * kScanBlockRows + row)];
      const float scaled = (std::isnan(value) ? 0.0F : value) * rounding.steps + rounding.centre;
      const float whole = whole_number(scaled, rounding);
      const auto step = static_cast<std::int32_t>(whole), in_group = static_cast<std::int32_t>(c % group);
      auto& byte = result.bytes[static_cast<std::size_t>((c / group * kScanBlockRows + row) * 4 + in_group % 4)];
      byte = static_cast<std::uint8_t>(nibbles ? byte + (in_group < 4 ? 1 : 16) * step : step + 128);
      const auto at = static_cast<std::size_t>(row);
      result.squares[at] += step * (step - (nibbles ? 15 : 0));
      result.errors[at] += std::pow(static_cast<double>(scaled - whole), 2);
    }
  }
  return result;
}

TEST(EncodeKernels, RoundBlocksToWholeSteps) {
  Random random(2);
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 63, 64, 65, 130}) {
    std::vector<float> block(static_cast<std::size_t>(n * kScanBlockRows));
    for (float& value : block) {
      value = static_cast<float>(2.2 * random.uniform() - 1.1);
      if (random.below(20) == 0) value = std::round(value * 254.0F) / 254.0F;  // halfway between steps
      if (random.below(50) == 0) value = std::numeric_limits<float>::quiet_NaN();
      if (random.below(50) == 0) value *= 1e15F;
      if (random.below(50) == 0) value = -0.0F;
    }
    for (const bool nibbles : {false, true}) {
      const Rounding rounding = nibbles ? Rounding{8.0F, 7.5F, 0.0F, 15.0F} : Rounding{127.0F, 0.0F, -127.0F, 127.0F};
      const Rounded expected = rounded(block, n, rounding, nibbles);
      for (const Level& level : levels()) {
        SCOPED_TRACE(level.name + ", " + std::to_string(n) + " columns" + (nibbles ? ", nibbles" : ""));
        std::vector<std::uint8_t> bytes(expected.bytes.size() + 1, 77);
        std::vector<std::int32_t> squares(kScanBlockRows);
        std::vector<float> errors(kScanBlockRows);
        (nibbles ? level.kernels->nibble_steps : level.kernels->byte_steps)(block.data(), n, rounding, bytes.data(),
                                                                            squares.data(), errors.data());
        EXPECT_EQ(bytes.back(), 77) << "written behind the bytes";
        bytes.pop_back();
        EXPECT_EQ(bytes, expected.bytes);
        EXPECT_EQ(squares, expected.squares);
        for (std::size_t row = 0; row < kScanBlockRows; ++row) {
          EXPECT_NEAR(errors[row], expected.errors[row], 1e-5 * expected.errors[row]) << row;
        }
      }
    }
  }
}

TEST(EncodeKernels, RoundBlocksForDifferences) {
  Random random(4);
  const Rounding rounding{127.0F, 0.0F, -127.0F, 127.0F};
  for (std::int64_t n = 0; n < 36; ++n) {
    std::vector<float> block(static_cast<std::size_t>(n * kScanBlockRows));
    for (float& value : block) {
      value = static_cast<float>(2.2 * random.uniform() - 1.1);
      if (random.below(9) == 0) value = std::numeric_limits<float>::quiet_NaN();
      if (random.below(50) == 0) value *= 1e15F;
    }
    const std::int64_t n_groups = (n + 7) / 8;
    std::vector<std::uint8_t> expected(static_cast<std::size_t>(n_groups * kScanBlockRows * 8), 128);
    std::vector<double> expected_errors(kScanBlockRows, 0.0);
    for (std::int64_t c = 0; c < n; ++c) {
      for (std::int64_t row = 0; row < kScanBlockRows; ++row) {
        const float value = block[static_cast<std::size_t>(c * kScanBlockRows + row)];
        const float scaled = (std::isnan(value) ? 0.0F : value) * rounding.steps,
                    whole = whole_number(scaled, rounding);
        expected[static_cast<std::size_t>((c / 8 * kScanBlockRows + row) * 8 + c % 8)] =
            std::isnan(value) ? kMissingByte : static_cast<std::uint8_t>(static_cast<std::int32_t>(whole) + 128);
        expected_errors[static_cast<std::size_t>(row)] += std::fabs(static_cast<double>(scaled - whole));
      }
    }
    for (const Level& level : levels()) {
      SCOPED_TRACE(level.name + ", " + std::to_string(n) + " columns");
      std::vector<std::uint8_t> bytes(expected.size() + 1, 77);
      std::vector<float> errors(kScanBlockRows, -1.0F);
      level.kernels->difference_steps(block.data(), n, rounding, bytes.data(), errors.data());
      EXPECT_EQ(bytes.back(), 77) << "written behind the bytes";
      bytes.pop_back();
      EXPECT_EQ(bytes, expected);
      for (std::size_t row = 0; row < kScanBlockRows; ++row) {
        EXPECT_NEAR(errors[row], expected_errors[row], 1e-5 * expected_errors[row]) << row;
      }
    }
  }
}

// Many columns, because what a float loses of their sum grows with them.
TEST(ByteDifferences, TheResidualIsAtLeastWhatRoundingTakesFromAnyRow) {
  Random random(5);
  std::vector<std::vector<double>> columns(6000, std::vector<double>(kScanBlockRows));
  for (std::vector<double>& column : columns) {
    for (double& value : column) value = random.uniform();
  }
  KnnOptions options;
  options.metric.name = "manhattan";
  const Fitted fitted(table_of(columns), options, {});
  const RowMapper mapper(std::make_shared<const ImageMap>(fitted, *fitted.kernel().filter_form()),
                         scalar::kEncodeKernels);
  ThreadPool pool(1);
  const TrainPart part{0, fitted.n_rows(), fitted.rows()};
  const TrainImages images =
      make_train_images(mapper, part, fitted.width(), BlockOrder::table, scalar::kSplitKernels, nullptr, pool, {});
  const FloatBlocks floats = make_float_blocks({mapper, part, fitted.width(), images, {}}, pool, {});
  const ByteImages bytes =
      make_byte_images({mapper, part, fitted.width(), images, floats}, ScanKind::byte_differences, pool, {});
  ASSERT_EQ(bytes.always[0], 0U);
  double most = 0.0;
  for (std::int64_t row = 0; row < kScanBlockRows; ++row) {
    double errors = 0.0;
    for (std::int64_t c = 0; c < bytes.n_columns; ++c) {
      const double value = static_cast<double>(floats.blocks[c * kScanBlockRows + row]);
      const std::uint8_t byte = bytes.bytes[(c / 8 * kScanBlockRows + row) * 8 + c % 8];
      errors += std::fabs(value * bytes.steps - (byte - 128.0));
    }
    most = std::max(most, errors);
  }
  EXPECT_GE(bytes.residual, most);
  EXPECT_LE(bytes.residual, 1.01 * most);
}

// The two numbers of a pair, times a training byte of 255, must fit in 16 bits together.
TEST(PairProducts, AQuerysPairsFit) {
  Random random(3);
  ByteImages train;
  train.kind = ScanKind::byte_pair_products;
  for (const std::int64_t n : {1, 2, 5, 32}) {
    train.n_columns = train.n_numeric = n;
    train.n_groups = train.n_numeric_groups = (n + 3) / 4;
    train.steps = 127.0;
    for (int round = 0; round < 400; ++round) {
      train.query_steps = round % 2 == 0 ? 1.0 : 0.5;
      std::vector<float> image(static_cast<std::size_t>(n));
      for (float& value : image) {
        value = static_cast<float>(2.0 * random.uniform() - 1.0) * (random.below(3) == 0 ? 3.0F : 1.0F);
        if (random.below(4) == 0) value = value < 0.0F ? -1.0F : 1.0F;
      }
      std::vector<std::uint8_t> bytes(static_cast<std::size_t>(train.query_bytes()));
      const ByteImage made = make_byte_image(image.data(), train, bytes.data());
      double errors = 0.0;
      for (std::size_t c = 0; c < bytes.size(); ++c) {
        const auto own = static_cast<std::int8_t>(bytes[c]), other = static_cast<std::int8_t>(bytes[c ^ 1]);
        ASSERT_LE(255 * (std::abs(own) + std::abs(other)), 32767);
        const double value = c < image.size() ? static_cast<double>(image[c]) * train.steps : 0.0;
        errors += std::pow(value - own / train.query_steps, 2);
      }
      ASSERT_LE(std::sqrt(errors), made.residual);
      ASSERT_GE(std::sqrt(errors) * (1.0 + 1e-8) + 1e-9, made.residual);
    }
  }
}

}  // namespace
}  // namespace stope::knn
