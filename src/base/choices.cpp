#include "base/choices.hpp"

#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "stope/compat.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope {

std::size_t index_of(std::span<const std::string_view> names, std::string_view name, const ChoiceOf& of) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
    list += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + std::string(names[i]);
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown " + std::string(of.what) + " '" + std::string(name) + "': " + list +
                  did_you_mean(name, std::vector<std::string>(names.begin(), names.end())),
              {.option = std::string(of.option)});
}

namespace {

constexpr std::string_view kCompat[] = {"none", "rapidminer"};

}  // namespace

Compat compat(std::string_view name) try {
  return choice_of<Compat>(kCompat, name, {"compatibility mode", "compat"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Compat compat) noexcept {
  return name_of(kCompat, compat);
}

}  // namespace stope
