// The caller's memory for predictions, on the host or in a GPU (PredictionArrays).
#pragma once

#include <cstdint>
#include <vector>

#include "knn/vote/ballot.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// Takes the predictions that the host has. Those for a GPU are collected, and go there in runs of consecutive queries.
class CallerPredictions {
 public:
  /// `n_values`: the numbers of a prediction, 0 if they are not wanted. `classes`: whether codes are wanted. Throws
  /// invalid_argument for memory that is null, or memory or a stream that is not the GPU's; device_unavailable where
  /// that GPU cannot be used.
  CallerPredictions(const PredictionArrays& arrays, std::int64_t n_queries, std::int64_t n_values, bool classes);

  /// Returns where the prediction of a query goes. Call it in the order of the queries.
  PredictionPlace place(std::int64_t query);
  /// Brings to the GPU what is not there yet. Call it after the last query.
  void flush();

 private:
  PredictionArrays arrays_;
  std::int64_t n_values_;
  std::int64_t most_;                // predictions collected at once
  std::int64_t first_ = 0, n_ = 0;   // the queries of those collected
  std::vector<std::int32_t> codes_;  // of these
  std::vector<double> values_;
};

}  // namespace stope::knn
