#include "knn/cuda/reference/session.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "knn/cuda/reference/survivors.hpp"
#include "knn/cuda/table_rows.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;
using stope::cuda::PinnedBuffer;

template <class T>
void copy_out(T* to, const T* from, std::int64_t n, const stope::cuda::Stream& stream) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
        "copying from the GPU");
}

// Grows to twice what is needed, so that a series of tiles that keep ever more does not allocate each time.
template <class T>
void grow(PinnedBuffer<T>& buffer, std::int64_t n, std::int64_t most) {
  if (buffer.size() >= n) return;
  buffer = {};
  buffer = PinnedBuffer<T>(std::min(2 * n, most));
}

}  // namespace

ReferenceSession::ReferenceSession(int gpu, const cuda_abi::Measure& measure, const cuda_abi::Sizes& sizes)
    : gpu_(gpu),
      kernel_(find_pair_kernel(measure.type, measure.n_bytes)),
      sizes_(sizes),
      storage_(measure.n_storage),
      queries_(checked::mul(sizes.held_queries, sizes.width)),
      distances_(checked::mul(sizes.tile_queries, sizes.tile_rows)),
      scratch_(checked::mul(sizes.scratch_threads, sizes.scratch_doubles)),
      attributes_(measure.n_attributes),
      rows_(static_cast<std::size_t>(sizes.n_buffers)),
      query_upload_(std::min(sizes.piece_bytes, queries_.bytes())),
      row_upload_(sizes.lent_rows != 0
                      ? 1
                      : std::min(sizes.piece_bytes, checked::mul(sizes.held_rows, sizes.width * std::int64_t{8}))) {
  if (kernel_ == nullptr) throw Error(ErrorCode::unsupported, std::string("no kernel for ") + measure.type);
  const auto* bytes = static_cast<const unsigned char*>(measure.bytes);
  measure_.assign(bytes, bytes + measure.n_bytes);
  for (Rows& rows : rows_) {
    rows.values = DeviceBuffer<double>(sizes.lent_rows != 0 ? 0 : checked::mul(sizes.held_rows, sizes.width));
    rows.there = rows.values.data();
  }
  for (Slot& slot : slots_) {
    slot.thresholds = DeviceBuffer<double>(sizes.tile_queries);
    slot.kept_distances = DeviceBuffer<double>(distances_.size());
    slot.kept_rows = DeviceBuffer<std::int32_t>(distances_.size());
    slot.counts = DeviceBuffer<std::int32_t>(sizes.tile_queries);
    slot.offsets = DeviceBuffer<std::int64_t>(sizes.tile_queries);
    slot.total = DeviceBuffer<unsigned long long>(1);
    slot.host_thresholds = PinnedBuffer<double>(sizes.tile_queries);
    slot.host_counts = PinnedBuffer<std::int32_t>(sizes.tile_queries);
    slot.host_offsets = PinnedBuffer<std::int64_t>(sizes.tile_queries);
    slot.host_total = PinnedBuffer<unsigned long long>(1);
  }
  query_upload_.copy(attributes_.data(), measure.attributes, attributes_.bytes(), compute_);
  query_upload_.copy(storage_.data(), measure.storage, storage_.bytes(), compute_);
}

// A cancelled search leaves tiles under way. They must end before their memory is freed. A lost GPU has none.
ReferenceSession::~ReferenceSession() {
  for (const stope::cuda::Stream* stream : {&copy_in_, &compute_, &copy_out_}) cudaStreamSynchronize(stream->get());
}

void ReferenceSession::load_queries(const double* rows, std::int64_t n) {
  query_upload_.copy(queries_.data(), rows, n * sizes_.width * static_cast<std::int64_t>(sizeof(double)), compute_);
}

void ReferenceSession::load_rows(std::int64_t buffer, const double* rows, std::int64_t n) {
  if (sizes_.lent_rows != 0) throw Error(ErrorCode::internal, "there is no room for rows");
  Rows& to = rows_[static_cast<std::size_t>(buffer)];
  to.used.hold(copy_in_);  // tiles submitted before may still read the old rows
  row_upload_.copy(to.values.data(), rows, n * sizes_.width * static_cast<std::int64_t>(sizeof(double)), copy_in_);
  to.filled.record(copy_in_);
}

void ReferenceSession::lend_rows(std::int64_t buffer, const RowsThere& rows, std::int64_t first, std::int64_t n) {
  if (rows.gpu != gpu() || rows.width != sizes_.width || first + n > rows.n) {
    throw Error(ErrorCode::internal, "rows that cannot be lent");
  }
  Rows& to = rows_[static_cast<std::size_t>(buffer)];
  const double* const from = rows.values + first * sizes_.width;
  if (sizes_.lent_rows != 0) {
    to.there = from;
    return;
  }
  to.used.hold(copy_in_);  // tiles submitted before may still read the old rows
  check(cudaMemcpyAsync(to.values.data(), from, static_cast<std::size_t>(n * sizes_.width) * sizeof(double),
                        cudaMemcpyDeviceToDevice, copy_in_.get()),
        "copying within the GPU");
  to.filled.record(copy_in_);
}

// Computes the distances of a tile, query by query, into distances_.
void ReferenceSession::compute(const cuda_abi::Tile& tile, Quantity quantity, bool query_first) {
  Rows& rows = rows_[static_cast<std::size_t>(tile.buffer)];
  rows.filled.hold(compute_);
  const double* train = rows.there + tile.first_row * sizes_.width;
  const double* queries = queries_.data() + tile.first_query * sizes_.width;
  PairTile pairs{.x = train,
                 .n_x = tile.n_rows,
                 .y = queries,
                 .n_y = tile.n_queries,
                 .width = sizes_.width,
                 .attributes = attributes_.data(),
                 .quantity = quantity,
                 .out = distances_.data(),
                 .x_stride = 1,
                 .y_stride = tile.n_rows,
                 .scratch = scratch_.data(),
                 .scratch_threads = sizes_.scratch_threads,
                 .scratch_doubles = sizes_.scratch_doubles};
  if (query_first) {
    std::swap(pairs.x, pairs.y);
    std::swap(pairs.n_x, pairs.n_y);
    std::swap(pairs.x_stride, pairs.y_stride);
  }
  kernel_->launch(pairs, measure_.data(), storage_.data(), compute_.get());
  rows.used.record(compute_);
}

void ReferenceSession::submit(int slot_number, const cuda_abi::Tile& tile, const double* thresholds) {
  Slot& slot = slots_[slot_number];
  slot.n_queries = tile.n_queries;
  const auto bytes = static_cast<std::size_t>(tile.n_queries) * sizeof(double);
  std::memcpy(slot.host_thresholds.data(), thresholds, bytes);
  check(cudaMemcpyAsync(slot.thresholds.data(), slot.host_thresholds.data(), bytes, cudaMemcpyHostToDevice,
                        compute_.get()),
        "copying to the GPU");
  compute(tile, Quantity::distance, false);
  const SurvivorTile survivors{.distances = distances_.data(),
                               .thresholds = slot.thresholds.data(),
                               .n_queries = tile.n_queries,
                               .n_rows = tile.n_rows,
                               .offsets = slot.offsets.data(),
                               .counts = slot.counts.data(),
                               .total = slot.total.data(),
                               .kept_distances = slot.kept_distances.data(),
                               .kept_rows = slot.kept_rows.data()};
  launch_survivors(survivors, compute_.get());
  copy_out(slot.host_offsets.data(), slot.offsets.data(), tile.n_queries, compute_);
  copy_out(slot.host_counts.data(), slot.counts.data(), tile.n_queries, compute_);
  copy_out(slot.host_total.data(), slot.total.data(), 1, compute_);
  slot.done.record(compute_);
}

cuda_abi::Survivors ReferenceSession::collect(int slot_number) {
  Slot& slot = slots_[slot_number];
  slot.done.wait();
  const auto total = static_cast<std::int64_t>(*slot.host_total.data());
  if (total > 0) {
    grow(slot.host_distances, total, slot.kept_distances.size());
    grow(slot.host_rows, total, slot.kept_rows.size());
    // This copy has its own stream, because the compute stream is busy with the next tile.
    copy_out(slot.host_distances.data(), slot.kept_distances.data(), total, copy_out_);
    copy_out(slot.host_rows.data(), slot.kept_rows.data(), total, copy_out_);
    copy_out_.wait();
  }
  return {slot.host_offsets.data(), slot.host_counts.data(), slot.host_distances.data(), slot.host_rows.data()};
}

void ReferenceSession::matrix(const cuda_abi::Tile& tile, Quantity quantity, bool query_first, double* values,
                              std::int64_t ld) {
  compute(tile, quantity, query_first);
  const auto row_bytes = static_cast<std::size_t>(tile.n_rows) * sizeof(double);
  check(cudaMemcpy2DAsync(values, static_cast<std::size_t>(ld) * sizeof(double), distances_.data(), row_bytes,
                          row_bytes, static_cast<std::size_t>(tile.n_queries), cudaMemcpyDeviceToHost, compute_.get()),
        "copying from the GPU");
  compute_.wait();
}

}  // namespace stope::knn::cuda
