// A training table with boxes over boxes on one GPU, and the steps of a search through them
// (docs/adr/0052-boxes-on-gpus.md). They are: images of the queries and the leaf that each would be in, an order of the
// queries by leaves, and the search.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device/cuda/upload.hpp"
#include "knn/cuda/boxes/box_search.hpp"
#include "knn/cuda/host_answer.hpp"
#include "knn/cuda/votes.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

class BoxSession {
 public:
  static cuda_abi::FilterSize size(const cuda_abi::DifferenceSpec& spec);

  /// Its GPU is current whenever a member is called, the constructor included.
  BoxSession(int gpu, const cuda_abi::DifferenceSpec& spec);
  ~BoxSession();
  BoxSession(const BoxSession&) = delete;
  BoxSession& operator=(const BoxSession&) = delete;

  void load(const double* rows, std::int64_t n);
  /// No row is always listed: those that no image bounds open the boxes around them.
  std::int64_t finish();
  cuda_abi::FilterAnswer search(const cuda_abi::DifferenceQuery& query);

 private:
  template <class T>
  using Device = stope::cuda::DeviceBuffer<T>;
  /// Memory that only the order of the training rows needs.
  struct Ordering {
    PairSort sort;
    Device<float> images, residuals;
  };

  void search_batch(const cuda_abi::DifferenceQuery& query, std::int64_t begin, std::int64_t n);
  void copy_back(const cuda_abi::DifferenceQuery& query, std::int64_t begin, std::int64_t n);

  int gpu_;
  cuda_abi::DifferenceSpec spec_;
  const BoxKernel* kernel_;
  std::vector<unsigned char> measure_;
  int n_columns_;
  std::int64_t batch_;
  std::int64_t loaded_ = 0;
  LeafShape shape_;
  BoxLevels boxes_;
  double train_residual_ = 0.0;
  RowForm form_;  // its pointers are into the GPU's memory

  Device<Attribute> attributes_;
  Device<NumericColumn> numeric_;
  Device<std::int64_t> equality_;
  Device<float> mismatch_;
  Device<double> train_;  // until finish(): the rows in the table's order
  Device<double> near_;
  Device<std::int32_t> near_rows_;
  Device<Split> splits_;
  Device<float> low_, high_;
  Device<std::int32_t> first_rows_;
  Device<std::int64_t> train_groups_, query_groups_;
  PairSort sort_;
  Device<double> queries_;
  Device<float> images_, residuals_;
  Device<double> distances_;
  Device<std::int32_t> rows_, uncertified_;
  Device<unsigned long long> work_;  // counters of opened groups, and of evaluated pairs
  stope::cuda::PinnedBuffer<unsigned long long> host_work_;
  HostAnswer answers_[cuda_abi::kAnswerPlaces];
  VoteSpace votes_;
  float table_milliseconds_ = 0.0F;  // of the boxes, until an answer tells it
  std::array<float, cuda_abi::kFilterSteps> milliseconds_{};
  stope::cuda::Uploader upload_;
  stope::cuda::Stream stream_;
  stope::cuda::Clock begin_, uploaded_, ordered_, searched_, voted_, copied_;
};

}  // namespace stope::knn::cuda
