// The interface every back end of the search implements, and the table that makes them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "knn/neighbor_list.hpp"
#include "knn/plan.hpp"
#include "knn/train_rows.hpp"

namespace stope::knn {

struct Ballot;        // knn/vote.hpp
class DeviceQueries;  // knn/device_queries.hpp

inline constexpr std::int64_t kNoGroup = -1;

/// Consecutive encoded query rows.
struct QueryBlock {
  std::int64_t first = 0;  ///< number of the first row in the query table
  std::int64_t n = 0;
  const double* rows = nullptr;          ///< n x width, row-major
  const std::int64_t* groups = nullptr;  ///< group per row, or null; kNoGroup excludes nothing
};

/// Which neighbours are wanted of every query.
struct Selection {
  enum class Kind {
    nearest,          ///< the k smallest by (distance, row), in that order
    rapidminer_heap,  ///< RapidMiner's heap after all rows, in heap-array order, one list per k
    radius            ///< distance <= radius, by (distance, row)
  };
  Kind kind = Kind::nearest;
  std::vector<std::int64_t> ks;  ///< nearest: one k
  double radius = 0.0;
  std::int64_t longest = std::numeric_limits<std::int64_t>::max();  ///< radius: a longer list throws ListTooLong
  bool exclude_self = false;                                        ///< query i is training row i
  const std::int64_t* train_groups = nullptr;                       ///< group per training row, or null
  const Ballot* ballot = nullptr;                                   ///< what the lists are voted for, or null
  const DeviceQueries* device = nullptr;                            ///< where a GPU finds rows and puts lists, or null

  std::size_t n_lists() const { return kind == Kind::rapidminer_heap ? ks.size() : 1; }
  /// Whether training row `row` is no neighbour of query `i` of the block, however near.
  bool excludes(const QueryBlock& block, std::int64_t i, std::int64_t row) const {
    if (exclude_self && block.first + i == row) return true;
    if (train_groups == nullptr || block.groups[i] == kNoGroup) return false;
    return block.groups[i] == train_groups[row];
  }
};

/// More rows lie within the radius of a query than the plan has room for.
struct ListTooLong {};

using Lists = std::vector<std::vector<Candidate>>;

class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Offers the rows of a part to lists[query * selection.n_lists() + list], which hold what earlier parts (all rows
  /// before this one's) left there. Polls the cancel token between tiles.
  virtual void search(const TrainPart& part, const QueryBlock& block, const Selection& selection, Lists& lists) = 0;
  /// values[i * ld + j] for every query i of the block and row j of the part.
  virtual void matrix(const TrainPart& part, const QueryBlock& block, Quantity quantity, Order order, double* values,
                      std::int64_t ld) = 0;
  /// Adds what the searches so far did: pairs scanned, skipped, listed, evaluated.
  virtual void report(SearchReport& report) const = 0;
};

/// The back end of a search: the one chosen for the run (device/backend.hpp), or the processor's best where that one
/// has no kernel for the measure; BackendChoice::reason then says so. For --device auto the search decides
/// (auto_device.hpp); without one it is the processor.
device::BackendChoice backend_for(const Fitted& fitted, const RunOptions& run);
device::BackendChoice backend_for(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                  const RunOptions& run);

/// The plan's back end for a fitted table.
std::unique_ptr<Searcher> make_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);

std::unique_ptr<Searcher> make_reference_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);
std::unique_ptr<Searcher> make_cuda_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);
std::unique_ptr<Searcher> make_filter_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);

}  // namespace stope::knn
