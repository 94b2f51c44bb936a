#include "knn/engine/train_rows.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace stope::knn {

TrainParts::TrainParts(const Fitted& fitted, std::int64_t part_rows)
    : fitted_(fitted), part_rows_(std::clamp<std::int64_t>(part_rows, 1, fitted.n_rows())) {
  if (!fitted.resident()) rows_ = Buffer<double>(checked::mul(part_rows_, fitted.width()));
}

std::int64_t TrainParts::count() const {
  return checked::ceil_div(fitted_.n_rows(), part_rows_);
}

TrainPart TrainParts::part(std::int64_t i, ThreadPool& pool, const CancelToken& cancel) {
  const std::int64_t first = i * part_rows_;
  const std::int64_t n = std::min(part_rows_, fitted_.n_rows() - first);
  if (fitted_.resident()) return {first, n, fitted_.rows() + first * fitted_.width()};
  if (held_ != i) {
    held_ = -1;
    fitted_.encode(first, first + n, rows_.data(), pool, cancel);
    held_ = i;
  }
  return {first, n, rows_.data()};
}

}  // namespace stope::knn
