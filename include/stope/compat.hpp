// Compatibility modes: whose tie, vote and missing-value rules a job follows.
#pragma once

#include <string_view>

#pragma GCC visibility push(default)
namespace stope {

/// `none`: stope's own rules (docs/NUMERICS.md). `rapidminer`: the rules of RapidMiner 5.3. The shape of its heap then
/// breaks ties between neighbours, and votes follow its order and formulas. An unseen nominal value is missing, and k
/// may exceed the number of rows.
enum class Compat { none, rapidminer };
Compat compat(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(Compat compat) noexcept;

}  // namespace stope
#pragma GCC visibility pop
