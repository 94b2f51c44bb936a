#include "knn/engine/search_history.hpp"

#include <algorithm>
#include <iterator>

#include "base/checked.hpp"
#include "knn/lists/selection.hpp"

namespace stope::knn {

std::int64_t SearchHistory::add_queries(std::int64_t n) {
  const std::scoped_lock lock(mutex_);
  n_queries_ = checked::add(n_queries_, n);
  return n_queries_;
}

double SearchHistory::add_scan(double seconds) {
  const std::scoped_lock lock(mutex_);
  scanned_ += seconds;
  return scanned_;
}

Method SearchHistory::choice(device::Backend backend, Question question, const std::function<Method()>& choose) {
  const std::scoped_lock lock(mutex_);
  const auto [found, inserted] = choices_.try_emplace({backend, question});
  if (inserted) {
    try {
      found->second = choose();
    } catch (...) {
      choices_.erase(found);
      throw;
    }
  }
  return found->second;
}

SearchHistory::Work SearchHistory::work(BlockOrder order) {
  const std::scoped_lock lock(mutex_);
  return work_[order == BlockOrder::near ? 1 : 0];
}

void SearchHistory::keep_work(BlockOrder order, const SearchReport& report, std::int64_t n_queries) {
  const auto n = static_cast<double>(std::max<std::int64_t>(n_queries, 1));
  const std::scoped_lock lock(mutex_);
  work_[order == BlockOrder::near ? 1 : 0] = {static_cast<double>(report.scanned) / n,
                                              static_cast<double>(report.evaluated) / n};
}

std::int64_t SearchHistory::places(double radius) {
  const std::scoped_lock lock(mutex_);
  const auto larger = places_.upper_bound(radius);
  return larger == places_.begin() ? kPlaces.front() : std::prev(larger)->second;
}

void SearchHistory::keep_places(double radius, std::int64_t places) {
  constexpr std::size_t kMost = 64;
  const std::scoped_lock lock(mutex_);
  if (places_.size() >= kMost) places_.clear();
  places_[radius] = places;
}

std::shared_ptr<const SearchHistory::ColumnGroups> SearchHistory::groups(std::int64_t index) {
  const std::scoped_lock lock(mutex_);
  return groups_ != nullptr && groups_->index == index ? groups_ : nullptr;
}

void SearchHistory::keep_groups(std::shared_ptr<const ColumnGroups> groups) {
  const std::scoped_lock lock(mutex_);
  groups_ = std::move(groups);
}

Buffer<std::int64_t> SearchHistory::take_numbers(std::int64_t n_rows) {
  {
    const std::scoped_lock lock(mutex_);
    if (numbers_.size() == n_rows) return std::exchange(numbers_, {});
  }
  return Buffer<std::int64_t>(n_rows);
}

void SearchHistory::keep_numbers(Buffer<std::int64_t> numbers) {
  constexpr std::int64_t kMost = std::int64_t{1} << 22;  // 32 MB
  if (numbers.size() > kMost) return;
  const std::scoped_lock lock(mutex_);
  numbers_ = std::move(numbers);
}

Neighbors SearchHistory::take_lists() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(lists_, {});
}

void SearchHistory::keep_lists(Neighbors lists) {
  constexpr std::size_t kMost = std::size_t{1} << 22;  // neighbours, 16 bytes each
  const std::scoped_lock lock(mutex_);
  if (lists.indices.capacity() <= kMost && lists.indices.capacity() > lists_.indices.capacity())
    std::swap(lists_, lists);
}

}  // namespace stope::knn
