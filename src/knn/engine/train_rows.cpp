#include "knn/engine/train_rows.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/checked.hpp"
#include "knn/row_sum.hpp"

namespace stope::knn {

TrainParts::TrainParts(const Fitted& fitted, std::int64_t part_rows, std::shared_ptr<const GpuTable> lent)
    : fitted_(fitted), part_rows_(std::clamp<std::int64_t>(part_rows, 1, fitted.n_rows())), lent_(std::move(lent)) {
  if (!fitted.resident()) rows_ = Buffer<double>(checked::mul(part_rows_, fitted.width()));
}

std::int64_t TrainParts::count() const {
  return checked::ceil_div(fitted_.n_rows(), part_rows_);
}

TrainPart TrainParts::part(std::int64_t i, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t first = i * part_rows_;
  const std::int64_t n = std::min(part_rows_, fitted_.n_rows() - first);
  if (lent_ != nullptr) return {first, n, nullptr, lent_.get()};
  if (fitted_.resident()) return {first, n, fitted_.rows() + first * fitted_.width()};
  if (held_ != i) encode(i, first, n, pool, cancel);
  return {first, n, rows_.data()};
}

void TrainParts::encode(std::int64_t i, std::int64_t first, std::int64_t n, ThreadPool& pool,
                        const CancelToken& cancel) {
  constexpr std::int64_t kRowsPerTask = 512;
  held_ = -1;
  std::atomic<std::uint64_t> sum{0};
  pool.parallel_for(checked::ceil_div(n, kRowsPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t begin = task * kRowsPerTask, end = std::min(begin + kRowsPerTask, n);
    double* const to = rows_.data() + begin * fitted_.width();
    fitted_.encode(first + begin, first + end, to);
    sum += row_sum(to, first + begin, end - begin, fitted_.width());  // while the rows are in the cache
  });
  held_ = i;
  if (i == 0) sum_ = 0;
  if (i != 0 && i != summed_) return;
  sum_ += sum;
  summed_ = i + 1;
  if (summed_ == count()) fitted_.check_sum(sum_);
}

}  // namespace stope::knn
