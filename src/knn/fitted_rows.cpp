// Where the rows of a fitted index are: on the host, or on a GPU alone until something needs them on the host.
#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/gpu_table.hpp"

namespace stope::knn {

const double* Fitted::rows_from_gpu() const {
  const std::scoped_lock lock(rows_mutex_);
  if (on_host_.load(std::memory_order_relaxed)) return rows_.data();
  Buffer<double> rows(checked::mul(n_rows(), width()));
  prefer_huge_pages(rows.data(), static_cast<std::size_t>(rows.size()) * sizeof(double));
  gpu_rows_->download(0, n_rows(), rows.data());
  rows_ = std::move(rows);
  gpu_rows_ = nullptr;  // a filter that reads them keeps them
  on_host_.store(true, std::memory_order_release);
  return rows_.data();
}

std::shared_ptr<const GpuTable> Fitted::gpu_rows() const {
  if (on_host_.load(std::memory_order_acquire)) return nullptr;
  const std::scoped_lock lock(rows_mutex_);
  return gpu_rows_;
}

std::shared_ptr<const GpuTable> Fitted::rows_alone_on(int gpu) const {
  std::shared_ptr<const GpuTable> there = gpu_rows();
  return there != nullptr && there->gpu() == gpu ? there : nullptr;
}

std::shared_ptr<const GpuTable> Fitted::rows_alone_on(const std::vector<int>& gpus) const {
  const bool one = !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [&](int gpu) { return gpu == gpus.front(); });
  return one ? rows_alone_on(gpus.front()) : nullptr;
}

void Fitted::leave_gpus() const {
  if (!on_host_.load(std::memory_order_acquire)) rows_from_gpu();
}

std::vector<double> Fitted::sample(std::int64_t n) const {
  constexpr std::int64_t kMostValues = std::int64_t{1} << 22;  // fewer rows of a very wide table, but some
  n = std::min(std::min(n, std::max<std::int64_t>(kMostValues / width(), 64)), train_.n_rows);
  std::vector<double> rows(static_cast<std::size_t>(checked::mul(n, width())));
  std::vector<std::int64_t> which(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) which[static_cast<std::size_t>(i)] = i * train_.n_rows / n;
  if (const std::shared_ptr<const GpuTable> there = gpu_rows(); there != nullptr) {
    there->gather(which, rows.data());
    return rows;
  }
  double* to = rows.data();
  for (const std::int64_t row : which) {
    encode(row, row + 1, to);
    to += width();
  }
  return rows;
}

}  // namespace stope::knn
