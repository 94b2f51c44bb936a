// Names of the options of discretisation and trees (stope/discretize.hpp).
#include <array>
#include <string>
#include <vector>

#include "stope/discretize.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {
namespace {

constexpr std::array kPolicies = {MissingPolicy::error, MissingPolicy::value, MissingPolicy::drop, MissingPolicy::fill};
constexpr std::array kCriteria = {Criterion::discernibility, Criterion::gini, Criterion::entropy};
constexpr std::array kMethods = {DiscretizeMethod::md_global, DiscretizeMethod::mdlp, DiscretizeMethod::chimerge,
                                 DiscretizeMethod::equal_width, DiscretizeMethod::equal_frequency};

// The choice of that name; `what` says in the error what is unknown.
template <class Choices>
typename Choices::value_type choice_of(const Choices& choices, std::string_view name, const std::string& what) {
  std::vector<std::string> names;
  for (const auto choice : choices) {
    if (to_string(choice) == name) return choice;
    names.emplace_back(to_string(choice));
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown " + what + " '" + std::string(name) + "'" + did_you_mean(name, names));
}

}  // namespace

MissingPolicy missing_policy(std::string_view name) {
  return choice_of(kPolicies, name, "policy for missing values");
}

std::string_view to_string(MissingPolicy policy) noexcept {
  switch (policy) {
    case MissingPolicy::error: return "error";
    case MissingPolicy::value: return "value";
    case MissingPolicy::drop: return "drop";
    case MissingPolicy::fill: break;
  }
  return "fill";
}

Criterion criterion(std::string_view name) {
  return choice_of(kCriteria, name, "criterion");
}

std::string_view to_string(Criterion criterion) noexcept {
  switch (criterion) {
    case Criterion::discernibility: return "discernibility";
    case Criterion::gini: return "gini";
    case Criterion::entropy: break;
  }
  return "entropy";
}

DiscretizeMethod discretize_method(std::string_view name) {
  return choice_of(kMethods, name, "method of discretisation");
}

std::string_view to_string(DiscretizeMethod method) noexcept {
  switch (method) {
    case DiscretizeMethod::md_global: return "md-global";
    case DiscretizeMethod::mdlp: return "mdlp";
    case DiscretizeMethod::chimerge: return "chimerge";
    case DiscretizeMethod::equal_width: return "equal-width";
    case DiscretizeMethod::equal_frequency: break;
  }
  return "equal-frequency";
}

}  // namespace stope
