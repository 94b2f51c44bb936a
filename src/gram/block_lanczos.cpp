#include "gram/block_lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "gram/dense.hpp"
#include "gram/orthogonal.hpp"

namespace stope::gram {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Keeps B Q = Q T + F C. Q has n_ orthonormal vectors, T is symmetric, F is the block of vectors behind Q, and C
// couples F to the last block of Q. A restart replaces Q by Ritz vectors and keeps F, so that the relation still holds.
// The next projection finds the coupling of F to all of them, because it is against the whole basis anyway.
class Lanczos {
 public:
  Lanczos(const SymmetricMap& map, std::int64_t dimension, const LanczosOptions& options, ThreadPool& pool,
          const CancelToken& cancel)
      : map_(map),
        options_(options),
        block_(std::min({options.block, options.n_wanted, dimension})),
        most_(lanczos_basis(dimension, options.n_wanted, options.block)),
        pool_(pool),
        cancel_(cancel),
        orthogonal_(pool, cancel, options.seed),
        memory_(checked::mul(dimension, most_ + block_)),
        vectors_{memory_.data(), dimension},
        projected_(static_cast<std::size_t>(most_ * most_)),
        coupling_(static_cast<std::size_t>(block_ * block_)) {}

  LanczosResult run() {
    random_block();
    bool checking = false;  // the wanted ones have converged once; random directions have been added since
    double found = 0.0;     // the sum of the wanted eigenvalues then
    for (;; ++result_.restarts) {
      cancel_.check();
      while (fresh_ > 0 && n_ + fresh_ <= most_) expand();
      ritz();
      const bool whole = n_ == vectors_.length;  // the basis spans the space: nothing is left out
      const bool settled = whole || converged();
      const double sum = sum_of_wanted();
      if (settled) {
        result_.converged = true;
        // A block of b vectors finds at most b directions of a repeated eigenvalue. If fewer are wanted than the block
        // is wide, none can be missed. Otherwise the rest of the space is searched from random vectors until that finds
        // no more.
        const bool all_seen = whole || block_ >= options_.n_wanted;
        if (all_seen || (checking && next_is_smaller() && sum - found <= 2 * options_.tolerance * scale_)) break;
        if (!checking || sum - found > 2 * options_.tolerance * scale_) {
          checking = true;
          found = sum;
          restart();
          random_block();
          continue;
        }
      }
      if (result_.restarts >= options_.max_restarts) {
        result_.converged = false;
        break;
      }
      restart();
    }
    return finish();
  }

 private:
  double& t(std::int64_t i, std::int64_t j) { return projected_[static_cast<std::size_t>(i * most_ + j)]; }

  void random_block() {
    const std::int64_t b = std::min(block_, vectors_.length - n_);
    for (std::int64_t j = 0; j < b; ++j) fill_random(vectors_.at(n_ + j), vectors_.length, orthogonal_.random());
    orthogonal_.project_out(vectors_, n_, b, nullptr);
    orthogonal_.orthonormalise(vectors_, n_, b, 0.0, coupling_.data());
    std::fill(coupling_.begin(), coupling_.end(), 0.0);
    fresh_ = b;
  }

  // Takes the new block into the basis and makes the next one from its images.
  void expand() {
    const std::int64_t b = fresh_;
    const std::int64_t n = n_ + b;
    map_(vectors_.at(n_), vectors_.at(n), b);
    result_.products += b;
    std::vector<double> parts(static_cast<std::size_t>(n * b), 0.0);
    orthogonal_.project_out(vectors_, n, b, parts.data());
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < b; ++j) {
        t(i, n_ + j) = parts[static_cast<std::size_t>(i * b + j)];
        t(n_ + j, i) = t(i, n_ + j);
      }
    }
    for (std::int64_t i = n_; i < n; ++i) {
      for (std::int64_t j = n_; j < i; ++j) t(i, j) = t(j, i) = 0.5 * (t(i, j) + t(j, i));
    }
    for (std::int64_t i = 0; i < n; ++i) scale_ = std::max(scale_, std::fabs(t(i, i)));
    last_ = b;
    fresh_ = std::min(b, vectors_.length - n);
    n_ = n;
    if (fresh_ == 0) return;
    coupling_.assign(static_cast<std::size_t>(b * b), 0.0);
    orthogonal_.orthonormalise(vectors_, n_, fresh_, 8 * kEpsilon * scale_, coupling_.data());
  }

  // Computes eigenvalues and vectors of T, and the residuals of the Ritz vectors.
  void ritz() {
    solution_.resize(static_cast<std::size_t>(n_ * n_));
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) solution_[static_cast<std::size_t>(i * n_ + j)] = t(i, j);
    }
    symmetric_eigen(n_, solution_.data(), values_, cancel_);
    residuals_.assign(static_cast<std::size_t>(n_), 0.0);
    if (fresh_ == 0) return;
    for (std::int64_t i = 0; i < n_; ++i) {
      double squares = 0.0;
      for (std::int64_t r = 0; r < last_; ++r) {
        double sum = 0.0;
        for (std::int64_t c = 0; c < last_; ++c) {
          sum += coupling_[static_cast<std::size_t>(r * last_ + c)] *
                 solution_[static_cast<std::size_t>(i * n_ + n_ - last_ + c)];
        }
        squares += sum * sum;
      }
      residuals_[static_cast<std::size_t>(i)] = std::sqrt(squares);
    }
  }

  double limit() const { return options_.tolerance * std::max(values_[0], 0.0); }

  bool converged() {
    const auto wanted = residuals_.begin() + options_.n_wanted;
    result_.residual = *std::max_element(residuals_.begin(), wanted);
    return result_.residual <= limit();
  }

  // Whether the first unwanted eigenvalue is known well enough to lie below the last wanted one.
  bool next_is_smaller() const {
    const auto k = static_cast<std::size_t>(options_.n_wanted);
    if (k >= values_.size()) return true;
    return residuals_[k] <= std::max(limit(), 0.1 * (values_[k - 1] - values_[k]));
  }

  double sum_of_wanted() const {
    double sum = 0.0;
    for (std::int64_t i = 0; i < options_.n_wanted; ++i) sum += values_[static_cast<std::size_t>(i)];
    return sum;
  }

  // Keeps the wanted Ritz vectors and half of the others. Those nearest to convergence speed up the rest.
  void restart() {
    const std::int64_t kept = std::min(options_.n_wanted + (n_ - options_.n_wanted) / 2, n_ - block_);
    combine(vectors_, n_, kept, solution_.data(), pool_, cancel_);
    for (std::int64_t j = 0; j < fresh_; ++j) {
      std::copy(vectors_.at(n_ + j), vectors_.at(n_ + j) + vectors_.length, vectors_.at(kept + j));
    }
    std::fill(projected_.begin(), projected_.end(), 0.0);
    for (std::int64_t i = 0; i < kept; ++i) t(i, i) = values_[static_cast<std::size_t>(i)];
    n_ = kept;
  }

  LanczosResult finish() {
    const std::int64_t wanted = options_.n_wanted;
    combine(vectors_, n_, wanted, solution_.data(), pool_, cancel_);
    for (std::int64_t j = 0; j < wanted; ++j) {  // after many restarts the lengths have drifted by some last digits
      double* const vector = vectors_.at(j);
      const double length = norm(vector, vectors_.length);
      for (std::int64_t row = 0; row < vectors_.length; ++row) vector[row] /= length;
    }
    result_.values.assign(values_.begin(), values_.begin() + wanted);
    const double largest = std::max(values_[0], 0.0);
    result_.residual = *std::max_element(residuals_.begin(), residuals_.begin() + wanted);
    if (largest > 0.0) result_.residual /= largest;
    result_.vectors = Buffer<double>::borrow(memory_.data(), checked::mul(vectors_.length, wanted),
                                             std::make_shared<Buffer<double>>(memory_));
    return std::move(result_);
  }

  const SymmetricMap& map_;
  const LanczosOptions& options_;
  std::int64_t block_, most_;
  ThreadPool& pool_;
  const CancelToken& cancel_;
  Orthogonaliser orthogonal_;
  Buffer<double> memory_;
  Vectors vectors_;
  std::vector<double> projected_, coupling_, solution_, values_, residuals_;
  std::int64_t n_ = 0;      // vectors of the basis
  std::int64_t fresh_ = 0;  // vectors of the block behind it
  std::int64_t last_ = 0;   // vectors of the basis's last block
  double scale_ = 0.0;      // a lower bound of the largest eigenvalue
  LanczosResult result_;
};

}  // namespace

std::int64_t lanczos_basis(std::int64_t dimension, std::int64_t n_wanted, std::int64_t block) {
  // Room for the wanted vectors and at least six blocks. Shorter cycles restart too often; longer ones spend more time
  // on orthogonalising than on products. If that is nearly the whole space, the basis is the whole space, which needs
  // no restarts.
  const std::int64_t b = std::min(block, n_wanted);
  const std::int64_t basis = n_wanted + std::max({6 * b, n_wanted, std::int64_t{16}});
  return dimension <= basis + 2 * b ? dimension : basis;
}

LanczosResult largest_eigenpairs(const SymmetricMap& map, std::int64_t dimension, const LanczosOptions& options,
                                 ThreadPool& pool, const CancelToken& cancel) {
  return Lanczos(map, dimension, options, pool, cancel).run();
}

}  // namespace stope::gram
