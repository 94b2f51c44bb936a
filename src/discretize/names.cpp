// The names of the options of discretisation and trees (stope/discretize.hpp).
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "stope/discretize.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {
namespace {

template <class Choice>
struct Named {
  Choice choice;
  std::string_view name;
};

constexpr std::array<Named<MissingPolicy>, 4> kPolicies = {{{MissingPolicy::error, "error"},
                                                            {MissingPolicy::value, "value"},
                                                            {MissingPolicy::drop, "drop"},
                                                            {MissingPolicy::fill, "fill"}}};
constexpr std::array<Named<Criterion>, 3> kCriteria = {
    {{Criterion::discernibility, "discernibility"}, {Criterion::gini, "gini"}, {Criterion::entropy, "entropy"}}};
constexpr std::array<Named<DiscretizeMethod>, 5> kMethods = {{{DiscretizeMethod::md_global, "md-global"},
                                                              {DiscretizeMethod::mdlp, "mdlp"},
                                                              {DiscretizeMethod::chimerge, "chimerge"},
                                                              {DiscretizeMethod::equal_width, "equal-width"},
                                                              {DiscretizeMethod::equal_frequency, "equal-frequency"}}};

/// Returns the choice of that name. `what` names in the error what is unknown.
template <class Choice, std::size_t kN>
Choice choice_of(const std::array<Named<Choice>, kN>& table, std::string_view name, const std::string& what) {
  std::vector<std::string> names;
  for (const Named<Choice>& row : table) {
    if (row.name == name) return row.choice;
    names.emplace_back(row.name);
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown " + what + " '" + std::string(name) + "'" + did_you_mean(name, names));
}

template <class Choice, std::size_t kN>
std::string_view name_of(const std::array<Named<Choice>, kN>& table, Choice choice) noexcept {
  for (const Named<Choice>& row : table) {
    if (row.choice == choice) return row.name;
  }
  return {};
}

}  // namespace

MissingPolicy missing_policy(std::string_view name) {
  return choice_of(kPolicies, name, "policy for missing values");
}
Criterion criterion(std::string_view name) {
  return choice_of(kCriteria, name, "criterion");
}
DiscretizeMethod discretize_method(std::string_view name) {
  return choice_of(kMethods, name, "method of discretisation");
}

std::string_view to_string(MissingPolicy policy) noexcept {
  return name_of(kPolicies, policy);
}
std::string_view to_string(Criterion criterion) noexcept {
  return name_of(kCriteria, criterion);
}
std::string_view to_string(DiscretizeMethod method) noexcept {
  return name_of(kMethods, method);
}

}  // namespace stope
