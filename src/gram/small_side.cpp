#include "gram/small_side.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "gram/dense.hpp"
#include "gram/orthogonal.hpp"

namespace stope::gram {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Sums of products lose half of the digits. An eigenvalue below this share of the largest has fewer than eight right.
// Above it, one refinement gives full accuracy.
constexpr double kFarFromDependent = 1e-8;

// Rows of the tall matrix (M, or its transposed) that one piece factorises. It depends on the width alone, so that the
// factor does, too. It is four times the width: the triangles, a fifth of what is factorised, are the price of pieces.
std::int64_t piece_rows(std::int64_t q) {
  return std::max<std::int64_t>(4 * q, 256);
}

void write_piece(const NumericColumns& matrix, Side side, std::int64_t begin, std::int64_t end, std::int64_t stride,
                 double* out) {
  if (side == Side::columns) {
    matrix.write_columns({0, matrix.n_columns(), begin, end}, out, stride);
  } else {
    matrix.write_rows({begin, end - begin, 0, matrix.n_rows()}, out, stride);
  }
}

// Computes R of the QR factorisation of M (or its transposed) over the square roots of the ridge. Pieces are factorised
// in parallel, their triangles one after the other, in order.
Buffer<double> triangle_of(const NumericColumns& matrix, Side side, const std::vector<double>& ridge, ThreadPool& pool,
                           const RunOptions& run) {
  const std::int64_t q = side == Side::columns ? matrix.n_columns() : matrix.n_rows();
  const std::int64_t depth = side == Side::columns ? matrix.n_rows() : matrix.n_columns();
  const std::int64_t piece = piece_rows(q), n_pieces = checked::ceil_div(depth, piece);
  const std::int64_t at_once = std::min<std::int64_t>(pool.size(), n_pieces);
  std::vector<Buffer<double>> pieces, triangles;
  for (std::int64_t i = 0; i < at_once; ++i) {
    pieces.emplace_back(checked::mul(piece, q));
    triangles.emplace_back(q * q);
  }
  Buffer<double> total(q * q), stacked(2 * q * q);
  std::fill(total.begin(), total.end(), 0.0);
  const auto merge = [&](const double* triangle) {
    for (std::int64_t j = 0; j < q; ++j) {
      std::copy(total.data() + j * q, total.data() + (j + 1) * q, stacked.data() + j * 2 * q);
      std::copy(triangle + j * q, triangle + (j + 1) * q, stacked.data() + j * 2 * q + q);
    }
    upper_triangle(2 * q, q, stacked.data(), total.data(), run.cancel);
  };
  if (!ridge.empty()) {
    for (std::int64_t j = 0; j < q; ++j) {
      total[j * q + j] = std::sqrt(ridge[side == Side::columns ? static_cast<std::size_t>(j) : 0]);
    }
  }
  for (std::int64_t round = 0; round < n_pieces; round += at_once) {
    const std::int64_t n_here = std::min(at_once, n_pieces - round);
    pool.parallel_for(n_here, run.cancel, [&](std::int64_t task, int) {
      const std::int64_t begin = (round + task) * piece, end = std::min(begin + piece, depth);
      double* const values = pieces[static_cast<std::size_t>(task)].data();
      write_piece(matrix, side, begin, end, end - begin, values);
      upper_triangle(end - begin, q, values, triangles[static_cast<std::size_t>(task)].data(), run.cancel);
    });
    for (std::int64_t i = 0; i < n_here; ++i) merge(triangles[static_cast<std::size_t>(i)].data());
    tell_progress(run, "qr", std::min((round + n_here) * piece, depth), depth);
  }
  return total;
}

std::int64_t count_above(const std::vector<double>& values, double cut) {
  return std::count_if(values.begin(), values.end(), [&](double v) { return v > cut; });
}

// Takes Cholesky's factor for the decomposition if it proves that all eigenvalues but the known zeros are far from
// zero: trace(A) trace(A^-1) is at least the ratio of the largest and the smallest. The directions of known zeros get
// the mean eigenvalue; right-hand sides have no part along them.
bool factorise(const NumericColumns& matrix, Side side, std::int64_t n_known_zeros, std::int64_t q,
               const double* products, const CancelToken& cancel, SmallSide& result) {
  Buffer<double> factor(checked::mul(q, q));
  std::copy_n(products, q * q, factor.data());
  const auto trace = [&] {
    double sum = 0.0;
    for (std::int64_t j = 0; j < q; ++j) sum += factor[j * q + j];
    return sum;
  };
  const double mean = trace() / static_cast<double>(q);
  std::int64_t rank = q;
  for (std::int64_t j = 0; j < q; ++j) {
    if (factor[j * q + j] != 0.0) continue;
    factor[j * q + j] = mean;
    --rank;
  }
  if (side == Side::rows && n_known_zeros > 0) {
    const auto root = [&](std::int64_t i) {
      return matrix.row_factor.empty() ? 1.0 : matrix.row_factor[static_cast<std::size_t>(i)];
    };
    double squares = 0.0;
    for (std::int64_t i = 0; i < q; ++i) squares += root(i) * root(i);
    for (std::int64_t i = 0; i < q; ++i) {
      for (std::int64_t j = 0; j < q; ++j) factor[i * q + j] += mean * (root(i) * root(j)) / squares;
    }
    --rank;
  }
  const double spread = trace() * cholesky(q, factor.data(), cancel);
  if (!(spread < 1.0 / kFarFromDependent)) return false;
  result.factor = std::move(factor);
  result.rank = rank;
  return true;
}

}  // namespace

std::int64_t small_side_bytes(std::int64_t n_rows, std::int64_t n_columns, int threads) {
  const std::int64_t q = std::min(n_rows, n_columns), depth = std::max(n_rows, n_columns);
  const std::int64_t matrix = checked::mul(8, checked::mul(q, q));
  const std::int64_t products =
      checked::add(matrix, std::max(checked::mul(2, matrix), cross_product_bytes(q, q, depth, threads)));
  const std::int64_t piece = checked::mul(8, checked::mul(q, checked::add(piece_rows(q), q)));
  const std::int64_t at_once = std::min<std::int64_t>(threads, checked::ceil_div(depth, piece_rows(q)));
  return checked::add(products, checked::add(checked::mul(at_once, piece), checked::mul(9, matrix)));
}

std::vector<double> SmallSide::solve(const std::vector<double>& g) const {
  const auto q = static_cast<std::int64_t>(g.size());
  if (!factor.empty()) {
    std::vector<double> x = g;
    solve_cholesky(q, factor.data(), x.data());
    return x;
  }
  std::vector<double> x(g.size(), 0.0);
  for (std::int64_t i = 0; i < rank; ++i) {
    const double* const vector = vectors.data() + i * q;
    const double part = dot(vector, g.data(), q) / values[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < q; ++j) x[static_cast<std::size_t>(j)] += part * vector[j];
  }
  return x;
}

SmallSide decompose_small_side(const NumericColumns& matrix, Side side, Wanted wanted, const std::vector<double>& ridge,
                               std::int64_t n_known_zeros, ThreadPool& pool, const RunOptions& run) {
  const std::int64_t q = side == Side::columns ? matrix.n_columns() : matrix.n_rows();
  const std::int64_t depth = side == Side::columns ? matrix.n_rows() : matrix.n_columns();
  SmallSide result;
  result.vectors = Buffer<double>(checked::mul(q, q));
  double* const products = result.vectors.data();
  PhaseProgress progress(run, "normal equations", depth);
  if (side == Side::columns) {
    const DownTheRows panel(matrix);
    cross_product(panel, panel, depth, pool, run.cancel, products, &progress);
  } else {
    const AcrossTheColumns panel(matrix);
    cross_product(panel, panel, depth, pool, run.cancel, products, &progress);
  }
  if (!ridge.empty()) {
    for (std::int64_t j = 0; j < q; ++j)
      products[j * q + j] += ridge[side == Side::columns ? static_cast<std::size_t>(j) : 0];
  }
  if (wanted == Wanted::solutions && factorise(matrix, side, n_known_zeros, q, products, run.cancel, result)) {
    result.vectors = {};
    return result;
  }
  symmetric_eigen(q, products, result.values, run.cancel, &run);
  result.rank = count_above(result.values, kFarFromDependent * std::max(result.values[0], 0.0));
  if (result.rank == q || result.rank == q - n_known_zeros) return result;

  const Buffer<double> triangle = triangle_of(matrix, side, ridge, pool, run);
  right_singular_vectors(q, triangle.data(), result.values, result.vectors.data(), run.cancel);
  result.rank = count_above(result.values, kEpsilon * static_cast<double>(std::max(q, depth)) * result.values[0]);
  for (double& value : result.values) value *= value;
  result.by_qr = true;
  return result;
}

}  // namespace stope::gram
