// Where the bytes of each attribute go (byte_layout.hpp).
#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "knn/cuda/differences/session.hpp"

namespace stope::knn::cuda {
namespace {

// If an equality attribute has more values, some share a bucket. That lowers the bound by a sixteenth and costs half of
// what 32 buckets would.
constexpr double kMostBuckets = 16.0;
constexpr double kMostByte = 127.0;
constexpr double kRoundingOfSteps = 1.0 - 1e-12;

ByteColumn plan_equality(const cuda_abi::DifferenceSpec& spec, std::int64_t equality) {
  const auto& form = spec.row_form;
  const Attribute& attribute = form.attributes[form.equality[equality]];
  const double mismatch = static_cast<double>(spec.mismatch[form.n_numeric + equality]) * spec.steps;
  const double whole = std::clamp(std::floor(mismatch * kRoundingOfSteps), 0.0, 2.0 * kMostByte);
  const int factor = whole > kMostByte ? 2 : 1;
  ByteColumn column{};
  column.weight = static_cast<std::int8_t>(static_cast<int>(whole) / factor);
  column.factor = static_cast<std::int8_t>(factor);
  column.buckets =
      static_cast<std::int32_t>(attribute.nominal ? std::clamp(attribute.n_values, 1.0, kMostBuckets) : kMostBuckets);
  return column;
}

}  // namespace

PlannedBytes plan_bytes(const cuda_abi::DifferenceSpec& spec, bool gaps) {
  constexpr int kWordsOfProducts = 8;  // words of one matrix instruction
  const auto words = [](std::int64_t bytes, std::int64_t of) {
    return static_cast<int>(checked::ceil_div(bytes, 4 * of) * of);
  };
  PlannedBytes plan;
  const std::int64_t n_columns = spec.bounds.n_columns, n_numeric = spec.row_form.n_numeric;
  const double most_weight = static_cast<double>(*std::max_element(spec.weight, spec.weight + n_columns));
  // Parts of the divisor are rounded up. The unit is declared smaller by what the computation of the parts may have
  // lost.
  plan.weight_steps = kMostByte / most_weight;
  std::int32_t products = 0;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    ByteColumn column{};
    column.products = -1;
    if (c >= n_numeric) {
      column = plan_equality(spec, c - n_numeric);
      column.products = products;
      products += column.buckets + 1;
    } else if (gaps) {
      column.products = products;
      products += 2;
    }
    const double part = static_cast<double>(spec.weight[c]) * plan.weight_steps * kRoundingOfSteps;
    column.part = static_cast<std::int8_t>(std::clamp(std::ceil(part), 1.0, kMostByte));
    plan.columns.push_back(column);
  }
  plan.weight_steps *= 1.0 - 1e-11;
  plan.difference_words = words(n_numeric, 1);
  plan.product_words = words(products, kWordsOfProducts);
  const bool divides = gaps && spec.row_form.form.divisor == Divisor::present_weight;
  plan.divisor_words = divides ? words(n_columns, kWordsOfProducts) : 0;
  return plan;
}

}  // namespace stope::knn::cuda
