// The names of the options of imputation (stope/impute.hpp).
#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "stope/impute.hpp"

namespace stope {
namespace {

constexpr std::string_view kStrategies[] = {"mean", "median"};
constexpr std::string_view kIndicators[] = {"none", "append"};

}  // namespace

ImputeStrategy impute_strategy(std::string_view name) try {
  return choice_of<ImputeStrategy>(kStrategies, name, {"strategy", "strategy"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(ImputeStrategy strategy) noexcept {
  return name_of(kStrategies, strategy);
}
Indicators indicators(std::string_view name) try {
  return choice_of<Indicators>(kIndicators, name, {"indicators", "indicators"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Indicators indicators) noexcept {
  return name_of(kIndicators, indicators);
}

}  // namespace stope
