// The names of the options that PCA and least squares share (stope/decompose.hpp).
#include "stope/decompose.hpp"

#include "base/choices.hpp"
#include "base/guarded.hpp"

namespace stope {
namespace {

constexpr std::string_view kMissing[] = {"error", "mean"};
constexpr std::string_view kNominal[] = {"error", "skip"};
constexpr std::string_view kCentering[] = {"mean", "none"};
constexpr std::string_view kScaling[] = {"none", "z"};

}  // namespace

MissingValues missing_values(std::string_view name) try {
  return choice_of<MissingValues>(kMissing, name, {"treatment of missing values", "missing"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(MissingValues missing) noexcept {
  return name_of(kMissing, missing);
}
NominalFeatures nominal_features(std::string_view name) try {
  return choice_of<NominalFeatures>(kNominal, name, {"treatment of nominal features", "nominal"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(NominalFeatures nominal) noexcept {
  return name_of(kNominal, nominal);
}
Centering centering(std::string_view name) try {
  return choice_of<Centering>(kCentering, name, {"centring", "centering"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Centering centering) noexcept {
  return name_of(kCentering, centering);
}
Scaling scaling(std::string_view name) try {
  return name == "Z-transformation" ? Scaling::z : choice_of<Scaling>(kScaling, name, {"scaling", "scaling"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Scaling scaling) noexcept {
  return name_of(kScaling, scaling);
}

}  // namespace stope
