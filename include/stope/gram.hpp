// The gram operator: z = A^T (A x) in one pass over A, with y = A x and z = A^T y.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stope/array.hpp"
#include "stope/backend_report.hpp"
#include "stope/run.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// With these options the operator multiplies A', a'_ij = (a_ij - shift_j) * scale_j. A' is never formed.
struct GramOptions {
  std::vector<double> shift = {};  ///< one per column (e.g. means); empty = zeros
  std::vector<double> scale = {};  ///< one per column; empty = ones
};

/// How an operator works and what it has done. Seconds are those of all calls so far.
struct GramReport : BackendReport {
  std::string method;       ///< how it goes through the matrix
  std::int64_t passes = 0;  ///< passes over A, by all calls so far
  std::int64_t bytes = 0;   ///< bytes of A's elements that all calls so far have read
};

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const GramReport& report);
std::string to_text(const GramReport& report);

/// A matrix that is only multiplied with vectors. Vectors are doubles. Elements of a float32 matrix are widened, and
/// products and sums are computed in double precision. The results have the same bits on every back end, with any
/// number of threads or GPUs and any memory limit. docs/numerics/gram.md bounds their distance from the exact results.
/// A zero in a result is +0.0; NaN and infinities reach what they touch.
///
/// The matrix is float32 or float64 in the host's memory. A row-major one (column_stride 1, rows that do not overlap)
/// with an owner is read where it lies and shares the owner. Any other is first copied by rows, within the memory
/// limit, because every product reads it again. Calls must not overlap.
///
/// Errors: unsupported for other element types, which the caller converts once, and for a GPU's memory;
/// invalid_argument (a matrix without rows or columns, a vector of a wrong length, not one shift or scale per column),
/// cancelled, out_of_memory, device_unavailable, device_lost.
class GramOperator {
 public:
  explicit GramOperator(const ArrayView& matrix, const GramOptions& options = {}, const RunOptions& run = {});
  ~GramOperator();
  GramOperator(GramOperator&&) noexcept;
  GramOperator& operator=(GramOperator&&) noexcept;

  std::int64_t n_rows() const;
  std::int64_t n_columns() const;

  /// y = A x: n_columns numbers in, n_rows out.
  void multiply(std::span<const double> x, std::span<double> y);
  /// z = A^T y: n_rows numbers in, n_columns out.
  void multiply_transposed(std::span<const double> y, std::span<double> z);
  /// z = A^T (A x): n_columns numbers in and out. Multiplies n_vectors (1 to 8) vectors, stored one after the other, in
  /// one pass.
  void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors = 1);

  GramReport report() const;

 private:
  class [[gnu::visibility("hidden")]] Impl;
  std::unique_ptr<Impl> impl_;
};

/// One number of a result that exceeds its bound.
struct GramError {
  std::int64_t column = 0;
  double found = 0.0;
  double wanted = 0.0;
  double bound = 0.0;  ///< how far from `wanted` a float32 result of the operator can be
};

struct GramCheck {
  std::int64_t n_wrong = 0;
  std::vector<GramError> first;  ///< the first wrong numbers, at most ten
};

/// Compares z with A^T (A x) computed by two plain loops in double precision, on one thread, that share no code with
/// the operator. A number is wrong if float32 rounding and the roundings of both computations cannot explain its error
/// (docs/numerics/gram.md). NaN and infinities must be the same. The matrix may be what a GramOperator takes; a
/// row-major one is not copied.
GramCheck check_gram(const ArrayView& matrix, std::span<const float> x, std::span<const float> z,
                     const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
