#include "knn/lists/lists.hpp"

#include <algorithm>

#include "stope/error.hpp"

namespace stope::knn {

void Lists::reset(std::size_t n) {
  most_ = 0;
  loose_.resize(n);
  for (std::vector<Neighbor>& list : loose_) list.clear();
}

void Lists::reset(std::size_t n, std::int32_t most, std::int64_t* rows, double* distances) {
  most_ = most;
  rows_ = rows;
  distances_ = distances;
  lengths_.assign(n, 0);
}

void Lists::put(std::size_t i, const std::vector<Neighbor>& list) {
  if (!placed()) {
    loose_[i].assign(list.begin(), list.end());
    return;
  }
  if (std::ssize(list) > most_) throw Error(ErrorCode::internal, "a list is longer than its place");
  lengths_[i] = static_cast<std::int32_t>(list.size());
  auto at = static_cast<std::int64_t>(i) * most_;
  for (const Neighbor& neighbor : list) {
    rows_[at] = neighbor.row;
    distances_[at++] = neighbor.distance;
  }
}

std::vector<Neighbor> Lists::list(std::size_t i) const {
  std::vector<Neighbor> list;
  list.reserve(static_cast<std::size_t>(length(i)));
  for_each(i, [&](const Neighbor& neighbor) { list.push_back(neighbor); });
  return list;
}

bool Lists::full() const {
  return std::all_of(lengths_.begin(), lengths_.end(), [&](std::int32_t length) { return length == most_; });
}

void Lists::fill_up(const Neighbor& neighbor) {
  for (std::size_t i = 0; i < lengths_.size(); ++i) {
    const auto first = static_cast<std::int64_t>(i) * most_;
    std::fill(rows_ + first + lengths_[i], rows_ + first + most_, neighbor.row);
    std::fill(distances_ + first + lengths_[i], distances_ + first + most_, neighbor.distance);
  }
}

}  // namespace stope::knn
