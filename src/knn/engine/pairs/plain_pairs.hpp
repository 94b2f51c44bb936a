// Tiles of distances, computed across pairs where the measure and the values allow it, else by the formula.
#pragma once

#include <memory>

#include "device/backend.hpp"
#include "knn/engine/pairs/pairs.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {

class PlainPairs {
 public:
  /// Queries of a tile: the rows are transposed once for all of them.
  static constexpr std::int64_t kQueries = 64;

  PlainPairs(const MeasureKernel& kernel, const PlainForm& form, const PairKernels& pairs, std::int64_t width)
      : kernel_(kernel), form_(form), pairs_(pairs), width_(width) {}

  /// Writes the bits that MeasureKernel::evaluate writes, for training rows that lack no value. Thread-safe.
  void evaluate(const Tile& tile, Quantity quantity, PairOrder order) const;

 private:
  const MeasureKernel& kernel_;
  const PlainForm& form_;
  const PairKernels& pairs_;
  std::int64_t width_;
};

/// Returns what computes the fitted rows' distances with the back end's instructions. Null: the measure has no such
/// form over these attributes, or the rows are so wide that a group of them leaves the cache.
std::unique_ptr<const PlainPairs> make_plain_pairs(const Fitted& fitted, device::Backend backend);

}  // namespace stope::knn
