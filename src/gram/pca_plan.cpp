#include "gram/pca_plan.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "gram/block_lanczos.hpp"
#include "gram/cross_product.hpp"
#include "gram/operator.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

// Nanoseconds per multiplication and addition on one thread. They are CPU times on a shared Sapphire Rapids: tiles from
// 1M x 50 to 20,000 x 1,000, eigenvectors of 300 to 1,000 features, the operator at 2,000 x 2,000. Only their ratios
// matter.
constexpr double kFormNs = 0.04;     // tiles of a^T b
constexpr double kDenseNs = 0.075;   // Eigen's eigenvectors, always one thread
constexpr double kProductNs = 0.11;  // the operator, eight vectors at once
constexpr double kDenseTerms = 9.0;  // times q^3

constexpr double kBases = 3.0;  // products of block Lanczos, in multiples of its basis
// A formed matrix is decomposed whole below this order, or where more than one part in kPartForLanczos of its
// eigenvectors is wanted.
constexpr std::int64_t kLeastForLanczos = 400, kPartForLanczos = 8;

double seconds_formed(double n, double p, double q, double k, std::int64_t basis, bool few, int threads) {
  const double form = 0.5 * n * p * q + (n < p ? n * p * k : 0.0);
  const double few_products = kBases * static_cast<double>(basis) * 2.0 * q * q;  // tiles of 16 for 8 vectors
  const double whole = kDenseTerms * q * q * q * kDenseNs;
  return 1e-9 * (form * kFormNs / threads + (few ? few_products * kFormNs / threads : whole));
}

// The projections of a product cost in proportion to the length of the basis.
double seconds_lanczos(double n, double p, std::int64_t basis, int threads) {
  const double products = kBases * static_cast<double>(basis);
  return 1e-9 * products * (2.0 * n * p * kProductNs + 4.0 * p * static_cast<double>(basis) * kFormNs) / threads;
}

}  // namespace

bool few_of_many(const PcaShape& shape) {
  const std::int64_t q = std::min(shape.n_rows, shape.n_columns);
  return !shape.share && q >= kLeastForLanczos && shape.n_wanted <= q / kPartForLanczos;
}

std::int64_t lanczos_block() {
  return kMostVectors;
}

PcaPlan plan_pca(const PcaShape& shape, std::int64_t budget, int threads) {
  const std::int64_t q = std::min(shape.n_rows, shape.n_columns);
  const bool wide = shape.n_rows < shape.n_columns;
  const std::int64_t k = shape.share ? std::min(q, kFirstOfShare) : shape.n_wanted;
  // The matrix and the components; then the partial sums or, when these are gone, the copy in the solver and the
  // eigenvectors.
  const std::int64_t components = checked::mul(8, checked::mul(shape.n_wanted, shape.n_columns));
  const std::int64_t depth = std::max(shape.n_rows, shape.n_columns);
  const std::int64_t matrix = checked::mul(8, checked::mul(q, q));
  const std::int64_t beside = std::max(checked::mul(2, matrix), cross_product_bytes(q, q, depth, threads));
  const std::int64_t formed = checked::add(checked::add(matrix, beside), components);
  const std::int64_t basis = lanczos_basis(shape.n_columns, k, lanczos_block());
  const std::int64_t iterated =
      checked::add(checked::mul(checked::mul(8, shape.n_columns), checked::add(basis, lanczos_block())),
                   checked::mul(24, checked::mul(basis, basis)));
  const std::string side =
      wide ? "the products of " + std::to_string(q) + " rows" : "the covariances of " + std::to_string(q) + " features";
  PcaPlan form{wide ? PcaMethod::outer : PcaMethod::covariance,
               side + " take " + std::to_string(formed) + " bytes and are the faster way", formed};
  const bool all = !shape.share && 2 * k > q;  // the basis would span the space
  if (formed <= budget) {
    if (all) return {form.method, side + " fit the memory, and most components are wanted", formed};
    const auto n = static_cast<double>(shape.n_rows), p = static_cast<double>(shape.n_columns);
    const double one =
        seconds_formed(n, p, static_cast<double>(q), static_cast<double>(k), basis, few_of_many(shape), threads);
    // A search for a share of the variance is repeated with more and more components.
    const double other = seconds_lanczos(n, p, basis, threads) * (shape.share ? 4 : 1);
    if (iterated > budget || one <= other) return form;
    return {PcaMethod::lanczos, "faster for " + std::to_string(k) + " components than " + side, iterated};
  }
  if (iterated <= budget) {
    return {PcaMethod::lanczos, side + " would take " + std::to_string(formed) + " bytes, more than the memory budget",
            iterated};
  }
  refuse_memory("PCA (fewer components need less) needs", std::min(formed, iterated), budget);
}

}  // namespace stope::gram
