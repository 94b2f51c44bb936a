// What PCA and least squares share: options for missing values, nominal features and scaling, and their report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stope/backend_report.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// What a missing value of an attribute means. error: an error that names column and row. mean: the column's mean,
/// which leaves the mean as it is and adds nothing to any variance.
enum class MissingValues { error, mean };
/// What a nominal attribute means. error: an error that names it. skip: the attribute is left out.
enum class NominalFeatures { error, skip };
/// What is subtracted from columns. mean: their means. none: nothing; PCA is then a truncated singular value
/// decomposition of the columns as they are.
enum class Centering { mean, none };
/// How columns are scaled. none: not at all. z: by the standard deviation (ddof 1); a constant column stays as it is.
enum class Scaling { none, z };

/// The value of that name; each throws invalid_argument for any other.
MissingValues missing_values(std::string_view name);
NominalFeatures nominal_features(std::string_view name);
Centering centering(std::string_view name);
Scaling scaling(std::string_view name);
std::string_view to_string(MissingValues missing) noexcept;
std::string_view to_string(NominalFeatures nominal) noexcept;
std::string_view to_string(Centering centering) noexcept;
std::string_view to_string(Scaling scaling) noexcept;

/// How a decomposition was computed, for --explain and --json. `backend` is what computed the products with the matrix;
/// it is empty if the method has none.
struct DecomposeReport : BackendReport {
  std::string method;         ///< "covariance", "outer products", "block Lanczos", "normal equations", "qr", "lsqr"
  std::string method_reason;  ///< why this method
  std::int64_t n_samples = 0;
  std::int64_t n_features = 0;
  std::int64_t products = 0;    ///< multiplications with the matrix (block Lanczos, lsqr)
  std::int64_t iterations = 0;  ///< restarts (block Lanczos), steps (lsqr), refinements (the others)
  std::int64_t memory_planned = 0;
  std::int64_t memory_budget = 0;
};

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const DecomposeReport& report);
std::string to_text(const DecomposeReport& report);

}  // namespace stope
#pragma GCC visibility pop
