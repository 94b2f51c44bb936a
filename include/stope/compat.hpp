// Compatibility modes: whose tie, vote and missing-value rules a job follows.
#pragma once

namespace stope {

/// `none`: stope's own rules (docs/NUMERICS.md). `rapidminer`: those of RapidMiner 5.3 - neighbour ties by the shape of
/// its heap, its vote order and formulas, an unseen nominal value is missing, k may exceed the number of rows.
enum class Compat { none, rapidminer };

}  // namespace stope
