// A matrix that can only be multiplied: y = A x, z = A^T y and z = A^T (A x), the last in one pass over A. PCA, least
// squares and the public GramOperator use nothing else. So they need not know where the matrix lies (memory, columns of
// a table, a file, GPUs) or whether it is centred.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gram/rows.hpp"
#include "stope/gram.hpp"
#include "stope/run.hpp"

namespace stope::gram {

/// The most vectors that one call multiplies.
inline constexpr std::int64_t kMostVectors = 8;

/// What a product is compared with: r = (values - f (A x)) f, with one factor f a row (empty: ones).
struct Target {
  std::span<const double> values, factors;
};

/// A has R rows and C columns, both at least 1. Vectors are doubles. A float32 matrix is widened, which is exact, and
/// all additions are in double precision.
///
/// Every result is a function of A, the vector and the options alone: the same bits for every back end, number of
/// threads, memory budget, piece of a stream and number of GPUs (docs/numerics/gram.md), and
///   gram(x) = multiply_transposed(multiply(x)), bit for bit, and
///   gram of several vectors = gram of each, bit for bit.
/// A zero in a result is +0.0; a NaN has sign 0. NaN and infinities of A and of the vector reach the results they
/// affect.
///
/// Every call throws Error: invalid_argument for vectors of a wrong length, cancelled within half a second of cancel(),
/// out_of_memory, device_lost, and the errors of the rows' source. After an error the operator can be used again,
/// except after device_lost. Only one call may run at a time.
class Operator {
 public:
  virtual ~Operator() = default;

  virtual std::int64_t n_rows() const = 0;
  virtual std::int64_t n_columns() const = 0;

  /// y = A x: n_columns() numbers in, n_rows() out. One pass.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  /// z = A^T y: n_rows() numbers in, n_columns() out. One pass.
  virtual void multiply_transposed(std::span<const double> y, std::span<double> z) = 0;
  /// z = A^T (A x): n_columns() numbers in and out. One pass.
  void gram(std::span<const double> x, std::span<double> z) { gram(x, z, 1); }
  /// Computes z for each of n_vectors (1 to kMostVectors) vectors x, which lie one behind the other. The results lie in
  /// the same order. The CPU takes one pass over A for all of them, a GPU one for each.
  virtual void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) = 0;

  /// z = A^T r of that residual r, and r itself unless that span is empty. The bits are those of the two products, in
  /// one pass where the back end can.
  virtual void residual(std::span<const double> x, const Target& target, std::span<double> z, std::span<double> r);
  /// z = A^T y, and A z. The same holds.
  virtual void outer(std::span<const double> y, std::span<double> z, std::span<double> image);

  /// Reports how the work was done so far.
  virtual GramReport report() const = 0;
};

/// Makes an operator on the back end that `run` asks for (STOPE_BACKEND, RunOptions::device; auto: the faster one),
/// within its memory budget. `options.shift` and `options.scale` are checked here (invalid_argument). `n_expected` is
/// the least number of vectors that it will multiply, as far as the caller knows.
std::unique_ptr<Operator> make_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                        const RunOptions& run, std::int64_t n_expected = 1);

}  // namespace stope::gram
