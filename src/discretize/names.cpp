// The names of the options of discretisation and trees (stope/discretize.hpp).
#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "stope/discretize.hpp"

namespace stope {
namespace {

constexpr std::string_view kPolicies[] = {"error", "value", "drop", "fill"};
constexpr std::string_view kCriteria[] = {"discernibility", "gini", "entropy"};
constexpr std::string_view kOrders[] = {"score", "column"};
constexpr std::string_view kMethods[] = {"md-global", "md-local", "mdlp", "chimerge", "equal-width", "equal-frequency"};
constexpr std::string_view kStyles[] = {"codes", "labels"};

}  // namespace

MissingPolicy missing_policy(std::string_view name) try {
  return choice_of<MissingPolicy>(kPolicies, name, {"policy for missing values", "missing"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(MissingPolicy policy) noexcept {
  return name_of(kPolicies, policy);
}
Criterion criterion(std::string_view name) try {
  return choice_of<Criterion>(kCriteria, name, {"criterion", "criterion"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Criterion criterion) noexcept {
  return name_of(kCriteria, criterion);
}
AttributeOrder attribute_order(std::string_view name) try {
  return choice_of<AttributeOrder>(kOrders, name, {"order of attributes", "order"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(AttributeOrder order) noexcept {
  return name_of(kOrders, order);
}
DiscretizeMethod discretize_method(std::string_view name) try {
  return choice_of<DiscretizeMethod>(kMethods, name, {"method of discretisation", "method"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(DiscretizeMethod method) noexcept {
  return name_of(kMethods, method);
}
CodeStyle code_style(std::string_view name) try {
  return choice_of<CodeStyle>(kStyles, name, {"style of codes", "style"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(CodeStyle style) noexcept {
  return name_of(kStyles, style);
}

}  // namespace stope
