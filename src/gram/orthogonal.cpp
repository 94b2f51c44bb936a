#include "gram/orthogonal.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/checked.hpp"
#include "gram/cross_product.hpp"
#include "gram/vector_panel.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {
namespace {

constexpr std::int64_t kChunk = 2048;  // rows per task: that much of several vectors fits the cache together

}  // namespace

double dot(const double* a, const double* b, std::int64_t length) {
  // A leaf has eight running sums, and leaves are added in order. Vector registers of any width can follow this shape.
  constexpr std::int64_t kLanes = 8, kLeaf = 4096;
  double total = 0.0;
  for (std::int64_t leaf = 0; leaf < length; leaf += kLeaf) {
    const std::int64_t end = std::min(leaf + kLeaf, length);
    double lanes[kLanes] = {};
    std::int64_t i = leaf;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
    }
    for (std::int64_t l = 0; i < end; ++i, ++l) lanes[l] += a[i] * b[i];
    total += ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  return total;
}

double norm(const double* a, std::int64_t length) {
  double largest = 0.0;
  for (std::int64_t i = 0; i < length; ++i) largest = std::max(largest, std::fabs(a[i]));
  if (largest == 0.0 || !std::isfinite(largest)) return largest;
  if (largest > 1e-140 && largest < 1e140) return std::sqrt(dot(a, a, length));
  int exponent = 0;
  std::frexp(largest, &exponent);
  std::vector<double> scaled(a, a + length);
  for (double& v : scaled) v = std::ldexp(v, -exponent);
  return std::ldexp(std::sqrt(dot(scaled.data(), scaled.data(), length)), exponent);
}

void fill_random(double* vector, std::int64_t length, Random& random) {
  for (std::int64_t i = 0; i < length; ++i) vector[i] = 2.0 * random.uniform() - 1.0;
}

void Orthogonaliser::project_out(Vectors basis, std::int64_t n_basis, std::int64_t n_vectors, double* coefficients) {
  if (n_basis == 0 || n_vectors == 0) return;
  const VectorPanel known(basis.values, n_basis, basis.length);
  const VectorPanel fresh(basis.at(n_basis), n_vectors, basis.length);
  std::vector<double> parts(static_cast<std::size_t>(n_basis * n_vectors));
  for (int pass = 0; pass < 2; ++pass) {
    cross_product(known, fresh, basis.length, pool_, cancel_, parts.data());
    pool_.parallel_for(checked::ceil_div(basis.length, kChunk), cancel_, [&](std::int64_t chunk, int) {
      const std::int64_t begin = chunk * kChunk, end = std::min(begin + kChunk, basis.length);
      for (std::int64_t i = 0; i < n_basis; ++i) {
        const double* const from = basis.at(i);
        for (std::int64_t j = 0; j < n_vectors; ++j) {
          const double part = parts[static_cast<std::size_t>(i * n_vectors + j)];
          double* const to = basis.at(n_basis + j);
          for (std::int64_t row = begin; row < end; ++row) to[row] -= part * from[row];
        }
      }
    });
    if (coefficients == nullptr) continue;
    for (std::int64_t i = 0; i < n_basis * n_vectors; ++i) coefficients[i] += parts[static_cast<std::size_t>(i)];
  }
}

void Orthogonaliser::random_direction(Vectors basis, std::int64_t at) {
  // As long as there are fewer vectors than dimensions, a random vector surely has a part outside their span. If all
  // dimensions but one are taken, that part may be small. Projecting what is left once more finds it.
  double* const vector = basis.at(at);
  for (int attempt = 0; attempt < 8; ++attempt) {
    fill_random(vector, basis.length, random_);
    for (int pass = 0; pass < 2; ++pass) {
      project_out(basis, at, 1, nullptr);
      const double left = norm(vector, basis.length);
      if (left == 0.0) break;
      for (std::int64_t row = 0; row < basis.length; ++row) vector[row] /= left;
      if (pass == 1) return;
    }
  }
}

void Orthogonaliser::orthonormalise(Vectors basis, std::int64_t n_basis, std::int64_t n_vectors, double negligible,
                                    double* upper) {
  std::fill(upper, upper + n_vectors * n_vectors, 0.0);
  for (std::int64_t j = 0; j < n_vectors; ++j) {
    double* const vector = basis.at(n_basis + j);
    const double before = norm(vector, basis.length);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t i = 0; i < j; ++i) {
        const double* const other = basis.at(n_basis + i);
        const double part = dot(other, vector, basis.length);
        upper[i * n_vectors + j] += part;
        for (std::int64_t row = 0; row < basis.length; ++row) vector[row] -= part * other[row];
      }
    }
    const double left = norm(vector, basis.length);
    if (left <= negligible) {
      random_direction(basis, n_basis + j);
      continue;
    }
    upper[j * n_vectors + j] = left;
    for (std::int64_t row = 0; row < basis.length; ++row) vector[row] /= left;
    // Dividing by a small remainder magnifies what rounding has left along the other vectors.
    if (left < 1e-2 * before || left < 1e4 * negligible) {
      project_out(basis, n_basis + j, 1, nullptr);
      const double length = norm(vector, basis.length);
      for (std::int64_t row = 0; row < basis.length; ++row) vector[row] /= length;
    }
  }
}

void combine(Vectors vectors, std::int64_t n_in, std::int64_t n_out, const double* coefficients, ThreadPool& pool,
             const CancelToken& cancel) {
  constexpr std::int64_t kRows = 256;
  std::vector<Buffer<double>> scratch(static_cast<std::size_t>(pool.size()));
  for (Buffer<double>& own : scratch) own = Buffer<double>(n_out * kRows);
  pool.parallel_for(checked::ceil_div(vectors.length, kRows), cancel, [&](std::int64_t chunk, int worker) {
    const std::int64_t begin = chunk * kRows, n = std::min(kRows, vectors.length - begin);
    double* const sums = scratch[static_cast<std::size_t>(worker)].data();
    std::fill(sums, sums + n_out * kRows, 0.0);
    for (std::int64_t i = 0; i < n_in; ++i) {
      const double* const from = vectors.at(i) + begin;
      for (std::int64_t j = 0; j < n_out; ++j) {
        const double times = coefficients[j * n_in + i];
        double* const to = sums + j * kRows;
        for (std::int64_t row = 0; row < n; ++row) to[row] += times * from[row];
      }
    }
    for (std::int64_t j = 0; j < n_out; ++j) std::copy(sums + j * kRows, sums + j * kRows + n, vectors.at(j) + begin);
  });
}

}  // namespace stope::gram
