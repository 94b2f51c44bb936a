#include "gram/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.hpp"
#include "base/number_text.hpp"
#include "gram/operator.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

void check_numbers(const char* name, const std::vector<double>& numbers, std::int64_t n_columns) {
  if (numbers.empty()) return;
  if (static_cast<std::int64_t>(numbers.size()) != n_columns) {
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + " has " + std::to_string(numbers.size()) + " numbers for " +
                    std::to_string(n_columns) + " columns",
                {.option = name});
  }
  const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double v) { return !std::isfinite(v); });
  if (bad == numbers.end()) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + " of column " + std::to_string(bad - numbers.begin() + 1) + " is " +
                  number_text(*bad) + ": it must be finite",
              {.option = name});
}

}  // namespace

void check_options(const GramOptions& options, std::int64_t n_columns) {
  check_numbers("shift", options.shift, n_columns);
  check_numbers("scale", options.scale, n_columns);
}

void check_vector(const char* name, std::size_t size, std::int64_t wanted, std::int64_t n_vectors) {
  if (n_vectors < 1 || n_vectors > kMostVectors) {
    throw Error(
        ErrorCode::invalid_argument,
        std::to_string(n_vectors) + " vectors: 1 to " + std::to_string(kMostVectors) + " can be multiplied at once",
        {.option = "n_vectors"});
  }
  if (static_cast<std::int64_t>(size) == checked::mul(wanted, n_vectors)) return;
  throw Error(ErrorCode::invalid_argument,
              std::string("the vector ") + name + " has " + std::to_string(size) + " numbers, not " +
                  std::to_string(wanted * n_vectors),
              {.option = name});
}

Buffer<double> padded_copy(std::span<const double> x, std::int64_t n_columns, std::span<const double> scale) {
  const std::int64_t stride = padded(n_columns);
  const std::int64_t n_vectors = static_cast<std::int64_t>(x.size()) / n_columns;
  Buffer<double> copy(checked::mul(n_vectors, stride));
  for (std::int64_t v = 0; v < n_vectors; ++v) {
    const double* from = x.data() + v * n_columns;
    double* to = copy.data() + v * stride;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      to[c] = scale.empty() ? from[c] : from[c] * scale[static_cast<std::size_t>(c)];
    }
    std::fill(to + n_columns, to + stride, 0.0);
  }
  return copy;
}

const double* padded_view(std::span<const double> x, std::int64_t n_columns, std::span<const double> scale,
                          Buffer<double>& room) {
  if (scale.empty() && padded(n_columns) == n_columns) return x.data();
  room = padded_copy(x, n_columns, scale);
  return room.data();
}

void subtract_from(const Target& target, std::int64_t first, std::span<double> y) {
  const double* const values = target.values.data() + first;
  if (target.factors.empty()) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = values[i] - y[i];
    return;
  }
  const double* const factors = target.factors.data() + first;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = (values[i] - y[i] * factors[i]) * factors[i];
}

}  // namespace stope::gram
