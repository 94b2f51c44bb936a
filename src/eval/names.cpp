// The names of the options of evaluation (stope/eval.hpp).
#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

constexpr std::string_view kSchemes[] = {"cross-validation", "hold-out", "leave-one-out"};

}  // namespace

Scheme scheme(std::string_view name) try {
  return choice_of<Scheme>(kSchemes, name, {"scheme of evaluation", "scheme"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Scheme scheme) noexcept {
  return name_of(kSchemes, scheme);
}

}  // namespace stope
