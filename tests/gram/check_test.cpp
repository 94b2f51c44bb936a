// check_gram finds a number that is wrong, and accepts all that are right.
#include <gtest/gtest.h>

#include <limits>

#include "expect_error.hpp"
#include "gram/gram_cases.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

struct Computed {
  GramCase matrix;
  std::vector<float> x, z;
};

Computed compute(std::int64_t rows, std::int64_t columns, std::uint64_t seed, Values values = Values::plain) {
  Computed c{make_case(rows, columns, true, seed, values, 2), {}, {}};
  for (double& v : c.matrix.x) v = static_cast<double>(static_cast<float>(v));
  c.x.assign(c.matrix.x.begin(), c.matrix.x.end());
  std::vector<double> z(c.x.size());
  GramOperator(view(c.matrix)).gram(c.matrix.x, z);
  for (const double v : z) c.z.push_back(static_cast<float>(v));
  return c;
}

TEST(CheckGram, AcceptsWhatTheOperatorComputes) {
  std::uint64_t seed = 0;
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {1, 2000}, {3000, 1}, {513, 129}, {70, 5000}}) {
    for (const Values values : {Values::plain, Values::offset}) {
      const Computed c = compute(rows, columns, ++seed, values);
      EXPECT_EQ(check_gram(view(c.matrix), c.x, c.z).n_wrong, 0) << rows << " x " << columns;
    }
  }
}

TEST(CheckGram, FindsEveryWrongNumber) {
  Computed c = compute(300, 50, 9);
  const std::vector<float> right = c.z;
  for (std::size_t j = 0; j < c.z.size(); j += 7) {
    c.z = right;
    // It is wrong by three units in the last place; rounding explains one.
    for (int step = 0; step < 3; ++step) c.z[j] = std::nextafter(c.z[j], std::numeric_limits<float>::infinity());
    const GramCheck check = check_gram(view(c.matrix), c.x, c.z);
    ASSERT_EQ(check.n_wrong, 1);
    EXPECT_EQ(check.first[0].column, static_cast<std::int64_t>(j));
    EXPECT_EQ(check.first[0].found, static_cast<double>(c.z[j]));
    EXPECT_NEAR(check.first[0].wanted, static_cast<double>(right[j]), std::fabs(static_cast<double>(right[j])) * 1e-6);
  }
  for (float& v : c.z) v = std::nanf("");
  const GramCheck check = check_gram(view(c.matrix), c.x, c.z);
  EXPECT_EQ(check.n_wrong, 50);
  EXPECT_EQ(check.first.size(), 10U);
}

TEST(CheckGram, NanAndInfinity) {
  Computed c = compute(30, 8, 10);
  c.matrix.floats[3] = std::numeric_limits<float>::infinity();
  std::vector<double> z(8);
  GramOperator(view(c.matrix)).gram(c.matrix.x, z);
  for (std::size_t j = 0; j < z.size(); ++j) c.z[j] = static_cast<float>(z[j]);
  EXPECT_EQ(check_gram(view(c.matrix), c.x, c.z).n_wrong, 0);
  c.z[2] = 0.0F;
  EXPECT_EQ(check_gram(view(c.matrix), c.x, c.z).n_wrong, 1);
}

TEST(CheckGram, BeyondFloat) {
  Computed c = compute(3, 2, 11);
  for (float& v : c.matrix.floats) v = 1e25F;
  c.x = {1.0F, 1.0F};
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(check_gram(view(c.matrix), c.x, std::vector<float>{infinity, infinity}).n_wrong, 0);
  EXPECT_EQ(check_gram(view(c.matrix), c.x, std::vector<float>{-infinity, 1e38F}).n_wrong, 2);
}

TEST(CheckGram, RefusesOtherLengths) {
  const Computed c = compute(3, 4, 12);
  expect_error(ErrorCode::invalid_argument, "the result has 5 numbers, the matrix 4 columns",
               [&] { check_gram(view(c.matrix), c.x, std::vector<float>(5)); });
  expect_error(ErrorCode::invalid_argument, "the vector has 3 numbers, the matrix 4 columns",
               [&] { check_gram(view(c.matrix), std::vector<float>(3), c.z); });
}

TEST(CheckGram, TellsOfItsRowsOnTheWay) {
  const Computed c = compute(200, 4, 13);
  std::vector<std::int64_t> told;
  RunOptions run;
  run.progress = [&](std::string_view phase, std::int64_t done, std::int64_t total) {
    EXPECT_EQ(phase, "check");
    EXPECT_EQ(total, 200);
    told.push_back(done);
  };
  check_gram(view(c.matrix), c.x, c.z, run);
  ASSERT_GE(told.size(), 3U);
  EXPECT_GE(told.back(), 128);
}

}  // namespace
}  // namespace stope::gram
