// When threads share a product, and that its bits do not show it (docs/adr/0056-workers-that-stay-awake.md).
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "gram/gram_cases.hpp"
#include "stope/gram.hpp"

namespace stope::gram {
namespace {

// Threads share small products only once some have been made: the bits must not show it.
TEST(Gram, ManySmallProductsHaveTheBitsOfTheFirst) {
  for (const bool is_float : {true, false}) {
    const GramCase c = make_case(512, 512, is_float, 5);
    RunOptions run;
    run.threads = 2;
    run.device = "cpu";
    GramOperator by(view(c), {}, run);
    std::vector<double> wanted(512), z(512);
    by.gram(c.x, wanted);
    EXPECT_EQ(by.report().threads, 1);
    for (int i = 0; i < 50; ++i) {
      by.gram(c.x, z);
      ASSERT_EQ(z, wanted) << "product " << i;
    }
    EXPECT_EQ(by.report().threads, 2);
  }
}

// Sums of a single group of wide rows are added up where the result goes, unless x is still read there: here by the
// second panel, after the first one was added.
TEST(Gram, AVectorMayBeReplacedByItsProduct) {
  constexpr std::int64_t kRows = 33, kColumns = 544'000;
  auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(kRows * kColumns));
  for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] = static_cast<float>(i * 7919 % 1013) * 0.001F;
  ArrayView matrix{values->data(), ElementType::float32, kRows, kColumns, kColumns};
  matrix.owner = values;
  RunOptions run;
  run.device = "cpu";
  run.threads = 2;
  GramOperator by(matrix, {}, run);
  std::vector<double> x(static_cast<std::size_t>(kColumns)), z(x.size());
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = 1.0 / static_cast<double>(c + 1);
  by.gram(x, z);
  EXPECT_EQ(by.report().threads, 2);
  by.gram(x, x);
  EXPECT_TRUE(x == z) << "a product depends on where it is written";
  run.threads = 1;
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = 1.0 / static_cast<double>(c + 1);
  std::vector<double> alone(x.size());
  GramOperator(matrix, {}, run).gram(x, alone);
  EXPECT_TRUE(alone == z) << "a product depends on the threads";
}

}  // namespace
}  // namespace stope::gram
