// What a least-squares fit reads of its table besides the features: weights of rows, and labels.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/number_text.hpp"
#include "base/row_sums.hpp"
#include "gram/lsq_fit.hpp"
#include "stope/error.hpp"
#include "table/column_error.hpp"
#include "table/row_weight.hpp"

namespace stope::gram {
namespace {

// Whether a nominal column would be numeric but for a few cells.
bool mostly_numbers(const Column& column) {
  std::int64_t n_numbers = 0, n_present = 0;
  std::vector<bool> is_number;
  for (const std::string& value : column.values) {
    double number = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, status] = std::from_chars(value.data(), end, number);
    is_number.push_back(status == std::errc() && stop == end);
  }
  for (const std::int32_t code : column.codes()) {
    n_present += code >= 0 ? 1 : 0;
    n_numbers += code >= 0 && is_number[static_cast<std::size_t>(code)] ? 1 : 0;
  }
  return 2 * n_numbers > n_present;
}

}  // namespace

void LsqFit::read_weights() {
  n_counted_ = n_;
  total_weight_ = static_cast<double>(n_);
  const std::int64_t at = table_.find(Role::weight);
  if (at < 0) return;
  const Column& column = table_.columns[static_cast<std::size_t>(at)];
  if (column.nominal()) throw column_error(ErrorCode::unsupported, table_, column, ": weights must be numbers");
  n_counted_ = 0;
  for (std::int64_t row = 0; row < n_; ++row) {
    const double weight = column.at(row);
    require_row_weight(weight, table_.source, column.name, row);
    n_counted_ += weight > 0.0 ? 1 : 0;
    weights_.push_back(weight);
  }
  total_weight_ = sum_over_rows(0, n_, [&](std::int64_t row) { return weights_[static_cast<std::size_t>(row)]; });
  if (!(total_weight_ > 0.0) || !std::isfinite(total_weight_)) {
    throw column_error(ErrorCode::invalid_argument, table_, column,
                       ": the weights add up to " + number_text(total_weight_));
  }
}

// Reads the target, centred if there is an intercept, times the roots of the weights, scaled to lie between -1 and 1.
void LsqFit::read_target(std::int64_t label) {
  const Column& column = table_.columns[static_cast<std::size_t>(label)];
  if (column.nominal()) {
    throw column_error(ErrorCode::unsupported, table_, column, " is nominal: the target must be numeric", -1,
                       mostly_numbers(column) ? "numeric" : "");
  }
  for (std::int64_t row = 0; row < n_; ++row) {
    if (!column.missing(row) || (!weights_.empty() && weights_[static_cast<std::size_t>(row)] == 0.0)) continue;
    throw column_error(ErrorCode::invalid_data, table_, column, ": the target is missing; remove such rows", row);
  }
  NumericColumns target(table_, {label}, MissingValues::error, weights_, NumericColumns::Summaries::yes, pool_,
                        run_.cancel);
  const ColumnSummary& summary = target.summaries()[0];
  target_mean_ = summary.mean;
  target_length_ = summary.length;
  if (!options_.fit_intercept) target.shift[0] = 0.0;
  target.fill = target.shift;  // rows of weight 0 may lack a target
  b_.resize(static_cast<std::size_t>(n_));
  target.write_columns({0, 1, 0, n_}, b_.data(), n_);
  double largest = 0.0;
  for (const double v : b_) largest = std::max(largest, std::fabs(v));
  exponent_ = 0;
  if (largest > 0.0) std::frexp(largest, &exponent_);
  // A product with a power of two is what ldexp() gives, sooner, where there is such a double.
  constexpr int kSafe = 1000;
  const double power = std::ldexp(1.0, -std::clamp(exponent_, -kSafe, kSafe));
  const int rest = std::clamp(exponent_, -kSafe, kSafe) - exponent_;
  for (double& v : b_) v = rest == 0 ? v * power : std::ldexp(v, -exponent_);
  for (std::size_t i = 0; i < matrix_.row_factor.size(); ++i) b_[i] *= matrix_.row_factor[i];
}

}  // namespace stope::gram
