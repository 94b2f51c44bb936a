// A training table, or a part of one, with its images on one GPU. This is the host's handle of what the plug-in holds
// (knn/cuda_abi.hpp); all searches in the table share it.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "device/pinned_pool.hpp"
#include "knn/engine/pipeline.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/call.hpp"
#include "knn/gpu/gpu_table.hpp"
#include "knn/gpu/spare_threads.hpp"
#include "knn/gpu/tensor/byte_columns.hpp"

namespace stope::knn {

/// Half of kTensorBatchQueries. The full batch is 132 blocks of the scan, so that on 132 multiprocessors segments are
/// whole waves. Half of it fills a GPU too, and serves where memory is short, but takes a tenth longer (docs/adr/0007).
inline constexpr std::int64_t kHalfOfBatch = cuda_abi::kTensorBatchQueries / 2;
/// The most neighbours that a filter lists for a query,
inline constexpr std::int64_t kMostFilterNeighbors = 1024;
/// and the most that it keeps in RapidMiner's heap.
inline constexpr std::int64_t kMostHeapNeighbors = 512;
/// Returns the most query rows that a filter takes at once, for k neighbours.
std::int64_t most_filter_queries(std::int64_t k);

/// How much room a query's list has. `short_ones` is for lists that only later parts of the table add to.
enum class ListRoom { usual, short_ones };

/// What the plug-in is told about a fitted table, which it gets in tables of `n_rows` rows. Points into the fitted
/// table.
struct TensorFilterSpec {
  TensorFilterSpec(const Fitted& fitted, const ImageMap& map, ImageElement element, std::int64_t n_rows,
                   std::int64_t n_queries, std::int64_t k);
  /// Changes the sizes to those of `n_buffers` parts: one is searched while another is filled.
  void hold_parts(int n_buffers, std::int64_t batch, ListRoom lists);
  ImageElement element;
  ImageColumns images;
  cuda_abi::TensorSpec spec{};

 private:
  std::int64_t k_;
};

/// The spec where the rows of the table are on the GPU already, or not; it points into `spec`.
cuda_abi::TensorSpec spec_with(const TensorFilterSpec& spec, const GpuTable* lent);

/// Rows at the start of a block that are checked for gaps.
inline constexpr std::int64_t kGapSample = 1024;
/// Returns the need that images do not meet because many queries lack values, or are off a grid of bytes. `n` of
/// `n_queries` are at hand.
std::optional<ImageNeed> unmet_need(const Fitted& fitted, bool in_bytes, const double* rows, std::int64_t n,
                                    std::int64_t n_queries);

/// A batch of queries under way.
struct BatchInFlight {
  /// Gets the answer, which is valid only while it runs; the pool may be null. It is called once, by the thread that
  /// next wants the batch's place on the GPU or its answer.
  std::function<void(const cuda_abi::FilterAnswer&, ThreadPool*)> take;
  std::exception_ptr error;
  std::size_t slot = 0;
  bool in_clusters = false;
};

class TensorFilter {
 public:
  /// `lent`: the rows of the table, if they are on that GPU already; else null, and a RowLoader brings them.
  TensorFilter(int gpu, const TensorFilterSpec& spec, std::shared_ptr<const GpuTable> lent = nullptr);

  int gpu() const { return gpu_; }
  std::int64_t most_neighbors() const { return most_neighbors_; }
  std::int64_t most_queries() const { return most_queries_; }
  bool takes_missing() const { return takes_gaps_; }
  bool in_bytes() const { return in_bytes_; }

  /// Its training rows, as doubles. They stay there, unchanged, as long as a filter of one whole table.
  cuda_abi::LentRows lent_rows() const { return {nullptr, filter_.get(), nullptr}; }

  /// Makes images of the rows that are lent.
  void take_lent_rows();

  /// Whether its images bound most rows.
  bool useful(int buffer = 0) const;

  /// Puts the table into clusters around these centres, where the GPU can and has room, so that searches leave tiles
  /// out. The answers do not change. Batches may be under way. Does nothing for a table that is in clusters.
  void make_clusters(const double* centres, std::int64_t n, double most_radius);
  /// Searches that are submitted later leave nothing out.
  void drop_clusters();
  bool in_clusters() const { return in_clusters_; }
  /// Whether make_clusters() was called, with success or not, and drop_clusters() was not.
  bool was_asked_for_clusters() const { return asked_for_clusters_; }

  /// Pairs of the batches that were searched in these clusters and have an answer.
  struct ClusterWork {
    std::int64_t scanned, skipped;
  };
  ClusterWork cluster_work() const { return {scanned_, skipped_}; }

  /// Queues a batch; query.rows must live until finish(). Safe from several threads at once. A batch keeps its place
  /// only until another search wants it, so a caller may do other work before it calls finish().
  std::shared_ptr<BatchInFlight> submit(const cuda_abi::TensorQuery& query, decltype(BatchInFlight::take) take);
  /// Waits until take() has run, and throws the error of take() or of the GPU.
  void finish(BatchInFlight& flight, ThreadPool& pool);
  /// Waits until the batch is no longer under way. For a search that does not want its answer any more.
  void settle(BatchInFlight& flight) { settle(flight, nullptr); }

  /// Memory for query rows.
  device::PinnedPool<double>& row_memory() { return row_memory_; }
  SpareThreads& threads() { return threads_; }

 private:
  friend class RowLoader;
  struct Destroy {
    void operator()(cuda_abi::TensorFilter* filter) const {
      if (device::cuda_lives()) cuda_functions().tensor_destroy(filter);
    }
  };
  struct Place {
    std::shared_ptr<BatchInFlight> flight;
    bool held = false;  // by the thread that queues the batch or takes its answer out
  };
  static bool may_leave_tiles_out(const cuda_abi::TensorQuery& query);
  void settle(BatchInFlight& flight, ThreadPool* pool);
  /// The lock is on mutex_. It is released while the thread waits and takes.
  void land(std::size_t slot, ThreadPool* pool, std::unique_lock<std::mutex>& lock);
  std::size_t free_slot(std::unique_lock<std::mutex>& lock);

  int gpu_;
  std::int64_t most_neighbors_, most_queries_;
  bool takes_gaps_, in_bytes_;
  std::atomic<bool> in_clusters_ = false, asked_for_clusters_ = false;  // written under submit_mutex_
  std::atomic<std::int64_t> scanned_ = 0, skipped_ = 0;                 // in clusters
  std::int64_t most_always_;
  std::size_t n_slots_;
  std::int64_t n_always_[cuda_abi::kTensorBuffers] = {};
  std::shared_ptr<const GpuTable> lent_;  // outlives the filter, which reads it
  std::unique_ptr<cuda_abi::TensorFilter, Destroy> filter_;
  std::mutex submit_mutex_;  // held while a batch is queued, and while clusters come or go
  std::mutex mutex_;
  std::condition_variable landed_;  // a place is free, or its batch may be landed
  Place slots_[cuda_abi::kTensorSlots];
  std::size_t next_ = 0;
  device::PinnedPool<double> row_memory_;
  SpareThreads threads_;
};

/// Most threads that fill pinned memory at once: one copies some 8 GB/s, the bus takes 55.
inline constexpr int kLoaderThreads = 8;

/// Brings rows of a fitted table to filters on one GPU, through pinned memory.
class RowLoader {
 public:
  /// `memory_limit`: the run's; 0 if it has none.
  RowLoader(int gpu, const Fitted& fitted, std::int64_t memory_limit);
  /// Replaces the rows of one of the filter's buffers by rows [first, first + n). No batch may be under way in it; if
  /// there is a function `until_free`, that is so once it returns, and the first rows lie in pinned memory when it is
  /// called.
  void load(TensorFilter& filter, int buffer, std::int64_t first, std::int64_t n, ThreadPool& pool,
            const CancelToken& cancel, const std::function<void()>& until_free = {});

 private:
  void fill(double* to, std::int64_t first, std::int64_t n, ThreadPool& pool, const CancelToken& cancel) const;

  const Fitted& fitted_;
  std::int64_t piece_rows_ = 1;
  device::Pinned<double> pieces_[cuda_abi::kTensorPieces];
};

}  // namespace stope::knn
