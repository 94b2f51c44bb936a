// Computes the measures again, slowly, from the definitions in docs/NUMERICS.md. Attributes missing in either row are
// dropped first, then the formula is evaluated over the rest. It shares no code with src/knn/measure.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "stope/table.hpp"

namespace stope::oracle {

/// Two rows over the attributes that count. x is the training row.
struct Pair {
  std::vector<double> x, y, w, range;
  std::vector<bool> nominal, binominal;
  std::vector<double> n_values;
  std::size_t size() const { return x.size(); }
};

inline const double kNaN = std::numeric_limits<double>::quiet_NaN();

inline Pair pair_of(const Table& train, std::int64_t row, const Table& query, std::int64_t query_row,
                    const std::vector<double>& weights, bool ranges) {
  Pair pair;
  for (std::size_t c = 0; c < train.columns.size(); ++c) {
    const Column& column = train.columns[c];
    if (column.role != Role::regular) continue;
    const double weight = weights.empty() ? 1.0 : weights[c];
    if (weight == 0.0) continue;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::int64_t r = 0; ranges && r < column.size(); ++r) {
      if (column.missing(r)) continue;
      low = std::min(low, column.at(r));
      high = std::max(high, column.at(r));
    }
    pair.x.push_back(column.at(row));
    pair.y.push_back(query.columns[c].at(query_row));
    pair.w.push_back(weight);
    pair.range.push_back(column.nominal() || low > high ? 0.0 : high - low);
    pair.nominal.push_back(column.nominal());
    pair.binominal.push_back(column.type == ValueType::binominal);
    pair.n_values.push_back(static_cast<double>(column.values.size()));
  }
  return pair;
}

inline Pair present(const Pair& all) {
  Pair p;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::isnan(all.x[i]) || std::isnan(all.y[i])) continue;
    p.x.push_back(all.x[i]);
    p.y.push_back(all.y[i]);
    p.w.push_back(all.w[i]);
    p.range.push_back(all.range[i]);
    p.nominal.push_back(all.nominal[i]);
    p.binominal.push_back(all.binominal[i]);
    p.n_values.push_back(all.n_values[i]);
  }
  return p;
}

template <class Term>
double sum(const Pair& p, const Term& term) {
  double total = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) total += p.w[i] * term(i);
  return total;
}

inline double mismatch(double a, double b) {
  return a != b ? 1.0 : 0.0;
}

/// Measures of products and of truth values, over the attributes that both rows have.
inline double of_products(const std::string& name, const Pair& p) {
  const double sx = sum(p, [&](std::size_t i) { return p.x[i]; });
  const double sy = sum(p, [&](std::size_t i) { return p.y[i]; });
  const double xy = sum(p, [&](std::size_t i) { return p.x[i] * p.y[i]; });
  const double xx = sum(p, [&](std::size_t i) { return p.x[i] * p.x[i]; });
  const double yy = sum(p, [&](std::size_t i) { return p.y[i] * p.y[i]; });
  const auto truth = [&](bool both) {
    return sum(p, [&](std::size_t i) {
      const bool a = p.x[i] != 0.0, b = p.y[i] != 0.0;
      return (both ? a && b : a != b) ? 1.0 : 0.0;
    });
  };
  const double cosine = std::clamp(xy / (std::sqrt(xx) * std::sqrt(yy)), -1.0, 1.0);
  if (name == "cosine") return 1.0 - (xx > 0.0 && yy > 0.0 ? cosine : xx == 0.0 || yy == 0.0 ? 0.0 : kNaN);
  if (name == "cosine-similarity") {
    return std::acos(xx > 0.0 && yy > 0.0 ? cosine : xx == 0.0 && yy == 0.0 ? 1.0 : 0.0);
  }
  if (name == "jaccard") {
    const double nonzero = truth(true) + truth(false);
    return nonzero == 0.0 ? 0.0 : truth(false) / nonzero;
  }
  if (name == "dice") return truth(false) / (2.0 * truth(true) + truth(false));
  if (name == "dice-similarity") return -(2.0 * xy / (sx + sy));
  if (name == "jaccard-similarity") return sx + sy - xy == 0.0 ? kNaN : -(xy / (sx + sy - xy));
  if (name == "overlap-similarity") {
    return -(sum(p, [&](std::size_t i) { return std::min(p.x[i], p.y[i]); }) / std::min(sx, sy));
  }
  if (name == "inner-product") return -xy;
  if (name == "max-product") {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < p.size(); ++i) largest = std::max(largest, p.w[i] * (p.x[i] * p.y[i]));
    return largest > 0.0 ? -largest : kNaN;
  }
  throw std::logic_error("no oracle for " + name);
}

/// Measures that skip missing attributes and are NaN where none is left.
inline double skipping(const std::string& name, const Pair& all, double p_parameter) {
  const Pair p = present(all);
  const std::size_t n = p.size();
  if (n == 0) return kNaN;
  const auto diff = [&](std::size_t i) { return p.x[i] - p.y[i]; };
  const auto squares = [&] { return sum(p, [&](std::size_t i) { return diff(i) * diff(i); }); };
  const double weight = std::accumulate(p.w.begin(), p.w.end(), 0.0);
  const auto unequal = [&] { return sum(p, [&](std::size_t i) { return mismatch(p.x[i], p.y[i]); }); };
  const auto mixed_squares = [&] {
    return sum(p, [&](std::size_t i) { return p.nominal[i] ? mismatch(p.x[i], p.y[i]) : diff(i) * diff(i); });
  };
  if (name == "mixed-euclidean") return std::sqrt(mixed_squares());
  if (name == "gower") {
    return sum(p,
               [&](std::size_t i) {
                 return p.nominal[i] || p.range[i] == 0.0 ? mismatch(p.x[i], p.y[i]) : std::fabs(diff(i)) / p.range[i];
               }) /
           weight;
  }
  if (name == "hamming") return unequal() / weight;
  if (name == "nominal-distance") return unequal();
  if (name == "euclidean") return std::sqrt(squares());
  if (name == "sqeuclidean") return squares();
  if (name == "nan-euclidean") {
    return std::sqrt(mixed_squares() / weight * std::accumulate(all.w.begin(), all.w.end(), 0.0));
  }
  if (name == "manhattan") return sum(p, [&](std::size_t i) { return std::fabs(diff(i)); });
  if (name == "chebyshev") {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double term = p.w[i] * std::fabs(diff(i));
      if (std::isnan(term)) return kNaN;
      largest = std::max(largest, term);
    }
    return largest;
  }
  if (name == "minkowski") {
    return std::pow(sum(p, [&](std::size_t i) { return std::pow(std::fabs(diff(i)), p_parameter); }),
                    1.0 / p_parameter);
  }
  if (name == "canberra") {
    return sum(p, [&](std::size_t i) {
      const double d = std::fabs(p.x[i]) + std::fabs(p.y[i]);
      return d == 0.0 ? 0.0 : std::fabs(diff(i)) / d;
    });
  }
  if (name == "camberra") {
    return sum(p, [&](std::size_t i) { return std::fabs(diff(i)) / std::fabs(p.x[i] + p.y[i]); });
  }
  if (name == "braycurtis") {
    const double total = sum(p, [&](std::size_t i) { return std::fabs(p.x[i]) + std::fabs(p.y[i]); });
    return total == 0.0 ? 0.0 : sum(p, [&](std::size_t i) { return std::fabs(diff(i)); }) / total;
  }
  return of_products(name, p);
}

/// Measures with a missing-value rule of their own.
inline double whole(const std::string& name, const Pair& p) {
  const std::size_t n = p.size();
  const auto term_sum = [&](const std::function<double(double, double)>& term) {
    return sum(p, [&](std::size_t i) { return term(p.x[i], p.y[i]); });
  };
  if (name == "heom") {
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      double t = 1.0;
      if (!std::isnan(p.x[i]) && !std::isnan(p.y[i])) {
        t = p.nominal[i] || p.range[i] == 0.0 ? mismatch(p.x[i], p.y[i]) : std::fabs(p.x[i] - p.y[i]) / p.range[i];
      }
      total += p.w[i] * (t * t);
    }
    return std::sqrt(total);
  }
  if (name == "correlation" || name == "correlation-similarity") {
    const double weight = std::accumulate(p.w.begin(), p.w.end(), 0.0);
    const double mx = term_sum([](double x, double) { return x; }) / weight;
    const double my = term_sum([](double, double y) { return y; }) / weight;
    const double r = term_sum([&](double x, double y) { return (x - mx) * (y - my); }) /
                     std::sqrt(term_sum([&](double x, double) { return (x - mx) * (x - mx); }) *
                               term_sum([&](double, double y) { return (y - my) * (y - my); }));
    return name == "correlation" ? 1.0 - (r > 1.0 ? 1.0 : r < -1.0 ? -1.0 : r) : -r;
  }
  if (name == "haversine") {
    const double a = std::sin(0.5 * (p.x[0] - p.y[0])), b = std::sin(0.5 * (p.x[1] - p.y[1]));
    return 2.0 * std::asin(std::sqrt(a * a + std::cos(p.x[0]) * std::cos(p.y[0]) * b * b));
  }
  if (name == "generalized-i") {
    return term_sum([](double x, double y) { return x * std::log(x / y); }) -
           term_sum([](double x, double y) { return x - y; });
  }
  if (name == "kl") return term_sum([](double x, double y) { return x * (std::log(x / y) / std::log(2.0)); });
  if (name == "itakura-saito") return term_sum([](double x, double y) { return x / y - std::log(x / y) - 1.0; });
  if (name == "logarithmic-loss") return term_sum([](double x, double y) { return x * std::log(x / y) - (x - y); });
  if (name == "logistic-loss") {
    return term_sum(
        [](double x, double y) { return x * std::log(x / y) + (1.0 - x) * std::log((1.0 - x) / (1.0 - y)); });
  }
  if (name == "squared-loss") return term_sum([](double x, double y) { return (x - y) * (x - y); });
  if (name == "kernel-euclidean") {
    const double d = term_sum([](double x, double y) { return (x - y) * (x - y); });
    const double zero = term_sum([](double x, double) { return (x - x) * (x - x); });
    const double zero_y = term_sum([](double, double y) { return (y - y) * (y - y); });
    return std::exp(-zero) + std::exp(-zero_y) - 2.0 * std::exp(-d);
  }
  double e = 0.0, f = 0.0, u = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool known = p.x[i] >= 0.0 && p.y[i] >= 0.0;
    if (!known) {
      u += p.w[i];
    } else if (p.binominal[i]) {
      (p.x[i] == 0.0 && p.y[i] == 0.0 ? f : p.x[i] != 0.0 && p.y[i] != 0.0 ? e : u) += p.w[i];
    } else {
      (p.x[i] == p.y[i] ? e : u) += p.w[i];
    }
  }
  if (name == "nominal-dice") return -(2.0 * e / (2.0 * e + u));
  if (name == "nominal-jaccard") return -(e / (e + u));
  if (name == "kulczynski") return -(e / u);
  if (name == "rogers-tanimoto") return -((e + f) / (e + f + 2.0 * u));
  if (name == "russell-rao") return -(e / (e + u + f));
  if (name == "simple-matching") return -((e + f) / (e + u + f));
  throw std::logic_error("no oracle for " + name);
}

/// sqrt(d' C^-1 d) by solving C z = d in long double.
inline double mahalanobis(const Table& train, const Pair& p) {
  const std::size_t n = p.size();
  const auto rows = static_cast<std::size_t>(train.n_rows);
  std::vector<std::vector<long double>> a(n, std::vector<long double>(n + 1, 0.0L));
  std::vector<long double> mean(n, 0.0L);
  const auto at = [&](std::size_t r, std::size_t c) {
    return static_cast<long double>(train.columns[c].at(static_cast<std::int64_t>(r)));
  };
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t r = 0; r < rows; ++r) mean[c] += at(r, c) / static_cast<long double>(rows);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t r = 0; r < rows; ++r) a[i][j] += (at(r, i) - mean[i]) * (at(r, j) - mean[j]);
      a[i][j] /= static_cast<long double>(rows - 1);
    }
    a[i][n] = static_cast<long double>(p.x[i]) - static_cast<long double>(p.y[i]);
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c; i < n; ++i) {
      if (std::fabs(a[i][c]) > std::fabs(a[pivot][c])) pivot = i;
    }
    std::swap(a[c], a[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == c) continue;
      const long double factor = a[i][c] / a[c][c];
      for (std::size_t j = c; j <= n; ++j) a[i][j] -= factor * a[c][j];
    }
  }
  long double form = 0.0L;
  for (std::size_t i = 0; i < n; ++i) {
    form += (static_cast<long double>(p.x[i]) - static_cast<long double>(p.y[i])) * a[i][n] / a[i][i];
  }
  return std::sqrt(static_cast<double>(form));
}

/// Dynamic time warping by the recursive definition of the path.
inline double dtw(const Pair& p) {
  std::vector<double> a, b;
  for (const double v : p.x) {
    if (!std::isnan(v)) a.push_back(v);
  }
  for (const double v : p.y) {
    if (!std::isnan(v)) b.push_back(v);
  }
  if (a.empty() || b.empty()) return kNaN;
  std::map<std::pair<std::size_t, std::size_t>, double> cost;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::vector<double> before;
      if (i > 0 && j > 0) before.push_back(cost[{i - 1, j - 1}]);
      if (i > 0) before.push_back(cost[{i - 1, j}]);
      if (j > 0) before.push_back(cost[{i, j - 1}]);
      cost[{i, j}] =
          (a[i] - b[j]) * (a[i] - b[j]) + (before.empty() ? 0.0 : *std::min_element(before.begin(), before.end()));
    }
  }
  if (a.size() == 1 && b.size() == 1) return std::sqrt(cost[{0, 0}]);
  if (a.size() == 1 || b.size() == 1) {
    double total = 0.0;
    for (const auto& [cell, value] : cost) total += value;
    return std::sqrt(total) / static_cast<double>(cost.size());
  }
  std::size_t i = a.size() - 1, j = b.size() - 1;
  double total = cost[{i, j}], steps = 1.0;
  while (i + j > 2) {
    std::vector<std::pair<std::size_t, std::size_t>> moves;
    if (i > 0 && j > 0) moves.push_back({i - 1, j - 1});
    if (i > 0 && j > 0) moves.push_back({i - 1, j});
    if (i > 0 && j > 0) moves.push_back({i, j - 1});
    if (i == 0) moves.push_back({i, j - 1});
    if (j == 0) moves.push_back({i - 1, j});
    const auto best =
        *std::min_element(moves.begin(), moves.end(), [&](const auto& m, const auto& o) { return cost[m] < cost[o]; });
    i = best.first;
    j = best.second;
    total += cost[{i, j}];
    steps += 1.0;
  }
  return std::sqrt(total) / steps;
}

/// The distance of training row `row` and query row `query_row` under stope's default rules.
inline double distance(const std::string& name, const Table& train, std::int64_t row, const Table& query,
                       std::int64_t query_row, const std::vector<double>& weights = {}, double p_parameter = 3.0) {
  const Pair pair = pair_of(train, row, query, query_row, weights, name == "gower" || name == "heom");
  static const std::vector<std::string> kWhole = {"heom",
                                                  "correlation",
                                                  "correlation-similarity",
                                                  "haversine",
                                                  "generalized-i",
                                                  "kl",
                                                  "itakura-saito",
                                                  "logarithmic-loss",
                                                  "logistic-loss",
                                                  "squared-loss",
                                                  "nominal-dice",
                                                  "nominal-jaccard",
                                                  "kulczynski",
                                                  "rogers-tanimoto",
                                                  "russell-rao",
                                                  "simple-matching",
                                                  "kernel-euclidean"};
  if (name == "mahalanobis") return mahalanobis(train, pair);
  if (name == "dtw") return dtw(pair);
  if (std::find(kWhole.begin(), kWhole.end(), name) != kWhole.end()) return whole(name, pair);
  return skipping(name, pair, p_parameter);
}

}  // namespace stope::oracle
