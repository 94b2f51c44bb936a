// A training table with its images on one GPU, and the steps of a search by differences
// (docs/adr/0008-differences-on-gpus.md). They are: images of the queries, the best of every group of sample rows, and
// cuts from the distances of these rows. Then come a list of what the cuts do not rule out, sharper cuts from the best
// of the list, and the distances of what is left.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/cuda/upload.hpp"
#include "knn/cuda/differences/images.hpp"
#include "knn/cuda/differences/listed_pairs.hpp"
#include "knn/cuda/differences/select.hpp"
#include "knn/cuda/host_answer.hpp"
#include "knn/cuda/table_rows.hpp"
#include "knn/cuda/votes.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

/// The layout of byte images, per column (byte_layout.hpp), and what the columns add to divisors. With `gaps`, values
/// may be missing.
struct PlannedBytes {
  std::vector<ByteColumn> columns;
  int difference_words = 0, product_words = 0, divisor_words = 0;
  double weight_steps = 1.0;

  int words() const { return even_lines(difference_words + product_words + divisor_words); }
};
PlannedBytes plan_bytes(const cuda_abi::DifferenceSpec& spec, bool gaps);

class DifferenceSession {
 public:
  static cuda_abi::FilterSize size(const cuda_abi::DifferenceSpec& spec, int gpu);

  /// Its GPU is current whenever a member is called, the constructor included.
  DifferenceSession(int gpu, const cuda_abi::DifferenceSpec& spec);
  ~DifferenceSession();
  DifferenceSession(const DifferenceSession&) = delete;
  DifferenceSession& operator=(const DifferenceSession&) = delete;

  int gpu() const { return gpu_; }
  /// The rows of the table, which is complete.
  RowsThere rows_there() const { return {gpu_, train_.data(), spec_.n_rows, spec_.width}; }
  void load(const double* rows, std::int64_t n);
  std::int64_t finish();
  cuda_abi::FilterAnswer search(const cuda_abi::DifferenceQuery& query);

 private:
  bool in_bytes() const { return spec_.steps > 0.0; }
  bool divides() const;
  const VoterView& voters_of(const cuda_abi::DifferenceQuery& query) const {
    return cuda::voters_of(*query.vote, gpu_, spec_.n_rows);
  }
  void plan(bool gaps);
  void make_train_images(std::int64_t first, std::int64_t n);
  void find_always();
  bool read_gaps();
  ImageJob image_job(const double* rows, std::int64_t first, std::int64_t n, std::int64_t n_padded, float* residuals);
  ByteLayout layout() const;
  CutRule rule() const;
  ScanTiles sample_tiles(std::int64_t n_queries, std::int64_t k) const;
  std::int64_t segments_that_fill(std::int64_t n_queries) const;
  template <class Sink, class Differences, class Bytes>
  void scan(const ScanTiles& tiles, const Exclusions& exclusions, const Sink& sink, const Differences& differences,
            const Bytes& bytes);
  static constexpr std::int32_t kMostAlways = 512;
  enum Total { kListed, kEvaluated, kTotals };
  /// Consecutive queries, and the buffer, 0 or 1, that holds their rows.
  struct Batch {
    std::int64_t begin, n;
    std::size_t buffer;
  };
  void upload(const cuda_abi::DifferenceQuery& query, const Batch& batch);
  void search_batch(const cuda_abi::DifferenceQuery& query, const Batch& batch, const Batch& next);
  void find_nearest(const cuda_abi::DifferenceQuery& query, const Batch& batch, const Exclusions& exclusions,
                    const ChosenRows& chosen);
  void fill_heaps(const cuda_abi::DifferenceQuery& query, const Batch& batch, const Exclusions& exclusions,
                  const ChosenRows& chosen);
  EntryLists lists() const;
  void copy_back(const cuda_abi::DifferenceQuery& query, const Batch& batch);
  void make_query_images(const Batch& batch);
  void evaluate(const Batch& batch, const ChosenRows& chosen);

  int gpu_;
  cuda_abi::DifferenceSpec spec_;
  const ListedKernel* kernel_;
  std::vector<unsigned char> measure_;
  int multiprocessors_;
  std::int64_t n_columns_, n_padded_, batch_, stride_, list_capacity_, most_words_;
  std::int64_t loaded_ = 0;
  bool gaps_ = false;  // a value is missing in the training table or in a batch so far
  PlannedBytes bytes_;
  double train_residual_ = 0.0;
  std::int32_t n_always_ = 0;
  RowForm form_;  // its pointers are into the GPU's memory

  template <class T>
  using Device = stope::cuda::DeviceBuffer<T>;
  Device<Attribute> attributes_;
  Device<NumericColumn> numeric_;
  Device<std::int64_t> equality_;
  Device<float> mismatch_, weight_;
  Device<ByteColumn> byte_columns_;
  Device<double> train_;
  Device<std::uint32_t> train_images_;  // words: one float or four bytes each
  Device<float> train_residuals_, starts_;
  Device<std::int32_t> byte_starts_, always_, n_always_found_, found_gaps_;
  Device<std::int64_t> train_groups_;
  Device<double> queries_[2];
  Device<std::uint32_t> query_images_;
  Device<float> query_residuals_;
  Device<std::int64_t> query_groups_;
  Device<float> group_scores_;
  Device<std::int32_t> group_rows_;
  Device<SumCut> cuts_;
  Device<double> reaches_;
  Device<Entry> entries_;
  Device<std::int32_t> counts_, chosen_rows_, chosen_counts_;
  Device<double> chosen_distances_, distances_;
  Device<std::int32_t> rows_, uncertified_, heap_sizes_;
  Device<unsigned long long> totals_;
  stope::cuda::PinnedBuffer<unsigned long long> host_totals_;
  stope::cuda::PinnedBuffer<std::int32_t> host_gaps_;
  HostAnswer answers_[cuda_abi::kAnswerPlaces];
  VoteSpace votes_;
  std::array<float, cuda_abi::kFilterSteps> milliseconds_{};
  stope::cuda::Uploader upload_;
  stope::cuda::Stream stream_, copies_;  // rows of the next batch are copied while one batch is searched
  stope::cuda::Event uploaded_[2];
  stope::cuda::Clock upload_begins_[2], upload_ends_[2];
  std::array<stope::cuda::Clock, cuda_abi::kCopyBackStep + 1> ends_;  // per FilterStep of a batch
};

}  // namespace stope::knn::cuda
