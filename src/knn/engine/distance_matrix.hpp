// The interface of an engine for a job that wants every distance, not the nearest rows: Pairwise and Cross Distances.
#pragma once

#include <cstdint>

#include "knn/engine/train_rows.hpp"
#include "knn/lists/selection.hpp"

namespace stope::knn {

class DistanceMatrix {
 public:
  virtual ~DistanceMatrix() = default;
  /// Writes values[i * ld + j] for every query i of the block and row j of the part. Polls the cancel token.
  virtual void compute(const TrainPart& part, const QueryBlock& block, Quantity quantity, PairOrder order,
                       double* values, std::int64_t ld) = 0;
  /// Adds the number of pairs evaluated so far.
  virtual void report(SearchReport& report) const = 0;
};

}  // namespace stope::knn
