// The option --class-weight, which k-NN and trees share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arguments/option.hpp"
#include "report/json.hpp"

namespace stope::cli {

struct ClassWeightArguments {
  std::vector<std::string> items;  // as given: CLASS=W, or "balanced"

  void add_to(OptionGroup& group, const std::string& help);

  /// Sets the options of k-NN or of a tree. Throws invalid_argument for an item that is neither CLASS=W nor "balanced",
  /// and for both kinds together.
  template <class Options>
  void set(Options& options) const {
    options.balanced = balanced();
    options.class_weights = by_name();
  }
  bool given() const { return !items.empty(); }
  /// What --json says: "balanced", an object of weights, or null.
  Json json() const;

 private:
  bool balanced() const;
  std::vector<std::pair<std::string, double>> by_name() const;
};

}  // namespace stope::cli
