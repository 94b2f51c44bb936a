// Training rows on their way to the GPU, and their images (session.hpp).
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/checked.hpp"
#include "knn/cuda/copies.hpp"
#include "knn/cuda/tensor/session.hpp"
#include "knn/cuda/usual_residual.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;

// Training rows, in bytes, whose images are made at once: so many that the start and end of a kernel do not matter.
constexpr std::int64_t kEncodedBytes = std::int64_t{256} << 20;

std::int64_t padded(std::int64_t n, std::int64_t to) {
  return checked::mul(checked::ceil_div(n, to), to);
}

}  // namespace

void TensorSession::make_table(Table& table) {
  const std::int64_t n_padded = padded(spec_.n_rows, scan_tile_rows(width_));
  table.images = DeviceBuffer<__half>(checked::mul(n_padded, width_));
  table.norms = DeviceBuffer<float>(n_padded);
  table.residuals = DeviceBuffer<float>(n_padded);
  table.starts = DeviceBuffer<float>(spec_.start_column < 0 ? n_padded : 0);
  table.shifted_starts = DeviceBuffer<float>(in_bytes() ? 0 : table.starts.size());
  table.shift = DeviceBuffer<double>(2);
  if (spec_.lent_rows != 0) return;
  table.rows = DeviceBuffer<double>(checked::add(checked::mul(spec_.n_rows, spec_.width), kReadBeyond));
  table.values = table.rows.data();
  check(cudaMemsetAsync(table.rows.data() + table.rows.size() - kReadBeyond, 0, kReadBeyond * sizeof(double),
                        stream_.get()),
        "clearing memory");
}

void TensorSession::begin(int number, std::int64_t n_rows) {
  Table& table = tables_[number];
  if (number >= spec_.n_buffers || n_rows > spec_.n_rows) throw Error(ErrorCode::internal, "a part that cannot be");
  table.clusters = {};
  table.n_rows = n_rows;
  table.n_padded = padded(n_rows, scan_tile_rows(width_));
  table.loaded = table.encoded = 0;
}

void TensorSession::load(int number, int piece, const double* rows, std::int64_t n) {
  Table& table = tables_[number];
  // Copies do not wait for the images of the rows before. Those images may wait until the search of another table
  // leaves them room on the GPU.
  copy_in(table.rows.data() + table.loaded * spec_.width, rows, n * spec_.width, copy_rows_);
  loaded_pieces_[piece].record(copy_rows_);
  table.loaded += n;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(double));
  const bool enough = (table.loaded - table.encoded) * spec_.width * kBytes >= kEncodedBytes;
  if (enough || table.loaded == table.n_rows) encode_loaded(table, loaded_pieces_[piece]);
}

void TensorSession::lend(int number, const TableRows& rows) {
  Table& table = tables_[number];
  if (spec_.lent_rows == 0 || rows.n() != table.n_rows || rows.width() != spec_.width || rows.gpu() != gpu_) {
    throw Error(ErrorCode::internal, "rows that cannot be lent");
  }
  table.values = rows.data();
  loaded_pieces_[0].record(copy_rows_);
  table.loaded = table.n_rows;
  encode_loaded(table, loaded_pieces_[0]);
}

StartPlace TensorSession::start_place(const Table& table) const {
  return {.column = static_cast<int>(spec_.start_column),
          .width = width_,
          .tiles = table.images.data(),
          .starts = table.starts.data(),
          .bytes = in_bytes()};
}

// Makes the images of the rows loaded since the last call, or of whole tiles of them while more rows come. The clock
// starts when the copies are done, so that it counts no wait.
void TensorSession::encode_loaded(Table& table, const stope::cuda::Event& copied) {
  const bool all = table.loaded == table.n_rows;
  const std::int64_t end = all ? table.loaded : table.loaded / kTileRows * kTileRows;
  EncodeJob job = encode_job();
  job.rows = table.values + table.encoded * spec_.width;
  job.first = table.encoded;
  job.n = end - table.encoded;
  job.n_padded = all ? table.n_padded : end;
  job.plain = plain_train_.columns();
  job.plain_sources = plain_train_.sources();
  job.tiles = table.images.data();
  job.start = start_place(table);
  job.norms = table.norms.data();
  job.residuals = table.residuals.data();
  const int number = next_timed_;
  next_timed_ = (next_timed_ + 1) % kTimed;
  add_image_time(number);
  copied.hold(loading_);
  images_begin_[number].record(loading_);
  launch_encode_train(job, loading_.get());
  images_end_[number].record(loading_);
  images_timed_[number] = true;
  table.encoded = end;
}

// Adds the time of the images for which a pair of clocks was started.
void TensorSession::add_image_time(int number) {
  if (!images_timed_[number]) return;
  images_end_[number].wait();
  image_microseconds_ += std::llround(1e3 * static_cast<double>(images_end_[number].since(images_begin_[number])));
  images_timed_[number] = false;
}

std::int64_t TensorSession::finish(int number) {
  Table& table = tables_[number];
  // In bytes, few rows are not whole steps; otherwise images in halves take their place (TensorFilter::useful).
  const float usual = in_bytes() ? 0.0F : 1.5F * usual_residual(table.residuals, table.n_rows, loading_);
  table.residual = static_cast<double>(usual);
  for (int i = 0; i < kTimed; ++i) add_image_time(i);
  clear(table_totals_, loading_);
  clear(table.shift, loading_);
  constexpr double kShift = kByteShift;
  if (in_bytes()) copy_in(table.shift.data(), &kShift, 1, loading_);  // the wait below covers it
  images_begin_[0].record(loading_);
  const StartJob starts{.norms = table.norms.data(),
                        .residuals = table.residuals.data(),
                        .n = table.n_rows,
                        .most_residual = usual,
                        .start = start_place(table),
                        .largest_norm = reinterpret_cast<unsigned*>(table_totals_.data() + kLargestNorm),
                        .n_always = table_totals_.data() + kAlwaysListed};
  launch_starts(starts, loading_.get());
  images_end_[0].record(loading_);
  images_timed_[0] = true;
  copy_out(host_table_totals_.data(), table_totals_, kTotals, loading_);
  loading_.wait();
  add_image_time(0);
  const unsigned long long* totals = host_table_totals_.data();
  table.largest_norm = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(totals[kLargestNorm])));
  table.n_always = static_cast<std::int64_t>(totals[kAlwaysListed]);
  return table.n_always;
}

}  // namespace stope::knn::cuda
