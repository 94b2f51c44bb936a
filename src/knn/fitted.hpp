// A fitted index: the training table's features, encoded, and the measure that compares them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/measure/kernel.hpp"
#include "knn/measure/table.hpp"
#include "stope/knn.hpp"
#include "table/match.hpp"

namespace stope::knn {

class FilterCache;     // knn/filter/filter_cache.hpp
class GpuFilterCache;  // knn/gpu/gpu_filter_cache.hpp
class SearchHistory;   // knn/engine/search_history.hpp

class Fitted {
 public:
  Fitted(const Table& train, const KnnOptions& options, const RunOptions& run);
  ~Fitted();
  Fitted(const Fitted&) = delete;
  Fitted& operator=(const Fitted&) = delete;

  const Table& train() const { return train_; }
  const KnnOptions& options() const { return options_; }
  const MeasureRow& measure() const { return *measure_; }
  const MeasureKernel& kernel() const { return *kernel_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  /// The features in column order, without those of weight 0.
  const std::vector<FeatureSpec>& features() const { return features_; }
  std::int64_t n_rows() const { return train_.n_rows; }
  std::int64_t width() const { return static_cast<std::int64_t>(features_.size()); }
  /// Whether the encoded rows are held. A table too large for the memory budget is encoded part by part in every
  /// search.
  bool resident() const { return !rows_.empty(); }
  std::int64_t bytes() const { return rows_.size() * static_cast<std::int64_t>(sizeof(double)); }
  /// Encodes rows [begin, end), row-major.
  void encode(std::int64_t begin, std::int64_t end, double* out, ThreadPool& pool, const CancelToken& cancel) const;
  /// Returns at most n rows from all over the table, encoded.
  std::vector<double> sample(std::int64_t n) const;
  /// What searches make from the table when they first need it, and keep for each other.
  FilterCache& filters() const { return *filters_; }
  GpuFilterCache& gpu_filters() const { return *gpu_filters_; }
  SearchHistory& history() const { return *history_; }
  const double* rows() const { return rows_.data(); }  ///< n_rows x width, row-major; resident() only

 private:
  void select_features(const Table& train);
  void hold_rows(ThreadPool& pool, const RunOptions& run);
  /// Returns rows [begin, begin + n), where they are held or encoded into `strip`.
  const double* strip_rows(std::int64_t begin, std::int64_t n, double* strip) const;
  void describe_attributes(ThreadPool& pool, const CancelToken& cancel);
  void check_domain(const RowVisitor& visit_rows) const;

  Table train_;  // shares the caller's columns
  KnnOptions options_;
  const MeasureRow* measure_;
  std::vector<FeatureSpec> features_;
  std::vector<MatchedColumn> columns_;  // columns of train_
  std::vector<Attribute> attributes_;   // attributes as the formulas see them; the kernel refers to them
  Buffer<double> rows_;
  std::unique_ptr<MeasureKernel> kernel_;
  std::unique_ptr<FilterCache> filters_;
  std::unique_ptr<GpuFilterCache> gpu_filters_;
  std::unique_ptr<SearchHistory> history_;
};

}  // namespace stope::knn
