// The tensor filter on one GPU (knn/cuda_abi.hpp): a training table with its images, and searches in it.
//
// A search takes a batch of queries through five steps. It makes their images, finds maxima over a sample of the
// training rows, and derives thresholds from these maxima. Then it lists the groups that no score rules out. The last
// step computes the exact distances of what a sharper threshold leaves.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "knn/cuda/device_rows.hpp"
#include "knn/cuda/table_rows.hpp"
#include "knn/cuda/tensor/clusters/table_clusters.hpp"
#include "knn/cuda/tensor/images/plain_columns.hpp"
#include "knn/cuda/tensor/rerank/heap_replay.hpp"
#include "knn/cuda/tensor/scan/scan_plan.hpp"
#include "knn/cuda/votes.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

class TensorSession {
 public:
  static cuda_abi::FilterSize size(const cuda_abi::TensorSpec& spec, int gpu);

  /// Its GPU is current whenever a member is called, the constructor included.
  TensorSession(int gpu, const cuda_abi::TensorSpec& spec);
  ~TensorSession();
  TensorSession(const TensorSession&) = delete;
  TensorSession& operator=(const TensorSession&) = delete;

  int gpu() const { return gpu_; }
  /// The rows of the one table, which is complete.
  RowsThere rows_there() const { return {gpu_, tables_[0].values, tables_[0].n_rows, spec_.width}; }
  void begin(int buffer, std::int64_t n_rows);
  void load(int buffer, int piece, const double* rows, std::int64_t n);
  void lend(int buffer, const TableRows& rows);
  void wait(int piece) const { loaded_pieces_[piece].wait(); }
  std::int64_t finish(int buffer);
  /// Returns whether the table has clusters now.
  bool make_clusters(int buffer, const double* centres, std::int64_t n_centres, double most_radius);
  void submit(int slot, const cuda_abi::TensorQuery& query);
  cuda_abi::FilterAnswer collect(int slot);

 private:
  enum Total { kListed, kEvaluated, kLargestNorm, kAlwaysListed, kSkipped, kTotals };
  // Training rows with their images. One table is searched while rows go to the other.
  struct Table {
    std::int64_t n_rows = 0, n_padded = 0;
    std::int64_t loaded = 0, encoded = 0;  // rows so far
    std::int64_t n_always = 0;
    double residual = 0.0, largest_norm = 0.0;
    stope::cuda::DeviceBuffer<double> rows, shift;  // shift: of the scores, also in starts if these are apart
    const double* values = nullptr;                 // the rows, or those that are lent
    stope::cuda::DeviceBuffer<__half> images;
    stope::cuda::DeviceBuffer<float> norms, residuals, starts, shifted_starts;
    TableClusters clusters;
  };

  // What a batch has in the GPU's memory: the copy streams fill and read it while the GPU computes. Where there are
  // fewer spaces than slots, streams wait for the batch before in the same space.
  struct Space {
    stope::cuda::DeviceBuffer<double> queries, within, distances;
    stope::cuda::DeviceBuffer<std::int32_t> rows, uncertified;
    stope::cuda::DeviceBuffer<unsigned long long> totals;
    stope::cuda::Event computed, copied_back;
  };

  // A batch under way.
  struct Slot {
    Space* space = nullptr;
    stope::cuda::PinnedBuffer<double> host_distances;
    stope::cuda::PinnedBuffer<std::int32_t> host_rows, host_uncertified;
    stope::cuda::PinnedBuffer<unsigned long long> host_totals;
    stope::cuda::Event uploaded;
    std::array<stope::cuda::Clock, cuda_abi::kCopyBackStep + 1> ends;  // per FilterStep of a batch
    std::array<bool, cuda_abi::kCopyBackStep + 1> has_step = {};       // whether the batch has that step
    std::int64_t n_queries = 0;
    const Table* table = nullptr;
    VoteSpace votes;
    bool voted = false, lists_stay = false, predictions_stay = false;
  };

  void end_step(Slot& slot, cuda_abi::FilterStep step) { end_step(slot, step, stream_); }
  static void end_step(Slot& slot, cuda_abi::FilterStep step, const stope::cuda::Stream& stream);
  void search_batch(Slot& slot, const cuda_abi::TensorQuery& query);
  void search_nearest(Slot& slot, const cuda_abi::TensorQuery& query);
  bool leaves_tiles_out(const Slot& slot, const cuda_abi::TensorQuery& query) const;
  void search_clusters(Slot& slot, const cuda_abi::TensorQuery& query);
  void search_within(Slot& slot, const cuda_abi::TensorQuery& query);
  void search_heap(Slot& slot, const cuda_abi::TensorQuery& query);
  void take_space(Slot& slot);
  void take_queries(Slot& slot, const cuda_abi::TensorQuery& query);
  const VoterView& voters_of(const cuda_abi::TensorQuery& query) const {
    return cuda::voters_of(*query.vote, gpu_, spec_.n_rows);
  }
  void reserve_votes(Slot& slot, const cuda_abi::TensorQuery& query);
  void copy_back(Slot& slot, const cuda_abi::TensorQuery& query);
  void encode_queries(const Slot& slot, std::int64_t n);
  ScanSize scan_size(std::int64_t n_queries, std::int64_t n_tiles, int k) const;
  ScanJob scan_job(const Table& table, std::int64_t n_queries, const ScanPart& part) const;
  RerankJob rerank_job(Slot& slot, const cuda_abi::TensorQuery& query);
  GroupLists lists() const;
  EncodeJob encode_job() const;
  BoundsJob bounds(const Table& table) const;
  void make_table(Table& table);
  void encode_loaded(Table& table, const stope::cuda::Event& copied);
  StartPlace start_place(const Table& table) const;
  const float* starts_of(const Table& table) const;
  bool in_bytes() const { return bytes_.factor != 0; }
  void add_image_time(int number);

  int gpu_;
  stope::cuda::Stream stream_, copy_in_, copy_out_;  // for batches
  stope::cuda::Stream loading_, copy_rows_;          // for training rows
  cuda_abi::TensorSpec spec_;
  RerankKernel kernel_;
  ReplayKernel replay_;
  std::vector<unsigned char> measure_;
  int width_;  // width of an image, in halves
  ByteSteps bytes_;
  int multiprocessors_;
  std::int64_t batch_;
  stope::cuda::DeviceBuffer<Attribute> attributes_;
  stope::cuda::DeviceBuffer<cuda_abi::ImageColumn> columns_;
  PlainColumns plain_train_, plain_queries_;
  Table tables_[cuda_abi::kTensorBuffers];
  stope::cuda::DeviceBuffer<unsigned long long> table_totals_;
  stope::cuda::PinnedBuffer<unsigned long long> host_table_totals_;
  stope::cuda::DeviceBuffer<double> query_squares_;
  stope::cuda::DeviceBuffer<__half> query_images_, query_tiles_;
  stope::cuda::DeviceBuffer<float> query_norms_, query_residuals_, thresholds_;
  stope::cuda::DeviceBuffer<ListedGroup> candidates_;
  stope::cuda::DeviceBuffer<std::int32_t> counts_, sizes_;
  Space spaces_[cuda_abi::kTensorSlots];
  std::int64_t next_space_ = 0;
  Slot slots_[cuda_abi::kTensorSlots];
  stope::cuda::Event loaded_pieces_[cuda_abi::kTensorPieces];
  static constexpr int kTimed = 2;  // images under way that have a pair of clocks
  stope::cuda::Clock images_begin_[kTimed], images_end_[kTimed];
  bool images_timed_[kTimed] = {};
  int next_timed_ = 0;
  std::atomic<std::int64_t> image_microseconds_ = 0;  // time of the training rows' images since the last answer
};

}  // namespace stope::knn::cuda
