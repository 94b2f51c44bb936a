// Compares the test in floats that leaves a cluster out (src/knn/cuda/tensor/clusters/cluster_reach.hpp) with the exact
// rule, in numbers that hold it: a cluster is never left out wrongly, and seldom kept for nothing.
#include "knn/cuda/tensor/clusters/cluster_reach.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"

namespace stope::knn::cuda {
namespace {

using Exact = long double;
static_assert(std::numeric_limits<Exact>::digits >= 64);
template <class Number>
Exact exact(Number number) {
  return static_cast<Exact>(number);
}

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

struct Pair {
  ReachTerms query;
  float centre_norm, product, radius;
};

bool is_left_out(const Pair& pair) {
  return is_out_of_reach(reach_of(pair.query, false), centre_share(pair.query.accumulation), pair.centre_norm,
                         pair.product, pair.radius);
}

// What is proved in real numbers, with each error at its worst: how far below the threshold every score of the cluster
// lies. Not above 0: the cluster may be needed. `slack` is a share of the norms that is taken off, with what
// underflows.
Exact least_room(const Pair& pair, Exact slack) {
  const Exact q = exact(pair.query.square), n_q = exact(pair.query.norm), n_c = exact(pair.centre_norm);
  const Exact errors = exact(pair.query.accumulation) * (n_q + n_c) + slack * (n_q + n_c + 1e-30L);
  // The norm exceeds the square by less than 2e-7 of it.
  const Exact square = q + n_c * (1 - 2e-7L) - 2 * exact(pair.product) - errors;
  if (!(square > 0)) return -1;
  const Exact apart = std::sqrt(square) - exact(pair.radius) * (1 + slack);
  if (!(apart > 0)) return -1;
  const Exact best = (q - apart * apart) / 2 + exact(pair.query.error) + exact(pair.query.shift);
  return exact(pair.query.threshold) - best;
}

double norm_of(double square) {
  return static_cast<double>(float_above(square));
}

class ReachOfQueries : public testing::Test {
 protected:
  double size() { return std::exp2(60.0 * random_.uniform() - 40.0); }
  // One in four is 0, equal to `like`, or next to it.
  double size_like(double like) {
    switch (random_.below(8)) {
      case 0: return 0.0;
      case 1: return like;
      case 2: return like * (1.0 + 1e-7 * (random_.uniform() - 0.5));
      default: return random_.below(2) == 0 ? size() : like * 2.0 * random_.uniform();
    }
  }
  /// Distances of any size. The threshold lies near the best score, as far as that is possible.
  Pair pair() {
    const double width = std::vector<double>{32, 64, 96, 128}[random_.below(4)];
    Pair made{};
    ReachTerms& query = made.query;
    query.square = size_like(1.0);
    query.norm = norm_of(query.square);
    query.accumulation = 0x1p-22 * (width + 2.0);
    query.shift = size_like(query.square);
    query.error = random_.below(3) == 0 ? 0.0 : query.accumulation * (query.norm + query.shift);
    made.centre_norm = static_cast<float>(norm_of(size_like(query.square)));
    const double half = 0.5 * (query.norm + static_cast<double>(made.centre_norm));
    const double nearness = random_.below(2) == 0 ? 1.0 - 1e-6 * size() : 2.0 * random_.uniform() - 1.0;
    made.product = static_cast<float>(half * std::clamp(nearness, -1.0, 1.0));
    const double square = std::max(0.0, 2.0 * (half - static_cast<double>(made.product)));
    made.radius = static_cast<float>(std::min(size_like(std::sqrt(square)), std::sqrt(4.0 * half)));
    const double apart = std::max(0.0, std::sqrt(square) - static_cast<double>(made.radius));
    const double best = 0.5 * (query.square - apart * apart) + query.shift + query.error;
    query.threshold = static_cast<double>(static_cast<float>(
        best + (random_.uniform() - 0.5) * std::exp2(-30.0 * random_.uniform()) * (half + query.shift)));
    return made;
  }
  Random random_{11};
};

TEST_F(ReachOfQueries, NoClusterIsLeftOutWrongly) {
  int n_left_out = 0, n_barely = 0;
  const int rounds = repeated(3'000'000, 300'000);
  for (int i = 0; i < rounds; ++i) {
    const Pair made = pair();
    if (!is_left_out(made)) continue;
    ++n_left_out;
    ASSERT_GT(least_room(made, 0), 0) << made.query.square << ", " << made.query.threshold << ", " << made.centre_norm
                                      << ", " << made.product << ", " << made.radius;
    n_barely += least_room(made, 8e-6L) <= 0 ? 1 : 0;
  }
  EXPECT_GT(n_left_out, rounds / 20);
  EXPECT_GT(n_barely, rounds / 10000) << "the cases are far from the bound";
}

// Every case is moved to its bound: to the smallest threshold with which the cluster is left out.
TEST_F(ReachOfQueries, AtTheBoundNoClusterIsLeftOutWrongly) {
  int n_bounds = 0;
  for (int i = 0; i < repeated(300'000, 30'000); ++i) {
    Pair made = pair();
    if (random_.below(2) == 0) made.query.accumulation = made.query.error = 0.0;  // nothing hides the other margins
    if (random_.below(2) == 0) made.centre_norm *= 1e-3F, made.product *= 0.03F;
    const auto left_out_at = [&](float threshold) {
      made.query.threshold = static_cast<double>(threshold);
      return is_left_out(made);
    };
    float low = 0.0F, high = 2.0F * static_cast<float>(made.query.norm + made.query.shift + made.query.error);
    if (left_out_at(low) || !left_out_at(high)) continue;
    ++n_bounds;
    for (float middle = high / 2; middle > low && middle < high; middle = low + (high - low) / 2) {
      (left_out_at(middle) ? high : low) = middle;
    }
    ASSERT_TRUE(left_out_at(high));
    ASSERT_GT(least_room(made, 0), 0) << made.query.square << ", " << high << ", " << made.centre_norm << ", "
                                      << made.product << ", " << made.radius;
  }
  EXPECT_GT(n_bounds, 1000);
}

// What is clear by a few more units than the proof needs is left out.
TEST_F(ReachOfQueries, LittleIsKeptForNothing) {
  int n_clear = 0;
  for (int i = 0; i < repeated(300'000, 30'000); ++i) {
    Pair made = pair();
    // The square of a distance may be off by this share of the norms, and the score by as much.
    const Exact sizes = exact(made.query.norm) + exact(made.centre_norm) + exact(made.query.shift);
    Pair nearer = made;
    nearer.query.threshold -= static_cast<double>(1e-5L * sizes);
    nearer.radius = std::nextafter(made.radius, kInf) * 1.00001F;
    if (!(least_room(nearer, 8e-6L) > 0)) continue;
    ++n_clear;
    ASSERT_TRUE(is_left_out(made)) << made.query.square << ", " << made.query.threshold << ", " << made.centre_norm
                                   << ", " << made.product << ", " << made.radius;
  }
  EXPECT_GT(n_clear, 1000);
}

// Rows of a ball around a centre, in columns: no score that reaches the threshold is in a cluster that is left out.
TEST_F(ReachOfQueries, RowsOfAClusterThatIsLeftOutHaveLowScores) {
  constexpr std::size_t kColumns = 32;
  const auto dot = [](const std::vector<float>& x, const std::vector<float>& y) {
    Exact sum = 0;
    for (std::size_t c = 0; c < kColumns; ++c) sum += exact(x[c]) * exact(y[c]);
    return sum;
  };
  int n_left_out = 0;
  for (int i = 0; i < repeated(20'000, 2'000); ++i) {
    const auto unit = static_cast<float>(std::exp2(20.0 * random_.uniform() - 10.0));
    const auto spread = static_cast<float>(std::exp2(-12.0 * random_.uniform()));
    const auto steps = [&](float size) {
      return std::round(2048.0F * size * static_cast<float>(random_.uniform())) / 2048.0F;
    };
    std::vector<float> q(kColumns), c(kColumns), t(kColumns);
    for (std::size_t j = 0; j < kColumns; ++j) {
      c[j] = unit * steps(1.0F);
      q[j] = random_.below(3) == 0 ? unit * steps(1.0F) : c[j] + unit * steps(4.0F * spread);
      t[j] = c[j] + unit * steps(spread);
    }
    const Exact to_row = dot(t, t) + dot(c, c) - 2 * dot(t, c);
    Pair made{};
    made.query.square = static_cast<double>(dot(q, q));
    made.query.norm = norm_of(made.query.square);
    made.query.accumulation = 0x1p-22 * 34.0;
    made.query.shift = made.query.norm;
    made.centre_norm = static_cast<float>(norm_of(static_cast<double>(dot(c, c))));
    const double off = made.query.accumulation * 0.5 * (made.query.norm + static_cast<double>(made.centre_norm));
    made.product = static_cast<float>(static_cast<double>(dot(q, c)) + 0.9 * off * (2.0 * random_.uniform() - 1.0));
    made.radius = float_above(static_cast<double>(std::sqrt(to_row)));
    const Exact score = dot(q, t) - dot(t, t) / 2 + exact(made.query.shift);
    const double room = std::exp2(-20.0 * random_.uniform()) * (random_.uniform() - 0.5) * made.query.norm;
    made.query.threshold = static_cast<double>(static_cast<float>(static_cast<double>(score) + room));
    if (!is_left_out(made)) continue;
    ++n_left_out;
    ASSERT_LT(score, exact(made.query.threshold));
  }
  EXPECT_GT(n_left_out, 100);
}

TEST_F(ReachOfQueries, WhatIsUnknownIsNeeded) {
  const ReachTerms usual{
      .square = 1.0, .norm = 1.0, .error = 0.0, .shift = 2.0, .threshold = 2.4, .accumulation = 0x1p-15};
  const Pair far{usual, 9.0F, -2.0F, 0.5F};
  EXPECT_TRUE(is_left_out(far));
  const double unknown[] = {static_cast<double>(kNan), static_cast<double>(kInf), 1e300};
  for (const double bad : unknown) {
    for (double ReachTerms::* const term :
         {&ReachTerms::square, &ReachTerms::norm, &ReachTerms::error, &ReachTerms::shift}) {
      Pair pair = far;
      pair.query.*term = bad;
      EXPECT_FALSE(is_left_out(pair)) << bad;
    }
  }
  for (const float bad : {kNan, kInf}) {
    for (float Pair::* const number : {&Pair::centre_norm, &Pair::radius}) {
      Pair pair = far;
      pair.*number = bad;
      EXPECT_FALSE(is_left_out(pair)) << bad;
    }
    Pair pair = far;
    pair.product = -bad;
    EXPECT_FALSE(is_left_out(pair)) << bad;
    pair = far;
    pair.query.threshold = static_cast<double>(-bad);
    EXPECT_FALSE(is_left_out(pair)) << bad;
  }
}

TEST_F(ReachOfQueries, ARadiusOfZeroAndEqualImages) {
  ReachTerms query{.square = 4.0, .norm = 4.0, .error = 0.0, .shift = 0.0, .threshold = 2.0, .accumulation = 0x1p-15};
  EXPECT_FALSE(is_left_out({query, 4.0F, 4.0F, 0.0F})) << "the query is the centre";
  query.threshold = 1e30;
  EXPECT_FALSE(is_left_out({query, 4.0F, 4.0F, 0.0F})) << "a distance of 0 proves nothing";
  EXPECT_TRUE(is_left_out({query, 4.0F, -4.0F, 0.0F}));
  query = {};
  EXPECT_FALSE(is_left_out({query, 0.0F, 0.0F, 0.0F})) << "all is 0";
  EXPECT_TRUE(is_out_of_reach(reach_of(query, true), 1.0F, 0.0F, 0.0F, kInf)) << "nothing is listed for the query";
}

TEST_F(ReachOfQueries, FloatsBelowAndAbove) {
  for (int i = 0; i < repeated(100'000, 10'000); ++i) {
    const double sign = random_.below(2) == 0 ? 1.0 : -1.0, most = i % 2 == 0 ? 99.0 : 1.0;
    const double x =
        sign * (1.0 + random_.uniform()) * std::exp2(most * random_.uniform() - (i % 2 == 0 ? 49.0 : 149.0));
    EXPECT_LE(static_cast<double>(float_below(x)), x);
    EXPECT_GE(static_cast<double>(float_above(x)), x);
    EXPECT_GE(static_cast<double>(float_below(x)), x - 2.0 * 0x1p-22 * std::fabs(x) - 0x1p-146);
  }
  EXPECT_EQ(float_below(1e31), -kInf);
  EXPECT_EQ(float_above(-1e31), kInf);
  EXPECT_EQ(float_above(std::numeric_limits<double>::quiet_NaN()), kInf);
}

}  // namespace
}  // namespace stope::knn::cuda
