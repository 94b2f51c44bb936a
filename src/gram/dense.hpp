// Decompositions of small dense matrices (Eigen, private to dense.cpp). One thread gives the same bits on every
// machine. All poll the cancel token before every column and every rotation; only a product of large matrices inside
// Eigen is one step.
#pragma once

#include <cstdint>
#include <vector>

#include "stope/run.hpp"

namespace stope::gram {

/// Computes the eigenvalues of a symmetric n x n matrix, descending, and orthonormal eigenvectors, vector i at
/// vectors[i * n]. The vectors overwrite `matrix`. Throws internal if the iteration does not converge (it does for
/// finite matrices). Takes about 9 n^3 multiplications. `told`, if given, is told of the progress.
void symmetric_eigen(std::int64_t n, double* matrix, std::vector<double>& values, const CancelToken& cancel,
                     const RunOptions* told = nullptr);

/// Computes R of the QR factorisation of the m x n matrix `columns` (column-major, overwritten), m >= 1. R is upper
/// triangular, n x n, column-major; rows beyond m are zeros.
void upper_triangle(std::int64_t m, std::int64_t n, double* columns, double* r, const CancelToken& cancel);

/// Computes singular values (descending) and right singular vectors (vector i at vectors[i * n]) of an n x n matrix,
/// column-major.
void right_singular_vectors(std::int64_t n, const double* matrix, std::vector<double>& values, double* vectors,
                            const CancelToken& cancel);

/// Replaces the lower triangle of a positive definite n x n matrix by its Cholesky factor L (column-major). Returns the
/// trace of the inverse, which is |L^-1|^2; infinity if the matrix is not positive definite.
double cholesky(std::int64_t n, double* matrix, const CancelToken& cancel);

/// Solves L L^T x = x in place.
void solve_cholesky(std::int64_t n, const double* factor, double* x);

}  // namespace stope::gram
