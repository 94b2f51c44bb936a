// Block Lanczos on matrices whose eigenvalues are known: clusters, repetitions, zeros, and more wanted eigenvalues than
// a block is wide.
#include "gram/block_lanczos.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

// H D H, where H is a product of two reflections: the eigenvalues are D, and no eigenvector is an axis.
class Known {
 public:
  explicit Known(std::vector<double> values) : values_(std::move(values)) {
    Random random(7);
    for (auto& axis : axes_) {
      double squares = 0;
      for (std::size_t i = 0; i < values_.size(); ++i) axis.push_back(2 * random.uniform() - 1);
      for (const double v : axis) squares += v * v;
      for (double& v : axis) v /= std::sqrt(squares);
    }
  }

  void operator()(const double* x, double* y, std::int64_t n_vectors) const {
    const std::size_t n = values_.size();
    for (std::int64_t v = 0; v < n_vectors; ++v, x += n, y += n) {
      std::vector<double> z(x, x + n);
      reflect(z, 0), reflect(z, 1);
      for (std::size_t i = 0; i < n; ++i) z[i] *= values_[i];
      reflect(z, 1), reflect(z, 0);
      std::copy(z.begin(), z.end(), y);
    }
  }

 private:
  void reflect(std::vector<double>& z, int which) const {
    double part = 0;
    for (std::size_t i = 0; i < z.size(); ++i) part += axes_[which][i] * z[i];
    for (std::size_t i = 0; i < z.size(); ++i) z[i] -= 2 * part * axes_[which][i];
  }

  std::vector<double> values_;
  std::vector<double> axes_[2];
};

std::vector<double> repeated(const std::vector<std::pair<double, int>>& groups) {
  std::vector<double> values;
  for (const auto& [value, times] : groups) values.insert(values.end(), static_cast<std::size_t>(times), value);
  return values;
}

void expect_found(const std::vector<double>& values, std::int64_t k, std::int64_t block, const std::string& what) {
  SCOPED_TRACE(what + ", k " + std::to_string(k) + ", block " + std::to_string(block));
  const Known known(values);
  const auto n = static_cast<std::int64_t>(values.size());
  ThreadPool pool(2);
  const LanczosResult result =
      largest_eigenpairs(known, n, {.n_wanted = k, .block = block, .seed = 3}, pool, CancelToken());
  EXPECT_TRUE(result.converged);
  ASSERT_EQ(result.values.size(), static_cast<std::size_t>(k));
  std::vector<double> sorted = values;
  std::sort(sorted.rbegin(), sorted.rend());
  const double largest = std::max(sorted[0], 1e-300);
  std::vector<double> image(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < k; ++i) {
    const double value = result.values[static_cast<std::size_t>(i)];
    EXPECT_NEAR(value, sorted[static_cast<std::size_t>(i)], 3e-12 * largest) << i;
    const double* const x = result.vectors.data() + i * n;
    known(x, image.data(), 1);
    double residual = 0;
    for (std::int64_t j = 0; j < n; ++j) residual += std::pow(image[static_cast<std::size_t>(j)] - value * x[j], 2);
    EXPECT_LE(std::sqrt(residual), 3e-12 * largest) << i;
    for (std::int64_t other = 0; other <= i; ++other) {
      double product = 0;
      for (std::int64_t j = 0; j < n; ++j) product += x[j] * result.vectors[other * n + j];
      EXPECT_NEAR(product, other == i ? 1.0 : 0.0, other == i ? 1e-14 : 1e-12) << i << " " << other;
    }
  }
}

TEST(BlockLanczos, FindsEveryKindOfSpectrum) {
  std::vector<double> slow, steep, uniform;
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    slow.push_back(1.0 - i * 1e-4);
    steep.push_back(std::pow(0.7, i));
    uniform.push_back(random.uniform());
  }
  const std::vector<std::pair<std::string, std::vector<double>>> spectra = {
      {"identity", repeated({{1.0, 300}})},
      {"zero", repeated({{0.0, 200}})},
      {"one of rank 1", repeated({{5.0, 1}, {0.0, 250}})},
      {"repeated first", repeated({{4.0, 13}, {3.0, 1}, {1.0, 200}})},
      {"repeated later", repeated({{9.0, 1}, {4.0, 1}, {3.0, 11}, {2.0, 30}, {1e-9, 200}})},
      {"nearly repeated", repeated({{1.0, 3}, {1.0 - 1e-9, 3}, {1.0 - 2e-9, 9}, {0.5, 200}})},
      {"far apart", repeated({{1e12, 2}, {1.0, 20}, {1e-12, 200}})},
      {"slow", slow},
      {"steep", steep},
      {"uniform", uniform},
  };
  std::int64_t number = 0;
  for (const auto& [what, values] : spectra) {
    for (const std::int64_t k : {1, 2, 7, 12, 25}) {
      for (const std::int64_t block : {1, 3, 8}) {
        if (chosen(number++)) expect_found(values, k, block, what);
      }
    }
  }
}

// One start vector sees one direction of a repeated eigenvalue, until rounding brings others much later.
TEST(BlockLanczos, SearchesTheRestOfTheSpaceForCopiesBeforeItEnds) {
  std::vector<double> values = {1.3, 1.3, 1.3, 1.3, 1.2};
  for (int i = 0; i < 300; ++i) values.push_back(i / 300.0);
  const Known known(values);
  ThreadPool pool(1);
  const LanczosResult result = largest_eigenpairs(
      known, std::ssize(values), {.n_wanted = 2, .block = 1, .tolerance = 0.02, .seed = 3}, pool, CancelToken());
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.values[0], 1.3, 0.03);
  EXPECT_NEAR(result.values[1], 1.3, 0.03);
}

TEST(BlockLanczos, SmallSpaces) {
  std::int64_t number = 0;
  for (const int n : {1, 2, 3, 7, 8, 9, 31, 32, 33}) {
    for (int k = 1; k <= n; ++k) {
      if (!chosen(number++)) continue;
      std::vector<double> values;
      for (int i = 0; i < n; ++i) values.push_back(i / 2);  // pairs, and two zeros
      expect_found(values, k, 4, "pairs of " + std::to_string(n));
    }
  }
}

TEST(BlockLanczos, SameBitsWithAnyThreads) {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) values.push_back(1.0 / (1 + i));
  const Known known(values);
  std::vector<LanczosResult> results;
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    results.push_back(largest_eigenpairs(known, 10000, {.n_wanted = 10, .block = 4}, pool, CancelToken()));
  }
  for (const LanczosResult& other : results) {
    EXPECT_EQ(other.values, results[0].values);
    EXPECT_TRUE(std::equal(other.vectors.begin(), other.vectors.end(), results[0].vectors.begin()));
  }
}

TEST(BlockLanczos, SaysWhereItDidNotConverge) {
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) values.push_back(1.0 - i * 1e-7);
  ThreadPool pool(1);
  const LanczosResult result =
      largest_eigenpairs(Known(values), 3000, {.n_wanted = 2, .max_restarts = 2}, pool, CancelToken());
  EXPECT_FALSE(result.converged);
  EXPECT_GT(result.residual, 1e-12);
  const CancelToken cancel;
  cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled",
               [&] { largest_eigenpairs(Known(values), 3000, {.n_wanted = 2}, pool, cancel); });
}

}  // namespace
}  // namespace stope::gram
