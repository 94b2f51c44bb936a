// Recomputes a result by the plainest loops there are, and compares it within a bound (stope/gram.hpp). It is slow on
// purpose: it shares nothing with the code that it checks.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "gram/rows.hpp"
#include "gram/shape.hpp"
#include "stope/error.hpp"
#include "stope/gram.hpp"

namespace stope {
namespace {

// z, and the same sums of absolute values, which bound the rounding.
struct Serial {
  std::vector<double> z, size;
};

template <class T>
Serial multiply(const gram::RowSource& rows, std::span<const float> x, const RunOptions& run) {
  const std::int64_t n_columns = rows.n_columns(), n_rows = rows.n_rows();
  Serial sums{std::vector<double>(x.size()), std::vector<double>(x.size())};
  for (std::int64_t i = 0; i < n_rows; ++i) {
    run.cancel.check();
    if (i % 64 == 0) tell_progress(run, "check", i, n_rows);
    const auto* row = static_cast<const T*>(rows.rows(i, 1, nullptr));
    double y = 0.0, size = 0.0;
    for (std::int64_t j = 0; j < n_columns; ++j) {
      const double term = static_cast<double>(row[j]) * static_cast<double>(x[static_cast<std::size_t>(j)]);
      y += term;
      size += std::fabs(term);
    }
    for (std::int64_t j = 0; j < n_columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      sums.z[at] += y * static_cast<double>(row[j]);
      sums.size[at] += size * std::fabs(static_cast<double>(row[j]));
    }
  }
  return sums;
}

// Roundings on the longest way from an element to z, in the loops above and in the operator together.
double roundings(std::int64_t n_rows, std::int64_t n_columns) {
  const auto log2_up = [](std::int64_t n) { return std::ceil(std::log2(static_cast<double>(n))); };
  const std::int64_t groups = gram::n_groups(n_rows, n_columns);
  const double serial = static_cast<double>(n_columns) + static_cast<double>(n_rows) + 2.0;
  const double shaped = 12.0 + log2_up(gram::n_leaves(n_columns)) +
                        (static_cast<double>(n_rows) / static_cast<double>(groups) + 1.0) + log2_up(groups);
  return serial + shaped;
}

bool is_right(double found, double wanted, double bound) {
  if (std::isnan(wanted)) return std::isnan(found);
  if (std::isinf(wanted)) return found == wanted;
  // A double beyond float32 becomes infinite, which may be right. The largest float may be right, too.
  if (std::isinf(found)) return std::fabs(wanted) + bound >= 0x1.fffffep127 && (found > 0.0) == (wanted > 0.0);
  return std::fabs(found - wanted) <= bound;
}

}  // namespace

GramCheck check_gram(const ArrayView& matrix, std::span<const float> x, std::span<const float> z,
                     const RunOptions& run) try {
  const auto rows = gram::make_row_source(matrix, gram::Reads::during_call, run);
  for (const std::span<const float> vector : {x, z}) {
    if (static_cast<std::int64_t>(vector.size()) == rows->n_columns()) continue;
    throw Error(ErrorCode::invalid_argument, std::string(vector.data() == x.data() ? "the vector" : "the result") +
                                                 " has " + std::to_string(vector.size()) + " numbers, the matrix " +
                                                 std::to_string(rows->n_columns()) + " columns");
  }
  const Serial serial =
      matrix.type == ElementType::float32 ? multiply<float>(*rows, x, run) : multiply<double>(*rows, x, run);
  constexpr double kDouble = 0x1.0p-53, kFloat = 0x1.0p-24, kLeastFloat = 0x1.0p-150;
  // The factor is 2 because the sums of absolute values are rounded, too.
  const double rate = 2.0 * roundings(rows->n_rows(), rows->n_columns()) * kDouble;
  GramCheck check;
  for (std::size_t j = 0; j < z.size(); ++j) {
    const double wanted = serial.z[j], found = static_cast<double>(z[j]);
    const double rounding = rate * serial.size[j];
    const double bound = rounding + kFloat * (std::fabs(wanted) + rounding) + kLeastFloat;
    if (is_right(found, wanted, bound)) continue;
    constexpr std::size_t kShown = 10;
    ++check.n_wrong;
    if (check.first.size() < kShown) check.first.push_back({static_cast<std::int64_t>(j), found, wanted, bound});
  }
  return check;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
