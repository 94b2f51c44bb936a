// The largest eigenvalues of a symmetric map that can only be applied. The method is block Lanczos with full
// re-orthogonalisation, thick restarts, and a search for what a block cannot see (docs/numerics/pca.md).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/thread_pool.hpp"
#include "stope/buffer.hpp"
#include "stope/run.hpp"

namespace stope::gram {

/// Computes y = B x for n_vectors vectors one behind the other. B is symmetric and positive semi-definite.
using SymmetricMap = std::function<void(const double* x, double* y, std::int64_t n_vectors)>;

struct LanczosOptions {
  std::int64_t n_wanted = 1;  ///< 1 .. dimension
  std::int64_t block = 8;     ///< vectors multiplied at once
  double tolerance = 1e-12;   ///< of |B x - theta x|, as a share of the largest eigenvalue
  std::int64_t max_restarts = 1000;
  std::uint64_t seed = 0;
};

struct LanczosResult {
  std::vector<double> values;  ///< n_wanted, descending
  Buffer<double> vectors;      ///< orthonormal, one behind the other
  std::int64_t products = 0;   ///< multiplications of a vector with B
  std::int64_t restarts = 0;
  double residual = 0.0;  ///< the largest |B x - theta x| of the wanted ones, as a share of the largest eigenvalue
  bool converged = false;
};

/// The most vectors that the basis has.
std::int64_t lanczos_basis(std::int64_t dimension, std::int64_t n_wanted, std::int64_t block);

LanczosResult largest_eigenpairs(const SymmetricMap& map, std::int64_t dimension, const LanczosOptions& options,
                                 ThreadPool& pool, const CancelToken& cancel);

}  // namespace stope::gram
