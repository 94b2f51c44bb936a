// The tensor filter on one GPU (knn/cuda_abi.hpp): a training table with its images, and searches in it.
//
// A search goes through a batch of queries in five steps: images, maxima over a sample of the training rows, thresholds
// from them, the list of groups that no score rules out, and the exact distances of what a sharper threshold leaves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "knn/cuda/device_rows.hpp"
#include "knn/cuda/filter_parts.hpp"
#include "knn/cuda/filter_replay.hpp"
#include "knn/cuda/votes.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

class FilterSession {
 public:
  static cuda_abi::FilterSize size(const cuda_abi::FilterSpec& spec, int gpu);

  /// Its GPU is current whenever a member is called, the constructor included.
  FilterSession(int gpu, const cuda_abi::FilterSpec& spec);
  ~FilterSession();
  FilterSession(const FilterSession&) = delete;
  FilterSession& operator=(const FilterSession&) = delete;

  int gpu() const { return gpu_; }
  void begin(std::int64_t n_rows);
  void load(int piece, const double* rows, std::int64_t n);
  void wait(int piece) const { loaded_pieces_[piece].wait(); }
  std::int64_t finish();
  void voters(const cuda_abi::Voters& voters) { voters_ = DeviceVoters(voters, copy_in_); }
  void submit(int slot, const cuda_abi::FilterQuery& query);
  cuda_abi::FilterAnswer collect(int slot);

 private:
  // Of a batch; the last step of an answer is what the images of training rows took.
  static constexpr int kSteps = cuda_abi::kFilterSteps - 1;

  // A batch under way: what the copies beside the computing stream fill and read.
  struct Slot {
    stope::cuda::DeviceBuffer<double> queries, distances;
    stope::cuda::DeviceBuffer<std::int32_t> rows, uncertain;
    stope::cuda::DeviceBuffer<unsigned long long> totals;
    stope::cuda::PinnedBuffer<double> host_distances;
    stope::cuda::PinnedBuffer<std::int32_t> host_rows, host_uncertain;
    stope::cuda::PinnedBuffer<unsigned long long> host_totals;
    stope::cuda::Event uploaded, computed, done;
    std::array<stope::cuda::Clock, kSteps + 1> clocks;
    std::int64_t n_queries = 0;
    VoteSpace votes;
    bool voted = false, lists_stay = false;
  };

  void search_batch(Slot& slot, const cuda_abi::FilterQuery& query);
  void search_nearest(Slot& slot, const cuda_abi::FilterQuery& query);
  void search_heap(Slot& slot, const cuda_abi::FilterQuery& query);
  void take_queries(Slot& slot, const cuda_abi::FilterQuery& query);
  void reserve_votes(Slot& slot, const cuda_abi::FilterQuery& query);
  void copy_back(Slot& slot, const cuda_abi::FilterQuery& query);
  void encode_queries(const Slot& slot, std::int64_t n);
  ScanSize scan_size(std::int64_t n_queries, std::int64_t n_tiles, int k) const;
  ScanJob scan_job(std::int64_t n_queries, const ScanPart& part) const;
  RerankJob rerank_job(Slot& slot, const cuda_abi::FilterQuery& query);
  CandidateLists lists() const;
  EncodeJob encode_job() const;
  BoundsJob bounds() const;
  float usual_residual();
  void add_image_time(int piece);

  int gpu_;
  cuda_abi::FilterSpec spec_;
  RerankKernel kernel_;
  ReplayKernel replay_;
  std::vector<unsigned char> measure_;
  int width_;  // of an image
  int multiprocessors_;
  std::int64_t n_padded_, batch_;
  std::int64_t loaded_ = 0;
  std::int64_t n_always_ = 0;
  double train_residual_ = 0.0, largest_norm_ = 0.0;
  stope::cuda::DeviceBuffer<Attribute> attributes_;
  stope::cuda::DeviceBuffer<cuda_abi::FilterColumn> columns_;
  stope::cuda::DeviceBuffer<double> train_, train_squares_;
  stope::cuda::DeviceBuffer<__half> train_images_;
  stope::cuda::DeviceBuffer<float> train_norms_, train_residuals_, starts_, shifted_starts_;
  stope::cuda::DeviceBuffer<double> query_squares_, shift_;
  stope::cuda::DeviceBuffer<__half> query_images_, query_tiles_;
  stope::cuda::DeviceBuffer<float> query_norms_, query_residuals_, maxima_, thresholds_;
  stope::cuda::DeviceBuffer<Candidate> candidates_;
  stope::cuda::DeviceBuffer<std::int32_t> counts_, sizes_;
  DeviceVoters voters_;
  Slot slots_[cuda_abi::kFilterSlots];
  stope::cuda::Event loaded_pieces_[cuda_abi::kFilterPieces];
  stope::cuda::Clock images_begin_[cuda_abi::kFilterPieces], images_end_[cuda_abi::kFilterPieces];
  bool images_timed_[cuda_abi::kFilterPieces] = {};
  float image_milliseconds_ = 0.0F;  // of training rows, since the last answer
  stope::cuda::Stream stream_, copy_in_, copy_out_;
};

}  // namespace stope::knn::cuda
