// kernel-euclidean (RapidMiner KernelEuclideanDistance): K(x,x) + K(y,y) - 2 K(x,y), without a root. A missing value
// gives NaN, unless the parameters make the kernel a constant (a degree of 0, say).
#pragma once

#include "base/exact_math.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

enum class Kernel { dot, radial, polynomial, sigmoid, anova, epanechnikov, gaussian_combination, multiquadric };

struct KernelEuclidean {
  static constexpr bool kUsesLogarithms = true;  // most of the kernels call exp or pow

  Kernel kernel = Kernel::radial;
  double gamma = 1.0, sigma1 = 1.0, sigma2 = 0.0, sigma3 = 2.0, degree = 3.0, shift = 1.0, a = 1.0, b = 0.0;

  STOPE_HD double operator()(const RowPair& p) const {
    const double xx = evaluate(p, p.x, p.x), yy = evaluate(p, p.y, p.y);
    return xx + yy - 2.0 * evaluate(p, p.x, p.y);
  }

 private:
  STOPE_HD static double squared_distance(const RowPair& p, const double* x, const double* y) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < p.n; ++i) {
      const double difference = x[i] - y[i];
      sum += p.attributes[i].weight * (difference * difference);
    }
    return sum;
  }
  STOPE_HD static double inner_product(const RowPair& p, const double* x, const double* y) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < p.n; ++i) sum += p.attributes[i].weight * (x[i] * y[i]);
    return sum;
  }
  STOPE_HD double anova(const RowPair& p, const double* x, const double* y) const {
    double sum = 0.0, both_zero = 0.0;
    for (std::int64_t i = 0; i < p.n; ++i) {
      constexpr double kZero = 1e-6;  // RapidMiner's threshold for "both are zero"
      const double difference = x[i] - y[i];
      sum += p.attributes[i].weight * math::exp(-gamma * (difference * difference));
      both_zero += absolute(x[i]) < kZero && absolute(y[i]) < kZero ? 1.0 : 0.0;
    }
    return math::pow(sum + both_zero, degree);
  }
  STOPE_HD static double gauss(double d, double sigma) { return sigma == 0.0 ? 0.0 : math::exp(-d / sigma); }
  STOPE_HD double power_by_products(double base) const {
    double product = 1.0;
    for (double i = 0.0; i < degree; i += 1.0) product *= base;
    return product;
  }

  STOPE_HD double evaluate(const RowPair& p, const double* x, const double* y) const {
    switch (kernel) {
      case Kernel::dot: return inner_product(p, x, y);
      case Kernel::radial: return math::exp(-gamma * squared_distance(p, x, y));
      case Kernel::polynomial: return power_by_products(inner_product(p, x, y) + shift);
      case Kernel::sigmoid: {
        const double q = a * inner_product(p, x, y) + b;
        const double up = math::exp(q), down = math::exp(-q);
        return (up - down) / (up + down);
      }
      case Kernel::anova: return anova(p, x, y);
      case Kernel::epanechnikov: {
        const double t = squared_distance(p, x, y) / sigma1;
        return t > 1.0 ? 0.0 : math::pow(1.0 - t, degree);
      }
      case Kernel::gaussian_combination: {
        const double d = squared_distance(p, x, y);
        return gauss(d, sigma1) + gauss(d, sigma2) - gauss(d, sigma3);
      }
      case Kernel::multiquadric: return square_root(squared_distance(p, x, y) / sigma1 + shift * shift);
    }
    return kNaN;
  }
};

}  // namespace stope::knn
