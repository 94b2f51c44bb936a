#include "knn/gpu/found_lists.hpp"

#include <algorithm>
#include <optional>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kQueriesPerTask = 1024;
constexpr std::int64_t kNotKnown = -1;

// Calls work(query) for each of n queries.
template <class Work>
void for_each_query(std::int64_t n, ThreadPool& pool, const CancelToken& cancel, const Work& work) {
  pool.parallel_for(checked::ceil_div(n, kQueriesPerTask), cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min(n, (task + 1) * kQueriesPerTask);
    for (std::int64_t i = task * kQueriesPerTask; i < end; ++i) work(i);
  });
}

}  // namespace

void ListLengths::add(std::int64_t length) {
  ++n;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) longer[i] += length >= kPlaces[i] ? 1 : 0;
}

void ListLengths::add(const ListLengths& other) {
  n += other.n;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) longer[i] += other.longer[i];
}

void FoundLists::reset(const Selection& selection, const QueryBlock& block) {
  selection_ = &selection;
  block_ = block;
  lengths_ = {};
  pieces_.clear();
  lists_.clear();
}

// Returns how many of the places are read for the query's list: those of the rows within the radius, or those up to the
// k-th row that is not excluded. kNotKnown: there may be more such rows than places.
template <class Row>
std::int64_t FoundLists::length(std::int64_t query, std::int64_t places, const double* distances,
                                const Row* rows) const {
  if (selection_->kind == Selection::Kind::radius) {
    // Places without a row are at an infinite distance, and the radius is finite.
    const double* const end = std::partition_point(distances, distances + places,
                                                   [&](double distance) { return distance <= selection_->radius; });
    return end == distances + places ? kNotKnown : end - distances;
  }
  const std::int64_t k = selection_->ks.front();
  std::int64_t kept = 0;
  for (std::int64_t at = 0; at < places; ++at) {
    kept += selection_->excludes(block_, query, rows[at]) ? 0 : 1;
    if (kept == k) return at + 1;
  }
  return kNotKnown;
}

template <class Row>
void FoundLists::take(std::int64_t begin, std::int64_t n, std::int64_t places, const double* distances, const Row* rows,
                      std::int32_t* uncertified, ThreadPool* pool, const CancelToken& cancel) {
  std::optional<ThreadPool> own;
  if (pool == nullptr) pool = &own.emplace(1);
  const auto excluded = [&](std::int64_t i, std::int64_t at) {
    return selection_->excludes(block_, begin + i, rows[i * places + at]);
  };
  std::vector<std::int64_t> read(static_cast<std::size_t>(n), 0);  // places of each query
  Piece piece{begin, std::vector<std::int64_t>(static_cast<std::size_t>(n) + 1, 0), {}, {}};
  for_each_query(n, *pool, cancel, [&](std::int64_t i) {
    if (uncertified[i] != 0) return;
    const std::int64_t length = this->length(begin + i, places, distances + i * places, rows + i * places);
    read[static_cast<std::size_t>(i)] = length;
    std::int64_t kept = std::max<std::int64_t>(length, 0);
    if (selection_->train_groups != nullptr) {
      for (std::int64_t at = 0; at < length; ++at) kept -= excluded(i, at) ? 1 : 0;
    }
    piece.offsets[static_cast<std::size_t>(i) + 1] = kept;
  });
  ListLengths lengths;
  for (std::size_t i = 0; i < read.size(); ++i) {
    lengths.add(read[i] < 0 ? places : read[i]);
    if (read[i] < 0) uncertified[i] = 1;
    piece.offsets[i + 1] += piece.offsets[i];
  }
  piece.distances = Buffer<double>(piece.offsets.back());
  piece.rows = Buffer<std::int64_t>(piece.offsets.back());
  for_each_query(n, *pool, cancel, [&](std::int64_t i) {
    std::int64_t to = piece.offsets[static_cast<std::size_t>(i)];
    for (std::int64_t at = 0; at < read[static_cast<std::size_t>(i)]; ++at) {
      if (selection_->train_groups != nullptr && excluded(i, at)) continue;
      piece.distances.data()[to] = distances[i * places + at];
      piece.rows.data()[to++] = rows[i * places + at];
    }
  });
  const std::scoped_lock lock(mutex_);
  pieces_.push_back(std::move(piece));
  lengths_.add(lengths);
}

template void FoundLists::take(std::int64_t, std::int64_t, std::int64_t, const double*, const std::int32_t*,
                               std::int32_t*, ThreadPool*, const CancelToken&);
template void FoundLists::take(std::int64_t, std::int64_t, std::int64_t, const double*, const std::int64_t*,
                               std::int32_t*, ThreadPool*, const CancelToken&);

void FoundLists::put(std::int64_t query, std::vector<Neighbor> list) {
  lists_.emplace_back(query, std::move(list));
}

// A query has a list in a piece or a list of its own, or its list is empty.
void FoundLists::write(Neighbors& out, ThreadPool& pool, const CancelToken& cancel) const {
  out.first_query = block_.first;
  out.offsets.assign(static_cast<std::size_t>(block_.n) + 1, 0);
  for (const Piece& piece : pieces_) {
    for (std::size_t i = 0; i + 1 < piece.offsets.size(); ++i) {
      out.offsets[static_cast<std::size_t>(piece.begin) + i + 1] = piece.offsets[i + 1] - piece.offsets[i];
    }
  }
  for (const auto& [query, list] : lists_) out.offsets[static_cast<std::size_t>(query) + 1] = std::ssize(list);
  for (std::size_t i = 1; i < out.offsets.size(); ++i) out.offsets[i] += out.offsets[i - 1];
  out.indices.resize(static_cast<std::size_t>(out.offsets.back()));
  out.distances.resize(out.indices.size());
  for (const Piece& piece : pieces_) {
    for_each_query(std::ssize(piece.offsets) - 1, pool, cancel, [&](std::int64_t i) {
      const std::int64_t from = piece.offsets[static_cast<std::size_t>(i)];
      const std::int64_t n = piece.offsets[static_cast<std::size_t>(i) + 1] - from;
      const std::int64_t to = out.offsets[static_cast<std::size_t>(piece.begin + i)];
      std::copy_n(piece.rows.data() + from, n, out.indices.begin() + to);
      std::copy_n(piece.distances.data() + from, n, out.distances.begin() + to);
    });
  }
  for (const auto& [query, list] : lists_) {
    auto to = static_cast<std::size_t>(out.offsets[static_cast<std::size_t>(query)]);
    for (const Neighbor& neighbor : list) {
      out.indices[to] = neighbor.row;
      out.distances[to++] = neighbor.distance;
    }
  }
}

}  // namespace stope::knn
