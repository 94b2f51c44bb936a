// Normalisation of numeric features: fitted on one table, applied to any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/compat.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// How a column is normalised. none: not at all. range: to [min, max]. z: to zero mean and unit variance (ddof 1).
/// proportion: to its share of the column's sum. interquartile: to (v - median) / ((q3 - q1) / 1.349). docs/NUMERICS.md
/// has the formulas, constant columns and missing values.
enum class Normalization { none, range, z, proportion, interquartile };

/// The method of that name; throws invalid_argument for any other. RapidMiner's spellings ("Z-transformation") work.
Normalization normalization(std::string_view name);
std::string_view to_string(Normalization method) noexcept;

struct NormalizeOptions {
  Normalization method = Normalization::none;
  double min = 0.0;  ///< for `range`; min < max (any two finite numbers under Compat::rapidminer)
  double max = 1.0;
  Compat compat = Compat::none;
};

/// What happens to one column: v -> (v - shift) / scale * factor + offset. These four operations are done in this
/// order, so that a result is reproducible to the bit. A missing value stays missing, except where `constant` is set.
struct ColumnTransform {
  std::string name;
  double shift = 0.0;
  double scale = 1.0;
  double factor = 1.0;
  double offset = -0.0;            ///< adding -0.0 changes nothing, not even the sign of a zero
  std::optional<double> constant;  ///< Compat::rapidminer: the value of every row, even of missing ones
};

/// A fitted normalisation. Copies are cheap; applying is const and safe from several threads at once.
class Normalizer {
 public:
  /// Fits to the numeric columns of role regular (not to dates under Compat::rapidminer), skipping missing values.
  /// Cost: two passes per column, or a selection for `interquartile`. Columns are fitted in parallel, and the result
  /// does not depend on the number of threads. Throws invalid_argument for a bad range. Throws invalid_data, naming the
  /// column, for an infinite value, for values whose statistics overflow, and for `proportion` of values that sum to
  /// zero (none of these under Compat::rapidminer).
  static Normalizer fit(const Table& table, const NormalizeOptions& options, const RunOptions& run = {});

  /// Transforms the fitted columns (matched by name) to float64 reals; all other columns are shared, not copied. A
  /// fitted column that the table lacks is skipped: the job that matches attributes decides whether that is an error.
  /// Under Compat::rapidminer the numeric features come first, then the other features, then the rest. Throws
  /// invalid_data for a fitted column that is nominal here.
  Table apply(const Table& table, const RunOptions& run = {}) const;

  /// Restores a fitted normalisation from its options and from what columns() returned.
  static Normalizer of(const NormalizeOptions& options, std::vector<ColumnTransform> columns);

  const NormalizeOptions& options() const { return options_; }
  /// One entry per fitted column, in the order of the table to which it was fitted.
  const std::vector<ColumnTransform>& columns() const { return transforms_; }

 private:
  NormalizeOptions options_;
  std::vector<ColumnTransform> transforms_;
};

}  // namespace stope
#pragma GCC visibility pop
