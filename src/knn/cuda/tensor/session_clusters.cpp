// Tables in clusters, and searches that leave tiles out (clusters/clusters.hpp).
#include <algorithm>
#include <bit>
#include <utility>

#include "base/checked.hpp"
#include "knn/cuda/copies.hpp"
#include "knn/cuda/tensor/session.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::DeviceBuffer;

// Segments of the sample: 16 maxima each, of which a query needs k in its own clusters.
constexpr std::int64_t kSampleSegments = 32;
// Segments of the list. They are short, so that blocks of threads with many tiles leave none idle.
constexpr std::int64_t kListSegments = 32;
constexpr std::int64_t kMostSampleStride = 64;
// The k-th largest of the sample's maxima is near the k-th best score only for few neighbours.
using cuda_abi::kMostClusterNeighbors;
// The scan that takes a list of tiles holds its queries in registers.
static_assert(!scans_tiles(cuda_abi::kMostClusterColumns) && scans_tiles(cuda_abi::kMostClusterColumns + 1));

}  // namespace

// The centres are made as queries are, without what meets the rows' starts.
bool TensorSession::make_clusters(int number, const double* centres, std::int64_t n_centres, double most_radius) {
  Table& table = tables_[number];
  if (table.clusters.exist()) stream_.wait();  // batches under way read them
  table.clusters = {};
  const bool possible = plain_train_.columns() != nullptr && can_choose_tiles(width_, in_bytes(), batch_) &&
                        n_centres > 0 && n_centres < kMostClusters && table.n_padded / kTileRows <= kMostListedTiles;
  if (!possible) return false;
  const std::int64_t n_padded = checked::mul(checked::ceil_div(n_centres, kBlockQueries), kBlockQueries);
  static_assert(kBlockQueries % kCentreRows == 0);
  DeviceBuffer<double> rows(checked::add(checked::mul(n_centres, spec_.width), kReadBeyond)), squares(n_padded);
  DeviceBuffer<__half> images(checked::mul(n_padded, width_));
  DeviceBuffer<float> norms(n_padded), residuals(n_padded);
  copy_in(rows.data(), centres, n_centres * spec_.width, loading_);
  EncodeJob encode = encode_job();
  encode.rows = rows.data();
  encode.n = n_centres;
  encode.n_padded = n_padded;
  encode.plain = plain_queries_.columns();
  encode.plain_sources = plain_queries_.sources();
  encode.images = images.data();
  encode.squares = squares.data();
  encode.norms = norms.data();
  encode.residuals = residuals.data();
  launch_encode_queries(encode, loading_.get());
  const bool apart = spec_.start_column < 0;
  constexpr int kStartColumns = 3;
  launch_trim_centres(images.data(), norms.data(), static_cast<int>(n_centres), static_cast<int>(n_padded), width_,
                      apart ? 0 : static_cast<int>(spec_.start_column), apart ? 0 : kStartColumns, loading_.get());
  table.clusters = TableClusters(
      {
          .images = table.images.data(),
          .norms = table.norms.data(),
          .residuals = table.residuals.data(),
          .starts = starts_of(table),
          .n_rows = table.n_rows,
          .n_padded = table.n_padded,
          .width = width_,
          .most_residual = static_cast<float>(table.residual),
          .most_radius = static_cast<float>(most_radius * spec_.unit),
      },
      std::move(images), std::move(norms), static_cast<int>(n_centres), batch_, loading_);
  return true;
}

bool TensorSession::leaves_tiles_out(const Slot& slot, const cuda_abi::TensorQuery& query) const {
  return slot.table->clusters.exist() && query.k + (query.self >= 0 ? 1 : 0) <= kMostClusterNeighbors &&
         can_choose_tiles(width_, in_bytes(), query.n);
}

// The sample has the tiles of the queries' own clusters and some of all others, so that its thresholds are sharp where
// queries lie in clusters, and no list overflows where they do not.
void TensorSession::search_clusters(Slot& slot, const cuda_abi::TensorQuery& query) {
  const Table& table = *slot.table;
  const TableClusters& clusters = table.clusters;
  const std::int64_t n = query.n, n_tiles = table.n_padded / kTileRows;
  const std::int64_t k_listed = query.k + (query.self >= 0 ? 1 : 0);
  const float* const starts = clusters.put_starts_in_order(starts_of(table), stream_.get());
  const NeedJob need{.clusters = clusters.view(),
                     .bounds = bounds(table),
                     .queries = query_images_.data(),
                     .thresholds = thresholds_.data(),
                     .n_queries = n,
                     .homes = clusters.homes(),
                     .order = clusters.query_order(),
                     .needed = clusters.needed().data()};
  // A list three times as long as the sample promises still fits.
  const std::int64_t stride =
      std::min({kMostSampleStride, std::max<std::int64_t>(1, spec_.list_groups / (3 * k_listed)),
                std::max<std::int64_t>(1, n_tiles / kSampleSegments)});
  TileListJob tiles{.clusters = clusters.view(),
                    .needed = clusters.needed().data(),
                    .n_queries = n,
                    .stride = stride,
                    .tiles = clusters.tiles(),
                    .sizes = clusters.sizes(),
                    .n_skipped = nullptr};
  ScanJob scan = scan_job(table, n, {0, 1, n_tiles, {n_tiles, 1}});
  scan.train = clusters.images();
  scan.starts = starts;
  scan.chosen = {clusters.query_order(), clusters.tiles(), clusters.sizes(), n_tiles, kSampleSegments};

  clear(clusters.needed(), stream_);
  launch_homes(need, stream_.get());
  launch_list_tiles(tiles, stream_.get());
  const std::int64_t n_maxima = kSampleSegments * kMaximaPerSegment;
  auto* const maxima = reinterpret_cast<float*>(candidates_.data());
  launch_sample(scan, maxima, n_maxima, stream_.get());
  end_step(slot, cuda_abi::kSampleStep);
  launch_thresholds({.bounds = bounds(table),
                     .maxima = maxima,
                     .n_maxima = n_maxima,
                     .n_queries = n,
                     .k = static_cast<int>(k_listed),
                     .thresholds = thresholds_.data()},
                    stream_.get());
  clear(clusters.needed(), stream_);
  launch_need(need, stream_.get());
  tiles.stride = 0;
  tiles.n_skipped = slot.space->totals.data() + kSkipped;
  launch_list_tiles(tiles, stream_.get());
  end_step(slot, cuda_abi::kThresholdsStep);

  clear(counts_, stream_);
  scan.chosen.n_segments = kListSegments;
  launch_list(scan, lists(), stream_.get());
  end_step(slot, cuda_abi::kListStep);
  RerankJob rerank = rerank_job(slot, query);
  rerank.train_images = clusters.images();
  rerank.starts = starts;
  rerank.order = clusters.order();
  kernel_(rerank, measure_.data(), stream_.get());
}

}  // namespace stope::knn::cuda
