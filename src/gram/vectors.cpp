#include "gram/vectors.hpp"

#include <algorithm>
#include <bit>
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
    throw Error(ErrorCode::invalid_argument, std::string(name) + " has " + std::to_string(numbers.size()) +
                                                 " numbers for " + std::to_string(n_columns) + " columns");
  }
  const auto bad = std::find_if(numbers.begin(), numbers.end(), [](double v) { return !std::isfinite(v); });
  if (bad == numbers.end()) return;
  throw Error(ErrorCode::invalid_argument, std::string(name) + " of column " +
                                               std::to_string(bad - numbers.begin() + 1) + " is " + number_text(*bad) +
                                               ": it must be finite");
}

}  // namespace

void check_options(const GramOptions& options, std::int64_t n_columns) {
  check_numbers("shift", options.shift, n_columns);
  check_numbers("scale", options.scale, n_columns);
}

void check_vector(const char* name, std::size_t size, std::int64_t wanted, std::int64_t n_vectors) {
  if (n_vectors < 1 || n_vectors > kMostVectors) {
    throw Error(ErrorCode::invalid_argument, std::to_string(n_vectors) + " vectors: 1 to " +
                                                 std::to_string(kMostVectors) + " can be multiplied at once");
  }
  if (static_cast<std::int64_t>(size) == checked::mul(wanted, n_vectors)) return;
  throw Error(ErrorCode::invalid_argument, std::string("the vector ") + name + " has " + std::to_string(size) +
                                               " numbers, not " + std::to_string(wanted * n_vectors));
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

std::int64_t GroupTree::most_vectors(std::int64_t n_blocks) {
  return std::bit_width(static_cast<std::uint64_t>(n_blocks)) + 1;
}

void GroupTree::merge() {
  const Buffer<double> later = std::move(levels_.back());
  levels_.pop_back();
  double* sums = levels_.back().data();
  for (std::int64_t i = 0; i < size_; ++i) sums[i] += later.data()[i];
}

void GroupTree::push(const double* sums) {
  levels_.emplace_back(size_);
  std::copy_n(sums, size_, levels_.back().data());
  // As in adding one to a binary number: two subtrees of the same height become one.
  for (std::int64_t n = n_pushed_++; n % 2 != 0; n /= 2) merge();
}

const double* GroupTree::finish() {
  while (levels_.size() > 1) merge();
  return levels_.front().data();
}

}  // namespace stope::gram
