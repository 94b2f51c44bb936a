// Compatibility modes: whose tie, vote and missing-value rules a job follows.
#pragma once

namespace stope {

/// `none`: stope's own rules (docs/NUMERICS.md). `rapidminer`: the rules of RapidMiner 5.3. The shape of its heap then
/// breaks ties between neighbours, and votes follow its order and formulas. An unseen nominal value is missing, and k
/// may exceed the number of rows.
enum class Compat { none, rapidminer };

}  // namespace stope
