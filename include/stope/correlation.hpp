// Correlations of the numeric columns of a table, each pair over the rows in which both values are present.
//
//   const Correlation r = correlation(table);
//   r.at(0, 1);   // of r.names[0] and r.names[1]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/buffer.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// pearson: of the values. spearman: of their ranks among the rows of the pair; equal values share their mean rank.
enum class CorrelationMethod { pearson, spearman };

/// The method of that name; throws invalid_argument for any other.
CorrelationMethod correlation_method(std::string_view name);
std::string_view to_string(CorrelationMethod method) noexcept;

struct CorrelationOptions {
  CorrelationMethod method = CorrelationMethod::pearson;
};

/// A symmetric matrix. The correlation of a column with itself is exactly 1, and every other one lies in [-1, 1]. It is
/// NaN where fewer than two rows have both values, where one column has one value only in these rows, and where one of
/// the two columns holds an infinite value.
struct Correlation {
  std::vector<std::string> names;  ///< of the columns, in the order of the table
  Buffer<double> values;           ///< names.size() x names.size(), row-major
  Buffer<std::int64_t> counts;     ///< rows in which both values are present, in the same order
  std::int64_t target = -1;        ///< the place of the label among the names; -1 where it is none of them
  double seconds = 0.0;

  std::int64_t size() const { return static_cast<std::int64_t>(names.size()); }
  double at(std::int64_t i, std::int64_t j) const { return values[i * size() + j]; }
  std::int64_t count(std::int64_t i, std::int64_t j) const { return counts[i * size() + j]; }
};

/// Correlates the numeric features, and the label if it is numeric. Sums are taken of centred values, in the shape of
/// all sums over rows (docs/numerics/stats.md), so that the result does not depend on the number of threads.
/// Cost: n p^2 / 2 multiplications for n rows and p columns, four times as many for columns with missing values. With
/// Spearman's method each pair with a missing value is ranked anew, in O(n).
/// Throws invalid_data for a table without numeric columns, and naming the column where a sum of its values overflows;
/// out_of_memory, before the work, where the p x p results exceed the memory limit.
Correlation correlation(const Table& table, const CorrelationOptions& options = {}, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
