// A training table's clusters on one GPU (clusters.hpp): their memory, how they are made, and what a batch of queries
// needs of them.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "knn/cuda/tensor/clusters/clusters.hpp"

namespace stope::knn::cuda {

/// What clusters are made of: a complete table's images, and the centres' images, which are row by row and padded to
/// kCentreRows.
struct ClusterSource {
  const __half* images;
  const float* norms;
  const float* residuals;
  const float* starts;  ///< null: the images have them in columns
  std::int64_t n_rows, n_padded;
  int width;
  float most_residual, most_radius;
};

class TableClusters {
 public:
  /// Clusters that do not exist.
  TableClusters() = default;
  /// Waits until the clusters are made.
  TableClusters(const ClusterSource& source, stope::cuda::DeviceBuffer<__half> centres,
                stope::cuda::DeviceBuffer<float> centre_norms, int n_centres, std::int64_t most_queries,
                const stope::cuda::Stream& stream);

  bool exist() const { return n_centres_ > 0; }
  ClusterView view() const;
  const __half* images() const { return images_.data(); }
  /// The row of each place.
  const std::int32_t* order() const { return order_.data(); }
  /// The starts in this order, of `starts` that may have changed since.
  const float* put_starts_in_order(const float* starts, cudaStream_t stream) const;

  // Room for a batch of queries.
  std::int32_t* homes() const { return homes_.data(); }
  std::int32_t* query_order() const { return query_order_.data(); }
  const stope::cuda::DeviceBuffer<std::uint8_t>& needed() const { return needed_; }
  std::int32_t* tiles() const { return tiles_.data(); }
  std::int32_t* sizes() const { return sizes_.data(); }

 private:
  int n_centres_ = 0, width_ = 0;
  std::int64_t n_rows_ = 0, n_padded_ = 0;
  stope::cuda::DeviceBuffer<__half> centres_, images_;
  stope::cuda::DeviceBuffer<float> centre_norms_, radii_, starts_;
  stope::cuda::DeviceBuffer<std::int32_t> begins_, order_;
  stope::cuda::DeviceBuffer<std::int32_t> homes_, query_order_, tiles_, sizes_;
  stope::cuda::DeviceBuffer<std::uint8_t> needed_;
};

}  // namespace stope::knn::cuda
