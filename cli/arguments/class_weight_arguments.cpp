#include "arguments/class_weight_arguments.hpp"

#include "arguments/value.hpp"
#include "stope/error.hpp"

namespace stope::cli {

void ClassWeightArguments::add_to(OptionGroup& group, const std::string& help) {
  group.list("--class-weight", items, "CLASS=W,...|balanced", help);
}

bool ClassWeightArguments::balanced() const {
  bool found = false;
  for (const std::string& item : items) found = found || item == "balanced";
  if (!found || items.size() == 1) return found;
  throw Error(ErrorCode::invalid_argument, "--class-weight: either balanced, or CLASS=W,...");
}

std::vector<std::pair<std::string, double>> ClassWeightArguments::by_name() const {
  std::vector<std::pair<std::string, double>> weights;
  for (const std::string& item : items) {
    if (item == "balanced") continue;
    const std::size_t equals = item.rfind('=');
    if (equals == 0 || equals == std::string::npos) {
      throw Error(ErrorCode::invalid_argument, "--class-weight: '" + item + "' is not CLASS=W");
    }
    weights.emplace_back(item.substr(0, equals), parse_real(item.substr(equals + 1), "--class-weight"));
  }
  return weights;
}

Json ClassWeightArguments::json() const {
  if (items.empty()) return nullptr;
  if (balanced()) return "balanced";
  Json weights = Json::object();
  for (const auto& [name, weight] : by_name()) weights[name] = weight;
  return weights;
}

}  // namespace stope::cli
