#include "knn/filter/near_sums.hpp"

#include <algorithm>
#include <bit>

namespace stope::knn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kRoom = 2 * NearSums::kMostNeighbors + 4 * kScanBlockRows;
constexpr std::int64_t kLongestRegister = 8;  // doubles

}  // namespace

NearSums::NearSums(ValueFunctions functions)
    : functions_(functions),
      sums_(kRoom),
      rows_(static_cast<std::size_t>(kRoom)),
      distances_(kRoom),
      ranks_(static_cast<std::size_t>(kRoom)) {}

void NearSums::reset(std::int64_t k) {
  k_ = k;
  n_ = 0;
  room_ = 2 * k + 2 * kScanBlockRows;
  bound_ = kInf;
}

std::int64_t NearSums::n_below(double cut) const {
  std::int64_t n = 0;
  for (std::int64_t first = 0; first < n_; first += kScanBlockRows) {
    n += std::popcount(functions_.below(sums_.data() + first, cut));
  }
  return n;
}

bool NearSums::tighten() {
  constexpr int kMostTries = 12;
  if (n_ <= k_ && bound_ < kInf) return true;
  if (n_ < k_) return n_ <= room_ - kScanBlockRows;
  const std::int64_t filled = (n_ + kScanBlockRows - 1) / kScanBlockRows * kScanBlockRows;
  std::fill(sums_.begin() + n_, sums_.begin() + filled, kInf);
  if (n_below(5e-324) >= k_) return false;
  // Bisects between a sum with fewer below it and one with enough. A few more than k cost less than another try.
  double low = 0.0, high = bound_;
  double cut = high < kInf ? high * static_cast<double>(k_) / static_cast<double>(n_) : sums_[0];
  for (int tries = 0; tries < kMostTries && cut > low && cut < high; ++tries) {
    const std::int64_t below = n_below(cut);
    (below < k_ ? low : high) = cut;
    if (below >= k_ && below <= k_ + k_ / 8 + 1) break;
    cut = high < kInf ? 0.5 * (low + high) : 4.0 * cut;
  }
  if (high < bound_) lower_bound(high);
  std::int64_t left = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    const double sum = sums_[i];
    sums_[left] = sum;
    rows_[static_cast<std::size_t>(left)] = rows_[static_cast<std::size_t>(i)];
    left += sum > bound_ ? 0 : 1;
  }
  n_ = left;
  return n_ <= room_ - kScanBlockRows;
}

void NearSums::take(const MeasureKernel& kernel, std::vector<Neighbor>& out) {
  constexpr std::int64_t kMostRanked = 192;  // more are sorted faster than each is compared with each
  kernel.finish_sums(sums_.data(), n_, distances_.data());
  const std::int64_t n = std::min(k_, n_);
  if (n_ > kMostRanked) {
    out.resize(static_cast<std::size_t>(n_));
    for (std::int64_t i = 0; i < n_; ++i) out[static_cast<std::size_t>(i)] = {distances_[i], row(i)};
    std::sort(out.begin(), out.end(), closer);
    out.resize(static_cast<std::size_t>(n));
    return;
  }
  std::fill_n(distances_.begin() + n_, kLongestRegister, kInf);
  std::fill_n(rows_.begin() + n_, kLongestRegister, std::numeric_limits<std::int64_t>::max());
  functions_.rank(distances_.data(), rows_.data(), n_, ranks_.data());
  out.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n_; ++i) {
    const std::int32_t rank = ranks_[static_cast<std::size_t>(i)];
    if (rank < n) out[static_cast<std::size_t>(rank)] = {distances_[i], row(i)};
  }
}

}  // namespace stope::knn
