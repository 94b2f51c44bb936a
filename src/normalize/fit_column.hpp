// From the statistics of one column to its transform, by stope's rules or by RapidMiner's.
#pragma once

#include <span>

#include "stope/normalize.hpp"
#include "stope/stats.hpp"

namespace stope::normalize {

/// For a normal distribution the distance between the quartiles is 1.349 standard deviations.
inline constexpr double kNormalInterquartileRange = 1.349;

/// The present values of a column, in row order (the order is free to change: `interquartile` selects in place).
struct PresentValues {
  std::span<double> values;
  std::int64_t n_rows = 0;  ///< missing ones included
};

/// By stope's own rules. `from` is the column that errors name. Throws invalid_data for values that cannot be
/// normalised.
ColumnTransform fit_interquartile(PresentValues present, const NormalizeOptions& options, const Table& table,
                                  const Column& from, const CancelToken& cancel);

/// As above for range, z and proportion, which need only statistics of the values.
ColumnTransform fit_statistics(const ColumnStatistics& column, const NormalizeOptions& options, const Table& table,
                               const Column& from);

/// By the rules of RapidMiner 5.3, to the bit.
ColumnTransform fit_column_rapidminer(PresentValues present, const NormalizeOptions& options,
                                      const CancelToken& cancel);

}  // namespace stope::normalize
