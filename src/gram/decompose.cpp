// The names of the options that PCA and least squares share (stope/decompose.hpp).
#include "stope/decompose.hpp"

#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {

MissingValues missing_values(std::string_view name) {
  if (name == "error") return MissingValues::error;
  if (name == "mean") return MissingValues::mean;
  throw Error(ErrorCode::invalid_argument, "unknown treatment of missing values '" + std::string(name) +
                                               "': error or mean" + did_you_mean(name, {"error", "mean"}));
}

Scaling scaling(std::string_view name) {
  if (name == "none") return Scaling::none;
  if (name == "z" || name == "Z-transformation") return Scaling::z;
  throw Error(ErrorCode::invalid_argument,
              "unknown scaling '" + std::string(name) + "': none or z" + did_you_mean(name, {"none", "z"}));
}

std::string_view to_string(Scaling scaling) noexcept {
  return scaling == Scaling::z ? "z" : "none";
}

}  // namespace stope
