// Fitted donors: the training rows, their index, and what each column that is filled in needs to know of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stope/impute.hpp"
#include "stope/knn.hpp"
#include "table/match.hpp"

namespace stope::impute {

/// A column that is filled in, as the training table has it.
struct FilledColumn {
  std::int64_t place = 0;  ///< in Fitted::train()
  std::int64_t n_present = 0;
  std::vector<std::uint64_t> present = {};  ///< one bit a training row; empty where every row has the column
  double fallback = 0.0;                    ///< a number or a training code; NaN where no row has the column

  bool has(std::int64_t row) const {
    return present.empty() || (present[static_cast<std::size_t>(row) / 64] >> (row % 64) & 1) != 0;
  }
};

class Fitted {
 public:
  Fitted(const Table& train, const ImputeOptions& options, const RunOptions& run);

  const ImputeOptions& options() const { return options_; }
  const Table& train() const { return train_; }
  const std::vector<std::string>& names() const { return names_; }
  /// In the order of names().
  const std::vector<FilledColumn>& columns() const { return columns_; }
  const Column& column(const FilledColumn& filled) const {
    return train_.columns[static_cast<std::size_t>(filled.place)];
  }
  const std::vector<FeatureSpec>& features() const { return features_; }
  const KnnIndex& index() const { return index_; }
  /// Rows of a table as the index takes them.
  Table normalized(const Table& rows, const RunOptions& run) const { return normalizer_.apply(rows, run); }

 private:
  void choose_columns(const Table& train);
  void look_at_columns(const RunOptions& run);

  ImputeOptions options_;
  Table train_;
  std::vector<std::string> names_;
  std::vector<FilledColumn> columns_;
  std::vector<FeatureSpec> features_;
  Normalizer normalizer_;
  KnnIndex index_;
};

}  // namespace stope::impute
