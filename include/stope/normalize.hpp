// Normalisation of numeric features: fitted on one table, applied to any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/compat.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

/// none; range: to [min, max]; z: zero mean, unit variance (ddof 1); proportion: share of the column's sum;
/// interquartile: (v - median) / ((q3 - q1) / 1.349). Formulas, constants and missing values: docs/NUMERICS.md.
enum class Normalization { none, range, z, proportion, interquartile };

/// The method of that name; throws invalid_argument for any other. RapidMiner's spellings ("Z-transformation") work.
Normalization normalization(std::string_view name);

struct NormalizeOptions {
  Normalization method = Normalization::none;
  double min = 0.0;  ///< of `range`
  double max = 1.0;
  Compat compat = Compat::none;
};

/// Per numeric feature v -> (v - shift) / scale * factor + offset, the operations in that order.
class Normalizer {
 public:
  /// Fits to the numeric columns of role regular. O(rows x columns), plus a sort a column for `interquartile`.
  static Normalizer fit(const Table& table, const NormalizeOptions& options, const RunOptions& run = {});

  /// The table with its fitted columns (matched by name) transformed to float64; all other columns are shared, not
  /// copied. Under Compat::rapidminer the numeric features come first, then the nominal ones, then the rest.
  Table apply(const Table& table, const RunOptions& run = {}) const;

 private:
  struct Transform {
    std::string name;
    double shift, scale, factor, offset;
    double constant;  ///< what every present value becomes where `is_constant`
    bool is_constant;
  };
  NormalizeOptions options_;
  std::vector<Transform> transforms_;
};

}  // namespace stope
