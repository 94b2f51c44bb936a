#include "knn/cuda/table_rows.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "knn/cuda/copies.hpp"
#include "knn/cuda/device_rows.hpp"
#include "knn/cuda/tensor/rerank/rerank.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::DeviceBuffer;
using stope::cuda::Stream;

// Threads that look for extremes: some waves on every GPU.
constexpr std::int64_t kPartial = std::int64_t{1} << 16;

}  // namespace

TableRows::TableRows(int gpu, const cuda_abi::DeviceRows& from, std::int64_t n, std::int64_t width)
    : gpu_(gpu), n_(n), width_(width), rows_(checked::add(checked::mul(n, width), kReadBeyond)) {
  const Stream stream;
  const stope::cuda::Event theirs;
  check(cudaEventRecord(theirs.get(), static_cast<cudaStream_t>(from.stream)), "marking the caller's stream");
  theirs.hold(stream);
  launch_take_rows({from, n, width, rows_.data()}, stream.get());
  check(cudaMemsetAsync(rows_.data() + n * width, 0, kReadBeyond * sizeof(double), stream.get()), "clearing memory");
  stream.wait();  // the caller may write to the memory afterwards
}

void TableRows::extremes(const cuda_abi::ColumnExtremes& out) const {
  const std::int64_t n_partial = checked::mul(width_, std::max<std::int64_t>(kPartial / width_, 1));
  DeviceBuffer<double> partial_low(n_partial), partial_high(n_partial), low(width_), high(width_);
  DeviceBuffer<std::int32_t> partial_missing(n_partial), missing(width_);
  const Stream stream;
  launch_extremes({.rows = rows_.data(),
                   .n = n_,
                   .width = width_,
                   .n_partial = n_partial,
                   .partial_low = partial_low.data(),
                   .partial_high = partial_high.data(),
                   .partial_missing = partial_missing.data(),
                   .low = low.data(),
                   .high = high.data(),
                   .missing = missing.data()},
                  stream.get());
  copy_out(out.low, low, width_, stream);
  copy_out(out.high, high, width_, stream);
  copy_out(out.missing, missing, width_, stream);
  stream.wait();
}

void TableRows::download(std::int64_t first, const std::int64_t* which, std::int64_t m, double* to) const {
  const Stream stream;
  if (which == nullptr) {
    check(cudaMemcpyAsync(to, rows_.data() + first * width_, static_cast<std::size_t>(m * width_) * sizeof(double),
                          cudaMemcpyDeviceToHost, stream.get()),
          "copying from the GPU");
    return stream.wait();
  }
  DeviceBuffer<std::int64_t> places(m);
  DeviceBuffer<double> rows(checked::mul(m, width_));
  copy_in(places.data(), which, m, stream);
  launch_gather_rows({rows_.data(), width_, places.data(), m, rows.data()}, stream.get());
  copy_out(to, rows, m * width_, stream);
  stream.wait();
}

}  // namespace stope::knn::cuda
