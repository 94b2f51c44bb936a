#include "knn/vote/class_weights.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/number_text.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::knn {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorCode::invalid_argument, "class weights: " + problem, {.option = "class_weights"});
}

std::string listed(const Values& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) text += (i == 0 ? "'" : ", '") + names[i] + "'";
  return names.size() > kMost ? text + ", ..." : text;
}

// scikit-learn's formula: n / (classes that occur * rows of the class).
std::vector<double> balanced_weights(const Column& label) {
  std::vector<std::int64_t> counts(label.values.size(), 0);
  std::int64_t n_rows = 0, n_present = 0;
  for (const std::int32_t code : label.codes()) {
    if (code < 0 || code >= static_cast<std::int64_t>(counts.size())) continue;
    ++n_rows;
    n_present += counts[static_cast<std::size_t>(code)]++ == 0 ? 1 : 0;
  }
  std::vector<double> weights;
  weights.reserve(counts.size());
  for (const std::int64_t n : counts) {
    const double share = static_cast<double>(n_present) * static_cast<double>(n);
    weights.push_back(n == 0 ? 1.0 : static_cast<double>(n_rows) / share);
  }
  return weights;
}

}  // namespace

std::vector<double> class_weights_of(const Column& label, const KnnOptions& options) {
  if (!options.weighs_classes()) return {};
  if (options.balanced && !options.class_weights.empty()) refuse("classes can have weights or be balanced, not both");
  if (!label.nominal()) refuse("the label '" + label.name + "' is numeric and has no classes");
  if (options.compat == Compat::rapidminer) refuse("RapidMiner's rules give every row the same weight");
  if (options.balanced) return balanced_weights(label);
  std::vector<double> weights(label.values.size(), -1.0);
  for (const auto& [name, weight] : options.class_weights) {
    const auto at = std::find(label.values.begin(), label.values.end(), name);
    if (at == label.values.end()) {
      refuse("no class is called '" + name + "'" + did_you_mean(name, label.values.names()) + "; there are " +
             listed(label.values));
    }
    if (!(weight >= 0.0) || std::isinf(weight)) {
      refuse("the weight of '" + name + "' is " + (std::isnan(weight) ? "missing" : number_text(weight)) +
             "; weights are finite and >= 0");
    }
    double& own = weights[static_cast<std::size_t>(at - label.values.begin())];
    if (own >= 0.0) refuse("'" + name + "' has two weights");
    own = weight;
  }
  for (double& weight : weights) weight = weight < 0.0 ? 1.0 : weight;
  return weights;
}

}  // namespace stope::knn
