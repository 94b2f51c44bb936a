#include "base/row_sums.hpp"

#include <utility>

namespace stope {
namespace {

void add(double* to, const double* from, std::int64_t size) {
  for (std::int64_t i = 0; i < size; ++i) to[i] += from[i];
}

}  // namespace

SumTree::SumTree(std::int64_t size, Add add) : size_(size), add_(add == nullptr ? stope::add : add) {}

void SumTree::push(const double* sums) {
  // As in adding one to a binary number: two subtrees of the same height become one.
  std::size_t level = 0;
  for (std::int64_t n = n_pushed_++; n % 2 != 0; n /= 2, ++level) {
    add_(levels_[level].data(), level == 0 ? sums : levels_[level - 1].data(), size_);
  }
  if (level == levels_.size()) levels_.emplace_back(size_);
  if (level == 0) {
    std::copy_n(sums, size_, levels_[0].data());
  } else {
    std::swap(levels_[level], levels_[level - 1]);
  }
}

const double* SumTree::finish() {
  double* root = nullptr;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    if ((n_pushed_ >> level) % 2 == 0) continue;
    double* const own = levels_[level].data();
    if (root != nullptr) add_(own, root, size_);
    root = own;
  }
  return root;
}

RowSums::RowSums(std::int64_t size) : size_(size), leaf_(size), group_(size), groups_(size) {
  std::fill(leaf_.begin(), leaf_.end(), 0.0);
  std::fill(group_.begin(), group_.end(), 0.0);
}

void RowSums::leaf_complete() {
  add(group_.data(), leaf_.data(), size_);
  std::fill(leaf_.begin(), leaf_.end(), 0.0);
  if (n_rows_ % kSumGroupRows == 0) group_complete();
}

void RowSums::group_complete() {
  groups_.push(group_.data());
  std::fill(group_.begin(), group_.end(), 0.0);
}

const double* RowSums::finish() {
  if (n_rows_ % kSumLeafRows != 0) add(group_.data(), leaf_.data(), size_);
  if (n_rows_ == 0 || n_rows_ % kSumGroupRows != 0) group_complete();
  return groups_.finish();
}

}  // namespace stope
