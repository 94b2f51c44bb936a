#include "knn/filter/row_mapper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace stope::knn {
namespace {

// The kernels take numbers that are centred and scaled, and rows scaled to length 1. Relative terms and totals ask more
// of a number (bounds_number), and points of a sphere are no scaled numbers.
ResidualSum residual_sum(const FilterForm& form) {
  if (form.space == Space::sphere || form.divisor == Divisor::total) return ResidualSum::none;
  if (form.missing == Missing::undefined) {
    return in_squares(form.term) ? ResidualSum::squares_of_all : ResidualSum::none;
  }
  switch (form.term) {
    case Term::square: return ResidualSum::squares;
    case Term::absolute: return ResidualSum::absolutes;
    case Term::maximum: return ResidualSum::maximum;
    case Term::product:
    case Term::relative: break;
  }
  return ResidualSum::none;
}

}  // namespace

RowMapper::RowMapper(std::shared_ptr<const ImageMap> map, const EncodeKernels& kernels)
    : map_(std::move(map)), kernels_(kernels) {
  bool first_ones = true;
  for (const NumericColumn& column : map_->numeric()) {
    first_ones &= column.source == static_cast<std::int64_t>(centres_.size());
    centres_.push_back(column.centre);
    scales_.push_back(column.scale);
    sources_.push_back(column.source);
  }
  if (first_ones) sources_.clear();
  const bool only_numbers = first_ones && map_->equality().empty() && map_->form().space != Space::unit_rows;
  if (only_numbers) few_sum_ = residual_sum(map_->form());
  if (map_->n_numeric() < kernels.least_numbers) return;
  if (first_ones || map_->form().space != Space::unit_rows) sum_ = residual_sum(map_->form());
}

double RowMapper::map_numbers(const double* row, float* image) const {
  const FilterForm& form = map_->form();
  NumberRun run{centres_.data(), scales_.data(), map_->n_numeric(), 1.0, sum_};
  if (form.space == Space::unit_rows) {
    run.factor = kernels_.unit_factor(run, row);
    if (std::isnan(run.factor)) return run.factor;
    // Relative rounding of the norm: at most one unit per column.
    const double norm_error = static_cast<double>(run.n) * 0x1p-52;
    return norm_error * norm_error + kernels_.numbers(run, row, image);
  }
  if (sources_.empty()) return kernels_.numbers(run, row, image);
  constexpr std::int64_t kTogether = 512;
  double numbers[kTogether];
  double residual = 0.0;
  for (std::int64_t first = 0; first < map_->n_numeric(); first += kTogether) {
    run.n = std::min(kTogether, map_->n_numeric() - first);
    for (std::int64_t i = 0; i < run.n; ++i) numbers[i] = row[sources_[static_cast<std::size_t>(first + i)]];
    const double part = kernels_.numbers(run, numbers, image + first);
    if (std::isnan(part)) return part;
    residual = form.term == Term::maximum ? std::max(residual, part) : residual + part;
    run.centres += run.n;
    run.scales += run.n;
  }
  return residual;
}

void RowMapper::map_columns(const double* rows, std::int64_t n, float* images, double* residuals) const {
  const NumberRun run{centres_.data(), scales_.data(), map_->n_numeric(), 1.0, few_sum_};
  kernels_.few_numbers(run, rows, n, images, kRowsTogether, residuals);
  for (std::int64_t r = 0; r < n; ++r) {
    const bool bounded = residuals[r] < std::numeric_limits<double>::infinity();
    residuals[r] = bounded ? finished_residual(map_->form(), residuals[r]) : std::numeric_limits<double>::quiet_NaN();
  }
}

double RowMapper::map(const double* row, float* image) const {
  if (sum_ == ResidualSum::none) return map_->map(row, image);
  const RowForm form = map_->row_form();
  double residual = map_numbers(row, image);
  if (std::isnan(residual)) {
    std::fill_n(image, map_->n_columns(), std::numeric_limits<float>::quiet_NaN());
    return residual;
  }
  put_equality(form, row, [&](std::int64_t c, float value) { image[c] = value; });
  return finished_residual(form.form, residual);
}

}  // namespace stope::knn
