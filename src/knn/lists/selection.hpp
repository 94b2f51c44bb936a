// Says which neighbours a search wants for every query.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace stope::knn {

struct Ballot;  // knn/vote/ballot.hpp
class InPlace;  // knn/gpu/caller_rows.hpp

inline constexpr std::int64_t kNoGroup = -1;
/// What Selection::places may be for a filter: where many lists are longer, the next number takes the place of one.
/// After the last comes a number that no filter has, and the reference takes the search.
inline constexpr std::array<std::int64_t, 3> kPlaces = {128, 512, 1024};
constexpr std::int64_t more_places(std::int64_t places) {
  return places < kPlaces[1] ? kPlaces[1] : 2 * places;
}

/// Consecutive encoded query rows.
struct QueryBlock {
  std::int64_t first = 0;  ///< number of the first row in the query table
  std::int64_t n = 0;
  const double* rows = nullptr;          ///< n x width, row-major
  const std::int64_t* groups = nullptr;  ///< group per row, or null; kNoGroup excludes nothing
};

/// Which neighbours every query wants.
struct Selection {
  enum class Kind {
    nearest,          ///< wants the k smallest by (distance, row), in that order
    rapidminer_heap,  ///< wants RapidMiner's heap after all rows, in heap-array order, one list per k
    radius            ///< wants every row with distance <= radius, by (distance, row)
  };
  Kind kind = Kind::nearest;
  std::vector<std::int64_t> ks;  ///< nearest: one k
  double radius = 0.0;
  std::int64_t longest = std::numeric_limits<std::int64_t>::max();  ///< radius: the longest list for which the plan has
                                                                    ///< room
  /// Within a radius: how many rows of a query a filter on a GPU lists. Longer lists are left to the reference.
  std::int64_t places = kPlaces[0];
  bool exclude_self = false;                   ///< no row is its own neighbour
  std::int64_t first_query = 0;                ///< ... query i is training row first_query + i
  const std::int64_t* train_groups = nullptr;  ///< group per training row, or null
  std::int64_t group_rows = 0;        ///< ... how many training rows the groups of nearly all queries have at most
  const Ballot* ballot = nullptr;     ///< turns the lists into votes, or null
  const InPlace* in_place = nullptr;  ///< where a GPU finds rows and puts results, or null

  std::size_t n_lists() const { return kind == Kind::rapidminer_heap ? ks.size() : 1; }
  /// The training row that query `query` is and that is excluded, or -1.
  std::int64_t own_row(std::int64_t query) const { return exclude_self ? first_query + query : -1; }
  /// Whether excludes() may say yes.
  bool excludes_some() const { return exclude_self || train_groups != nullptr; }
  /// Whether training row `row` cannot be a neighbour of query `i` of the block, however near it is.
  bool excludes(const QueryBlock& block, std::int64_t i, std::int64_t row) const {
    if (exclude_self && first_query + block.first + i == row) return true;
    if (train_groups == nullptr || block.groups[i] == kNoGroup) return false;
    return block.groups[i] == train_groups[row];
  }
};

}  // namespace stope::knn
