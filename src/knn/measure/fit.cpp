#include "knn/measure/fit.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "base/number_text.hpp"
#include "base/row_sums.hpp"
#include "knn/measure/measures.hpp"
#include "knn/measure/typed_kernel.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::knn {

double MeasureContext::number(const char* key, double fallback) const {
  const auto it = metric.params.find(key);
  if (it == metric.params.end()) return fallback;
  const std::string& text = it->second;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || std::isnan(value)) {
    throw Error(ErrorCode::invalid_argument, std::string("metric parameter ") + key + "='" + text + "' is not a number",
                {.option = "metric_params"});
  }
  return value;
}

std::unique_ptr<MeasureKernel> make_minkowski(const MeasureContext& context) {
  const double p = context.number("p", 2.0);
  if (!(p > 0.0)) {
    throw Error(ErrorCode::invalid_argument, "metric parameter p=" + number_text(p) + " must be above 0",
                {.option = "metric_params"});
  }
  // These are the formulas of other measures, so that minkowski(2) and euclidean have the same bits.
  if (p == 1.0) return make_kernel<Manhattan>(context);
  if (p == 2.0) return make_kernel<Euclidean>(context);
  if (std::isinf(p)) return make_kernel<Chebyshev>(context);
  return make_kernel(context, Minkowski{p});
}

namespace {

Kernel kernel_type(const MeasureContext& context) {
  struct Name {
    const char* name;
    Kernel kernel;
  };
  // "gausian_combination" is RapidMiner's spelling.
  constexpr Name kNames[] = {{"dot", Kernel::dot},
                             {"radial", Kernel::radial},
                             {"polynomial", Kernel::polynomial},
                             {"sigmoid", Kernel::sigmoid},
                             {"anova", Kernel::anova},
                             {"epanechnikov", Kernel::epanechnikov},
                             {"gausian_combination", Kernel::gaussian_combination},
                             {"gaussian_combination", Kernel::gaussian_combination},
                             {"multiquadric", Kernel::multiquadric}};
  const auto it = context.metric.params.find("kernel_type");
  if (it == context.metric.params.end()) return Kernel::radial;
  std::vector<std::string> known;
  for (const Name& row : kNames) {
    if (it->second == row.name) return row.kernel;
    known.emplace_back(row.name);
  }
  throw Error(ErrorCode::invalid_argument, "unknown kernel_type '" + it->second + "'" + did_you_mean(it->second, known),
              {.option = "metric_params"});
}

}  // namespace

std::unique_ptr<MeasureKernel> make_kernel_euclidean(const MeasureContext& context) {
  KernelEuclidean measure;
  measure.kernel = kernel_type(context);
  measure.gamma = context.number("kernel_gamma", measure.gamma);
  measure.sigma1 = context.number("kernel_sigma1", measure.sigma1);
  measure.sigma2 = context.number("kernel_sigma2", measure.sigma2);
  measure.sigma3 = context.number("kernel_sigma3", measure.sigma3);
  measure.degree = context.number("kernel_degree", measure.degree);
  measure.shift = context.number("kernel_shift", measure.shift);
  measure.a = context.number("kernel_a", measure.a);
  measure.b = context.number("kernel_b", measure.b);
  constexpr double kMaxDegree = 1e6;  // the polynomial kernel multiplies this often for every pair
  if (measure.kernel == Kernel::polynomial && !(measure.degree <= kMaxDegree)) {
    throw Error(ErrorCode::invalid_argument, "metric parameter kernel_degree must be at most 1000000",
                {.option = "metric_params"});
  }
  return make_kernel(context, measure);
}

std::vector<double> covariance(const MeasureContext& context) {
  const auto d = static_cast<std::int64_t>(context.attributes.size());
  RowSums totals(d);
  context.visit_rows([&](const double* rows, std::int64_t n) {
    for (const double* row = rows; row < rows + n * d; row += d, totals.row_added()) {
      for (std::int64_t i = 0; i < d; ++i) totals.leaf()[i] += row[i];
    }
  });
  const double* const total = totals.finish();
  std::vector<double> mean(total, total + d), centred(mean.size());
  for (double& m : mean) m /= static_cast<double>(context.n_rows);
  RowSums products(checked::mul(d, d));  // of the lower triangle; the rest stays 0
  context.visit_rows([&](const double* rows, std::int64_t n) {
    for (const double* row = rows; row < rows + n * d; row += d, products.row_added()) {
      context.cancel.check();
      for (std::size_t i = 0; i < mean.size(); ++i) centred[i] = row[i] - mean[i];
      for (std::int64_t i = 0; i < d; ++i) {
        double* const to = products.leaf() + i * d;
        for (std::int64_t j = 0; j <= i; ++j) {
          to[j] += centred[static_cast<std::size_t>(i)] * centred[static_cast<std::size_t>(j)];
        }
      }
    }
  });
  const double* const sums = products.finish();
  std::vector<double> matrix(sums, sums + d * d);
  for (std::int64_t i = 0; i < d; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const auto lower = static_cast<std::size_t>(i * d + j);
      matrix[lower] /= static_cast<double>(context.n_rows - 1);
      matrix[static_cast<std::size_t>(j * d + i)] = matrix[lower];
    }
  }
  return matrix;
}

namespace {

// Inverts by Gauss-Jordan with partial pivoting. Missing values make the whole inverse NaN, as in RapidMiner.
std::vector<double> inverse(std::vector<double> matrix, const MeasureContext& context) {
  const auto d = static_cast<std::int64_t>(context.attributes.size());
  std::vector<double> result(matrix.size(), 0.0);
  const auto at = [d](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * d + j); };
  for (std::int64_t i = 0; i < d; ++i) result[at(i, i)] = 1.0;
  for (std::int64_t column = 0; column < d; ++column) {
    context.cancel.check();
    std::int64_t pivot = column;
    for (std::int64_t i = column + 1; i < d; ++i) {
      if (std::fabs(matrix[at(i, column)]) > std::fabs(matrix[at(pivot, column)])) pivot = i;
    }
    const double value = matrix[at(pivot, column)];
    if (value == 0.0) {
      throw Error(ErrorCode::unsupported,
                  "mahalanobis: the covariance matrix of the training rows is singular (a constant attribute, or one "
                  "that others determine)",
                  {.option = "metric"});
    }
    for (std::int64_t j = 0; j < d; ++j) {
      std::swap(matrix[at(pivot, j)], matrix[at(column, j)]);
      std::swap(result[at(pivot, j)], result[at(column, j)]);
      matrix[at(column, j)] /= value;
      result[at(column, j)] /= value;
    }
    for (std::int64_t i = 0; i < d; ++i) {
      const double factor = matrix[at(i, column)];
      if (i == column || factor == 0.0) continue;
      for (std::int64_t j = 0; j < d; ++j) {
        matrix[at(i, j)] -= factor * matrix[at(column, j)];
        result[at(i, j)] -= factor * result[at(column, j)];
      }
    }
  }
  return result;
}

}  // namespace

std::unique_ptr<MeasureKernel> make_mahalanobis(const MeasureContext& context) {
  // The covariance of n rows has at most rank n - 1. The check also bounds its size by the table's.
  if (const std::size_t width = context.attributes.size(); context.n_rows <= static_cast<std::int64_t>(width)) {
    throw Error(ErrorCode::unsupported,
                "mahalanobis needs more training rows than features: " + std::to_string(context.n_rows) + " rows, " +
                    std::to_string(width) + " features",
                {.option = "metric"});
  }
  std::vector<double> storage = inverse(covariance(context), context);
  const Mahalanobis measure{storage.data()};  // a moved vector keeps its elements in place
  return std::make_unique<TypedKernel<Mahalanobis>>(measure, context.attributes, std::move(storage));
}

std::unique_ptr<MeasureKernel> make_nan_euclidean(const MeasureContext& context) {
  NanEuclidean measure;
  for (const Attribute& attribute : context.attributes) measure.total_weight += attribute.weight;
  return make_kernel(context, measure);
}

std::unique_ptr<MeasureKernel> make_cosine_angle(const MeasureContext& context) {
  CosineAngle measure;
  measure.nan_if_none = context.compat == Compat::none;
  return make_kernel(context, measure);
}

std::unique_ptr<MeasureKernel> make_inner_product(const MeasureContext& context) {
  InnerProduct measure;
  measure.nan_if_none = context.compat == Compat::none;
  return make_kernel(context, measure);
}

}  // namespace stope::knn
