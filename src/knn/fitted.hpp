// A fitted index: the training table's features, encoded, and the measure that compares them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/measure/kernel.hpp"
#include "knn/measure/table.hpp"
#include "stope/knn.hpp"
#include "table/match.hpp"

namespace stope::knn {

class FilterCache;     // knn/filter/filter_cache.hpp
class GpuFilterCache;  // knn/gpu/gpu_filter_cache.hpp
class GpuTable;        // knn/gpu/gpu_table.hpp
class SearchHistory;   // knn/engine/search_history.hpp

/// Whether an index holds its encoded rows, of so many bytes, or encodes them in every search.
bool holds_rows(std::int64_t bytes, const RunOptions& run);

/// Rows of a task that encodes them and looks at them while they are in the cache: a megabyte of a wide table.
constexpr std::int64_t rows_in_cache(std::int64_t width) {
  constexpr std::int64_t kMostRows = 512, kLeastRows = 16, kValues = std::int64_t{1} << 17;
  const std::int64_t rows = kValues / (width > 0 ? width : 1);
  return rows < kLeastRows ? kLeastRows : rows > kMostRows ? kMostRows : rows;
}

class Fitted {
 public:
  Fitted(const Table& train, const KnnOptions& options, const RunOptions& run);
  /// Rows of numbers, n_rows x features. `outline` names the features; its columns have no values.
  /// `read` returns the rows. If it writes them, it may pass on n rows at a time while they are in the cache, by
  /// worker.
  enum class Rows { own, shared };  ///< shared: they lie in memory that the caller has lent
  using SeeRows = std::function<void(const double* rows, std::int64_t n, int worker)>;
  using ReadRows = std::function<Buffer<double>(ThreadPool&, const SeeRows&)>;
  Fitted(Table outline, Rows rows, const ReadRows& read, const KnnOptions& options, const RunOptions& run);
  /// The same for rows that lie in a GPU's memory, and stay there until something needs them on the host.
  Fitted(Table outline, std::shared_ptr<const GpuTable> rows, const KnnOptions& options, const RunOptions& run);
  ~Fitted();
  Fitted(const Fitted&) = delete;
  Fitted& operator=(const Fitted&) = delete;

  /// The columns' names, types and roles. The columns that resident rows hold have no values here.
  const Table& outline() const { return train_; }
  /// The training table with all its values; those of the rows are decoded.
  Table train() const;
  /// The same for one column of the table.
  Column train_column(std::int64_t index) const;
  const KnnOptions& options() const { return options_; }
  const MeasureRow& measure() const { return *measure_; }
  const MeasureKernel& kernel() const { return *kernel_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  /// The features in column order, without those of weight 0.
  const std::vector<FeatureSpec>& features() const { return features_; }
  std::int64_t n_rows() const { return train_.n_rows; }
  std::int64_t width() const { return static_cast<std::int64_t>(features_.size()); }
  /// Whether the encoded rows are held, on the host or on a GPU. A table too large for the memory budget is encoded
  /// part by part in every search.
  bool resident() const { return resident_; }
  std::int64_t bytes() const { return resident_ ? n_rows() * width() * static_cast<std::int64_t>(sizeof(double)) : 0; }
  /// Whether no value of the features is missing or infinite.
  bool all_finite() const;
  /// Writes rows [begin, end), row-major.
  void encode(std::int64_t begin, std::int64_t end, double* out) const;
  /// Does so in parallel.
  void encode(std::int64_t begin, std::int64_t end, double* out, ThreadPool& pool, const CancelToken& cancel,
              PhaseProgress* progress = nullptr, const SeeRows& see = {}) const;
  /// Returns at most n rows from all over the table, encoded.
  std::vector<double> sample(std::int64_t n) const;
  /// What searches make from the table when they first need it, and keep for each other.
  FilterCache& filters() const { return *filters_; }
  GpuFilterCache& gpu_filters() const { return *gpu_filters_; }
  SearchHistory& history() const { return *history_; }
  /// n_rows x width, row-major; resident() only. Rows that are on a GPU alone are copied to the host first, which
  /// throws out_of_memory, device_lost, and device_unavailable in a forked process.
  const double* rows() const { return on_host_.load(std::memory_order_acquire) ? rows_.data() : rows_from_gpu(); }
  /// The rows, if they are in this GPU's memory and not on the host; else null.
  std::shared_ptr<const GpuTable> rows_alone_on(int gpu) const;
  /// The same for a search on these GPUs: null unless they are one.
  std::shared_ptr<const GpuTable> rows_alone_on(const std::vector<int>& gpus) const;
  /// Copies rows that are on a GPU alone to the host, and lets go of that memory.
  void leave_gpus() const;

  /// Throws invalid_argument if rows in lent memory are no longer those of the fit: a look at a few rows, for every
  /// search.
  void check_some_rows() const;
  /// A look at all rows, for what is made from all of them. It reads nothing where the rows are the index's own.
  void check_rows(int threads, const CancelToken& cancel) const;
  /// The sum over all rows (knn/row_sum.hpp), for those that are encoded part by part from lent columns.
  void check_sum(std::uint64_t sum) const;

 private:
  struct Extremes;  // of the rows that one thread has seen

  const double* rows_from_gpu() const;
  /// The rows, if they are on a GPU alone; else null.
  std::shared_ptr<const GpuTable> gpu_rows() const;
  void select_features();
  int fit_threads(const RunOptions& run) const;
  void hold_rows(ThreadPool& pool, const RunOptions& run, const SeeRows& see);
  void keep_other_columns(const RunOptions& run);
  void finish(ThreadPool& pool, const RunOptions& run, std::vector<Extremes> seen);
  /// Returns rows [begin, begin + n), where they are held or encoded into `strip`.
  const double* strip_rows(std::int64_t begin, std::int64_t n, double* strip) const;
  void see_all_rows(ThreadPool& pool, const CancelToken& cancel, std::vector<Extremes>& extremes);
  void describe_attributes(const std::vector<Extremes>& extremes);
  /// Gives the columns of these attributes their values.
  void decode_columns(const std::vector<std::size_t>& attributes, Table& table) const;
  void take_given_ranges();
  FeatureRanges numeric_ranges() const;
  void check_domain(const RowVisitor& visit_rows) const;
  /// Whether the rows lie in memory that somebody else might write to.
  bool lent() const { return shared_ || !resident(); }
  std::uint64_t sum_of_some_rows() const;

  Table train_;  // shares the caller's columns; those that rows_ holds are empty
  KnnOptions options_;
  const MeasureRow* measure_;
  std::vector<FeatureSpec> features_;
  std::vector<std::size_t> compared_;   // which of the table's columns the features are
  std::vector<MatchedColumn> columns_;  // columns of train_, where the rows are not held
  std::vector<Attribute> attributes_;   // attributes as the formulas see them; the kernel refers to them
  FeatureRanges ranges_;                // of the features, by attribute
  mutable Buffer<double> rows_;
  bool resident_ = false;
  mutable std::atomic<bool> on_host_ = true;  // whether rows_ has all that will ever be there
  mutable std::mutex rows_mutex_;             // of the next and, until on_host_, of rows_
  mutable std::shared_ptr<const GpuTable> gpu_rows_;
  bool shared_ = false;                      // rows_ lies in memory that the caller has lent
  std::uint64_t sum_ = 0, sum_of_some_ = 0;  // of lent rows
  std::unique_ptr<MeasureKernel> kernel_;
  std::unique_ptr<FilterCache> filters_;
  std::unique_ptr<GpuFilterCache> gpu_filters_;
  std::unique_ptr<SearchHistory> history_;
};

}  // namespace stope::knn
