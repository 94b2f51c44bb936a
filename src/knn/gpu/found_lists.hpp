// The lists of a block of queries where they vary in length: those within a radius, and those without the rows of
// excluded groups. A filter lists the nearest rows of a query in a number of places, and the host chooses from them.
//
// The choice is exact. The places have the nearest rows by (distance, row). So a row that is in none of them comes
// after all that are in one. Within a radius a list is whole if one place has a row farther away, or no row. The k
// nearest rows that are not excluded are known if k of the places have such rows.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/lists/neighbor_list.hpp"
#include "knn/lists/selection.hpp"
#include "stope/buffer.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// Within a larger radius every row counts as near.
inline constexpr double kMostFilterRadius = 1e300;
/// Returns the distance within which a filter looks. A distance may be a rounding below 0.
inline double filter_radius(const Selection& selection) {
  return selection.radius > 0.0 ? selection.radius : 0.0;
}

/// How long lists within a radius are, before rows of excluded groups are left out.
struct ListLengths {
  std::int64_t n = 0;                                 ///< lists
  std::array<std::int64_t, kPlaces.size()> longer{};  ///< those that fill so many places, of which one has to stay free

  void add(std::int64_t length);
  void add(const ListLengths& other);
};

class FoundLists {
 public:
  /// Empties the lists, for a block. Selection and groups must live until write().
  void reset(const Selection& selection, const QueryBlock& block);

  /// Takes the rows in the places of queries [begin, begin + n), `places` a query. Queries for which uncertified[i] is
  /// not 0 have none. It becomes 1 where the list is not known to be whole. Threads may take different queries at once;
  /// the pool may be null.
  template <class Row>
  void take(std::int64_t begin, std::int64_t n, std::int64_t places, const double* distances, const Row* rows,
            std::int32_t* uncertified, ThreadPool* pool, const CancelToken& cancel);

  /// Takes the list of a query that has none.
  void put(std::int64_t query, std::vector<Neighbor> list);

  /// The lengths of all lists in places. One that fills its places counts as so many, one
  /// without a certificate as none.
  const ListLengths& lengths() const { return lengths_; }

  /// Writes all lists.
  void write(Neighbors& out, ThreadPool& pool, const CancelToken& cancel) const;

 private:
  // Lists of consecutive queries, one after the other.
  struct Piece {
    std::int64_t begin = 0;
    std::vector<std::int64_t> offsets;
    Buffer<double> distances;
    Buffer<std::int64_t> rows;
  };
  template <class Row>
  std::int64_t length(std::int64_t query, std::int64_t places, const double* distances, const Row* rows) const;

  const Selection* selection_ = nullptr;
  QueryBlock block_;
  std::mutex mutex_;
  ListLengths lengths_;
  std::vector<Piece> pieces_;
  std::vector<std::pair<std::int64_t, std::vector<Neighbor>>> lists_;
};

}  // namespace stope::knn
