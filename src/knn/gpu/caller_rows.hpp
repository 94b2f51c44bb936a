// Rows in a GPU's memory that the caller owns (stope/knn_arrays.hpp), as fit and search see them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "knn/engine/query_source.hpp"
#include "knn/gpu/device_rows_abi.hpp"
#include "stope/knn_arrays.hpp"

namespace stope::knn {

/// Query rows on a GPU.
class GpuRows final : public QuerySource {
 public:
  /// `rows` have been checked, and the values of a row are one after the other. `columns`: which of them are the
  /// encoded attributes.
  GpuRows(const ArrayView& rows, std::vector<std::int64_t> columns) : rows_(rows), columns_(std::move(columns)) {}

  int gpu() const { return rows_.gpu; }
  std::int64_t n_rows() const override { return rows_.n_rows; }
  void encode(std::int64_t begin, std::int64_t end, double* out) const override;
  /// Whether a GPU can read the rows where they are: floats or doubles, and all columns are compared.
  bool as_they_are() const;
  /// Returns what the plug-in needs to read the queries from `first` on.
  cuda_abi::DeviceRows rows_from(std::int64_t first) const;

 private:
  ArrayView rows_;
  std::vector<std::int64_t> columns_;
};

/// Query rows on a GPU, and where their lists of k, or their predictions by one k, go on the same GPU.
class InPlace {
 public:
  InPlace(const GpuRows& rows, const NeighborArrays& lists, std::int64_t k) : rows_(rows), lists_(lists), per_row_(k) {}
  /// A prediction has `n_values` numbers.
  InPlace(const GpuRows& rows, const PredictionArrays& predictions, std::int64_t n_values)
      : rows_(rows), predictions_(predictions), votes_(true), per_row_(n_values) {}
  int gpu() const { return rows_.gpu(); }
  /// Whether predictions, and not lists, stay on the GPU.
  bool wants_votes() const { return votes_; }
  cuda_abi::DeviceRows rows_from(std::int64_t first) const { return rows_.rows_from(first); }
  cuda_abi::DeviceLists lists_from(std::int64_t first) const {
    return {lists_.indices + first * per_row_, lists_.distances + first * per_row_};
  }
  cuda_abi::DevicePredictions predictions_from(std::int64_t first) const {
    return {predictions_.codes == nullptr ? nullptr : predictions_.codes + first,
            predictions_.values == nullptr ? nullptr : predictions_.values + first * per_row_};
  }

 private:
  const GpuRows& rows_;
  NeighborArrays lists_ = {};
  PredictionArrays predictions_ = {};
  bool votes_ = false;
  std::int64_t per_row_;  // entries or numbers
};

}  // namespace stope::knn
