#include "gram/dense.hpp"

// Eigen asks the CPU for the sizes of its caches, and blocks its sums by them. With fixed sizes and one thread, its
// results depend on the matrix alone. This file is compiled with hidden symbols: another copy of Eigen in the same
// program, compiled in another way, cannot take the place of these functions.
#define EIGEN_NO_CPUID
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY
#include <Eigen/Dense>
#include <algorithm>

#include "stope/error.hpp"

namespace stope::gram {
namespace {

using Matrix = Eigen::MatrixXd;
using MatrixMap = Eigen::Map<Matrix>;
using ConstMatrixMap = Eigen::Map<const Matrix>;

}  // namespace

void symmetric_eigen(std::int64_t n, double* matrix, std::vector<double>& values) {
  values.assign(static_cast<std::size_t>(n), 0.0);
  if (n == 0) return;
  MatrixMap map(matrix, n, n);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(map);
  if (solver.info() != Eigen::Success) {
    throw Error(ErrorCode::internal,
                "the eigenvalues of a " + std::to_string(n) + " x " + std::to_string(n) + " matrix did not converge");
  }
  for (std::int64_t i = 0; i < n; ++i) {
    values[static_cast<std::size_t>(i)] = solver.eigenvalues()[n - 1 - i];
    map.col(i) = solver.eigenvectors().col(n - 1 - i);
  }
}

void upper_triangle(std::int64_t m, std::int64_t n, double* columns, double* r) {
  MatrixMap map(columns, m, n);
  Eigen::HouseholderQR<Eigen::Ref<Matrix>> qr(map);
  MatrixMap out(r, n, n);
  out.setZero();
  const std::int64_t rows = std::min(m, n);
  out.topRows(rows) = map.topRows(rows).triangularView<Eigen::Upper>();
}

void right_singular_vectors(std::int64_t n, const double* matrix, std::vector<double>& values, double* vectors) {
  values.assign(static_cast<std::size_t>(n), 0.0);
  if (n == 0) return;
  const ConstMatrixMap map(matrix, n, n);
  const Eigen::BDCSVD<Matrix> svd(map, Eigen::ComputeFullV);
  if (svd.info() != Eigen::Success) {
    throw Error(ErrorCode::internal, "the singular values of a " + std::to_string(n) + " x " + std::to_string(n) +
                                         " matrix did not converge");
  }
  for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = svd.singularValues()[i];
  MatrixMap(vectors, n, n) = svd.matrixV();
}

}  // namespace stope::gram
