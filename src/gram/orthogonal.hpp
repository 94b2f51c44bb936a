// Orthonormal sets of long vectors: projections and random directions, with sums of a fixed shape.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "stope/run.hpp"

namespace stope::gram {

/// Vectors of `length` doubles one behind the other.
struct Vectors {
  double* values;
  std::int64_t length;
  double* at(std::int64_t j) const { return values + j * length; }
};

double dot(const double* a, const double* b, std::int64_t length);
/// Euclidean length, scaled so that nothing overflows or vanishes.
double norm(const double* a, std::int64_t length);

/// Makes every entry uniform in (-1, 1).
void fill_random(double* vector, std::int64_t length, Random& random);

class Orthogonaliser {
 public:
  Orthogonaliser(ThreadPool& pool, const CancelToken& cancel, std::uint64_t seed)
      : pool_(pool), cancel_(cancel), random_(seed) {}

  Random& random() { return random_; }

  /// Takes the parts along the orthonormal vectors [0, n_basis) out of the n_vectors that follow them. It does so
  /// twice, because once does not suffice where little is left. What was taken out is added to coefficients[i *
  /// n_vectors + j], unless that is null.
  void project_out(Vectors basis, std::int64_t n_basis, std::int64_t n_vectors, double* coefficients);

  /// Makes the n_vectors behind the n_basis orthonormal ones orthonormal among themselves and to those. They must have
  /// been projected. `upper` (n_vectors x n_vectors, row-major) gets R: vectors before = vectors after * R. If no more
  /// than `negligible` is left of a vector, it becomes a random direction, with a row of zeros in R.
  void orthonormalise(Vectors basis, std::int64_t n_basis, std::int64_t n_vectors, double negligible, double* upper);

 private:
  void random_direction(Vectors basis, std::int64_t at);

  ThreadPool& pool_;
  const CancelToken& cancel_;
  Random random_;
};

/// Replaces the vectors [0, n_out) by sums of [0, n_in): new_j = sum over i of old_i * coefficients[j * n_in + i].
/// n_out <= n_in.
void combine(Vectors vectors, std::int64_t n_in, std::int64_t n_out, const double* coefficients, ThreadPool& pool,
             const CancelToken& cancel);

}  // namespace stope::gram
