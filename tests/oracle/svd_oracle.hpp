// Slow references for PCA and least squares: a one-sided Jacobi singular value decomposition in long double, and the
// textbook's formulas on top of it. They share nothing with src/gram.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace stope::oracle {

using Real = long double;

/// A matrix of n rows and p columns; element (i, j) is values[j][i].
struct DenseMatrix {
  std::int64_t n = 0, p = 0;
  std::vector<std::vector<Real>> columns;

  DenseMatrix(std::int64_t rows, std::int64_t width)
      : n(rows),
        p(width),
        columns(static_cast<std::size_t>(width), std::vector<Real>(static_cast<std::size_t>(rows), 0)) {}
  Real& at(std::int64_t i, std::int64_t j) { return columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]; }
  Real at(std::int64_t i, std::int64_t j) const {
    return columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
  }
};

/// A = sum of s_i u_i v_i^T over min(n, p) triples, s descending. u_i of a zero s_i is zero where n >= p.
struct Svd {
  std::vector<Real> s;
  std::vector<std::vector<Real>> u, v;
};

inline Real dot(const std::vector<Real>& a, const std::vector<Real>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), Real{0});
}

/// Hestenes' method: rotates pairs of columns until all are orthogonal.
inline Svd svd(const DenseMatrix& a) {
  const bool wide = a.n < a.p;
  DenseMatrix w(wide ? a.p : a.n, wide ? a.n : a.p);
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (std::int64_t j = 0; j < a.p; ++j) (wide ? w.at(j, i) : w.at(i, j)) = a.at(i, j);
  }
  DenseMatrix v(w.p, w.p);
  for (std::int64_t j = 0; j < w.p; ++j) v.at(j, j) = 1;
  const auto rotate = [](std::vector<Real>& x, std::vector<Real>& y, Real c, Real s) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real t = x[i];
      x[i] = c * t - s * y[i];
      y[i] = s * t + c * y[i];
    }
  };
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool rotated = false;
    for (std::size_t i = 0; i + 1 < w.columns.size(); ++i) {
      for (std::size_t j = i + 1; j < w.columns.size(); ++j) {
        const Real aa = dot(w.columns[i], w.columns[i]), bb = dot(w.columns[j], w.columns[j]);
        const Real ab = dot(w.columns[i], w.columns[j]);
        if (std::fabs(ab) <= 1e-19L * std::sqrt(aa * bb) || ab == 0) continue;
        rotated = true;
        const Real zeta = (bb - aa) / (2 * ab);
        const Real t = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
        const Real c = 1 / std::sqrt(1 + t * t);
        rotate(w.columns[i], w.columns[j], c, c * t);
        rotate(v.columns[i], v.columns[j], c, c * t);
      }
    }
    if (!rotated) break;
  }
  std::vector<std::size_t> order(w.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return dot(w.columns[i], w.columns[i]) > dot(w.columns[j], w.columns[j]);
  });
  Svd result;
  for (const std::size_t i : order) {
    const Real s = std::sqrt(dot(w.columns[i], w.columns[i]));
    result.s.push_back(s);
    std::vector<Real> left = w.columns[i];
    for (Real& x : left) x = s > 0 ? x / s : 0;
    result.u.push_back(wide ? v.columns[i] : left);
    result.v.push_back(wide ? left : v.columns[i]);
  }
  return result;
}

/// Subtracts the weighted mean from every column; returns the means.
inline std::vector<Real> centre(DenseMatrix& a, const std::vector<Real>& weights) {
  std::vector<Real> means;
  const Real total = std::accumulate(weights.begin(), weights.end(), Real{0});
  for (auto& column : a.columns) {
    const Real mean = dot(column, weights) / total;
    for (Real& v : column) v -= mean;
    means.push_back(mean);
  }
  return means;
}

struct LinearFit {
  std::vector<Real> coefficients;
  Real intercept = 0, rss = 0;
  std::int64_t rank = 0;
  std::vector<Real> standard_errors;  // with full rank only
  Real intercept_standard_error = 0;
};

/// Returns the least-squares solution of least norm. Singular values up to `cut` times the largest count as zeros.
inline LinearFit least_squares(DenseMatrix x, std::vector<Real> y, const std::vector<Real>& weights, Real alpha,
                               bool intercept, Real cut) {
  std::vector<Real> means(static_cast<std::size_t>(x.p), 0);
  Real y_mean = 0;
  const Real total = std::accumulate(weights.begin(), weights.end(), Real{0});
  if (intercept) {
    means = centre(x, weights);
    y_mean = dot(y, weights) / total;
    for (Real& v : y) v -= y_mean;
  }
  Real n_counted = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const Real root = std::sqrt(weights[i]);
    n_counted += weights[i] > 0 ? 1 : 0;
    y[i] *= root;
    for (auto& column : x.columns) column[i] *= root;
  }
  const Svd d = svd(x);
  LinearFit fit;
  fit.coefficients.assign(static_cast<std::size_t>(x.p), 0);
  for (std::size_t i = 0; i < d.s.size(); ++i) {
    if (d.s[i] <= cut * d.s[0] || d.s[i] == 0) continue;
    ++fit.rank;
    const Real part = dot(d.u[i], y) * d.s[i] / (d.s[i] * d.s[i] + alpha);
    for (std::size_t j = 0; j < fit.coefficients.size(); ++j) fit.coefficients[j] += part * d.v[i][j];
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    Real residual = y[i];
    for (std::size_t j = 0; j < fit.coefficients.size(); ++j) residual -= x.columns[j][i] * fit.coefficients[j];
    fit.rss += residual * residual;
  }
  fit.intercept = y_mean - dot(means, fit.coefficients);
  const Real sigma2 = fit.rss / (n_counted - static_cast<Real>(x.p) - (intercept ? 1 : 0));
  fit.intercept_standard_error = 1 / total;
  for (std::size_t i = 0; i < d.s.size() && fit.rank == x.p; ++i) {
    fit.standard_errors.resize(static_cast<std::size_t>(x.p), 0);
    for (std::size_t j = 0; j < fit.coefficients.size(); ++j) {
      fit.standard_errors[j] += d.v[i][j] * d.v[i][j] / (d.s[i] * d.s[i]);
    }
    const Real along = dot(d.v[i], means);
    fit.intercept_standard_error += along * along / (d.s[i] * d.s[i]);
  }
  for (Real& e : fit.standard_errors) e = std::sqrt(e * sigma2);
  fit.intercept_standard_error = std::sqrt(fit.intercept_standard_error * sigma2);
  return fit;
}

}  // namespace stope::oracle
