#include "knn/cuda/tensor/clusters/table_clusters.hpp"

#include <bit>
#include <utility>

#include "base/checked.hpp"
#include "knn/cuda/boxes/pair_sort.hpp"
#include "knn/cuda/copies.hpp"

namespace stope::knn::cuda {

TableClusters::TableClusters(const ClusterSource& source, stope::cuda::DeviceBuffer<__half> centres,
                             stope::cuda::DeviceBuffer<float> centre_norms, int n_centres, std::int64_t most_queries,
                             const stope::cuda::Stream& stream)
    : n_centres_(n_centres),
      width_(source.width),
      n_rows_(source.n_rows),
      n_padded_(source.n_padded),
      centres_(std::move(centres)),
      images_(checked::mul(source.n_padded, source.width)),
      centre_norms_(std::move(centre_norms)),
      radii_(n_centres + 1),
      starts_(source.starts == nullptr ? 0 : source.n_padded),
      begins_(n_centres + 2),
      order_(source.n_rows) {
  const int n_clusters = n_centres + 1;
  const std::int64_t n_blocks = checked::ceil_div(most_queries, kBlockQueries);
  homes_ = stope::cuda::DeviceBuffer<std::int32_t>(n_blocks * kBlockQueries);
  query_order_ = stope::cuda::DeviceBuffer<std::int32_t>(n_blocks * kBlockQueries);
  needed_ = stope::cuda::DeviceBuffer<std::uint8_t>(n_blocks * n_clusters);
  tiles_ = stope::cuda::DeviceBuffer<std::int32_t>(checked::mul(n_blocks, source.n_padded / kTileRows));
  sizes_ = stope::cuda::DeviceBuffer<std::int32_t>(n_blocks);
  PairSort sort(source.n_rows);
  clear(radii_, stream);
  launch_assign({.centres = view().centres,
                 .tiles = source.images,
                 .norms = source.norms,
                 .residuals = source.residuals,
                 .n = source.n_rows,
                 .most_residual = source.most_residual,
                 .most_radius = source.most_radius,
                 .keys = sort.keys(),
                 .values = sort.values(),
                 .radii = radii_.data()},
                stream.get());
  sort.sort(source.n_rows, std::bit_width(static_cast<unsigned>(n_clusters)), stream);
  launch_begins(sort.keys(), source.n_rows, n_clusters, begins_.data(), stream.get());
  stope::cuda::check(cudaMemcpyAsync(order_.data(), sort.values(), static_cast<std::size_t>(order_.bytes()),
                                     cudaMemcpyDeviceToDevice, stream.get()),
                     "copying on the GPU");
  launch_reorder({.order = order_.data(),
                  .n = n_rows_,
                  .n_padded = n_padded_,
                  .width = width_,
                  .from = source.images,
                  .to = images_.data(),
                  .from_starts = nullptr,
                  .to_starts = nullptr},
                 stream.get());
  stream.wait();  // until then the sort's memory is read
}

ClusterView TableClusters::view() const {
  return {.centres = {centres_.data(), centre_norms_.data(), n_centres_, width_},
          .radii = radii_.data(),
          .begins = begins_.data(),
          .n_rows = n_rows_,
          .n_tiles = n_padded_ / kTileRows};
}

const float* TableClusters::put_starts_in_order(const float* starts, cudaStream_t stream) const {
  if (starts == nullptr) return nullptr;
  launch_reorder({.order = order_.data(),
                  .n = n_rows_,
                  .n_padded = n_padded_,
                  .width = width_,
                  .from = nullptr,
                  .to = nullptr,
                  .from_starts = starts,
                  .to_starts = starts_.data()},
                 stream);
  return starts_.data();
}

}  // namespace stope::knn::cuda
