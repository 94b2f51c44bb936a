// Sorts columns (discretize/group_sorter.hpp).
#include "discretize/group_sorter.hpp"

#include <algorithm>
#include <numeric>

#include "device/instances.hpp"
#include "discretize/value_order.hpp"

namespace stope::discretize {
namespace {

std::uint64_t before_rank(std::uint64_t word) {
  return word & ~kRankMask;
}

}  // namespace

const NetworkKernels* network_kernels(device::Backend backend) {
  constexpr device::Instances kKernels = {&scalar::kNetworkKernels, &avx2::kNetworkKernels, &avx512::kNetworkKernels};
  return backend == device::Backend::reference ? nullptr : kKernels.of(backend);
}

ClassRanks::ClassRanks(const DecisionProblem& problem) {
  if (problem.n_rows > kNetworkRows) return;
  rank_of_row.resize(static_cast<std::size_t>(problem.n_rows));
  row_of_rank.resize(rank_of_row.size());
  std::iota(row_of_rank.begin(), row_of_rank.end(), 0U);
  std::stable_sort(row_of_rank.begin(), row_of_rank.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return problem.class_of[a] < problem.class_of[b]; });
  for (std::size_t rank = 0; rank < row_of_rank.size(); ++rank) {
    rank_of_row[row_of_rank[rank]] = static_cast<std::uint32_t>(rank);
  }
}

GroupSorter::GroupSorter(const NetworkKernels* kernels, std::int64_t n_rows, const ClassRanks& ranks, Storage storage)
    : kernels_(n_rows <= kNetworkRows ? kernels : nullptr), reference_(kernels == nullptr), n_(n_rows), ranks_(ranks) {
  scratch_.storage = storage;
  if (kernels_ == nullptr) return;
  lanes_ = kernels_->lanes;
  words_ = Buffer<std::uint64_t>(n_ * lanes_);
}

void GroupSorter::sort(std::span<const Attribute* const> columns) {
  columns_.assign(columns.begin(), columns.end());
  std::fill(std::begin(decides_), std::end(decides_), false);
  if (kernels_ == nullptr) return;
  NetworkColumns group{};
  group.n = n_;
  group.ranks = ranks_.rank_of_row.data();
  for (int lane = 0; lane < lanes_; ++lane) {
    const std::size_t column = std::min(static_cast<std::size_t>(lane), columns.size() - 1);
    columns[column]->with_numbers([&](const auto* x) { group.columns[lane] = x; });
  }
  const bool floats = std::holds_alternative<Buffer<float>>(columns[0]->data);
  const NetworkFlags flags = (floats ? kernels_->sort_floats : kernels_->sort_doubles)(group, words_.data());
  for (int lane = 0; lane < static_cast<int>(columns.size()); ++lane) {
    const bool doubtful = ((flags.inexact & flags.ties) >> lane & 1) != 0;
    decides_[lane] = !doubtful || words_tell_values_apart(lane);
  }
}

// Whether words that are equal but for the rank stand for equal values only.
bool GroupSorter::words_tell_values_apart(int lane) const {
  return columns_[static_cast<std::size_t>(lane)]->with_numbers([&](const auto* x) {
    const std::uint64_t* word = words_.data() + lane;
    for (std::int64_t i = 0; i + 1 < n_; ++i, word += lanes_) {
      if (before_rank(word[0]) != before_rank(word[lanes_])) continue;
      const auto a = x[ranks_.row_of_rank[word[0] & kRankMask]], b = x[ranks_.row_of_rank[word[lanes_] & kRankMask]];
      if (order_key(a) != order_key(b)) return false;
    }
    return true;
  });
}

void GroupSorter::best_of_two_classes(std::int64_t n_first, NetworkBest& best) const {
  kernels_->two_classes(words_.data(), n_, n_first, best);
}

std::uint32_t GroupSorter::network_row(int lane, std::int64_t position) const {
  return ranks_.row_of_rank[words_[position * lanes_ + lane] & kRankMask];
}

void GroupSorter::order_of(int lane, std::uint32_t* rows, std::uint8_t* differs, const Crew& crew) {
  if (decides_[lane]) {
    const std::uint64_t* word = words_.data() + lane;
    for (std::int64_t i = 0; i < n_; ++i, word += lanes_) {
      rows[i] = ranks_.row_of_rank[*word & kRankMask];
      differs[i] = i + 1 < n_ && before_rank(word[0]) != before_rank(word[lanes_]) ? 1 : 0;
    }
    return;
  }
  columns_[static_cast<std::size_t>(lane)]->with_numbers([&](const auto* x) {
    if (!reference_) {
      sort_rows(x, n_, rows, scratch_, differs, crew);
      return;
    }
    std::iota(rows, rows + n_, 0U);
    std::stable_sort(rows, rows + n_,
                     [x](std::uint32_t a, std::uint32_t b) { return order_key(x[a]) < order_key(x[b]); });
    for (std::int64_t i = 0; i + 1 < n_; ++i) differs[i] = order_key(x[rows[i]]) != order_key(x[rows[i + 1]]) ? 1 : 0;
    if (n_ > 0) differs[n_ - 1] = 0;
  });
}

}  // namespace stope::discretize
