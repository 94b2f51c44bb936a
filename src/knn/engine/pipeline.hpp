// What an engine that works beside the host is to the search: while it searches one block of queries, the caller
// prepares the next and hands on the one before (search/block_feeder.hpp).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/engine/searcher.hpp"

namespace stope::knn {

/// Encodes query rows [first, first + n), row-major.
using QueryEncoder = std::function<void(std::int64_t first, std::int64_t n, double* rows, ThreadPool& pool)>;

/// Stands where a list has no further neighbour, because all rows that are left are in the list.
inline constexpr std::int64_t kNoNeighbor = -1;

/// What images on GPUs have to allow for, or be made of, as a search shows. `missing`: queries lack values of
/// attributes that every training row has. `halves`: rows or queries are not the small whole numbers that a sample has.
enum class ImageNeed { missing, halves };

/// What became of a block of queries whose lists stayed where the back end found them: predictions by the selection's
/// ballot, or lists in the caller's memory, which the selection names. Queries that the back end could not answer there
/// have lists.
struct Outcome {
  std::int64_t first_query = 0, n_queries = 0;
  std::vector<std::int32_t> winners;  ///< winners[j * n_queries + i] for the j-th k; only where there are classes
  std::vector<double> values;         ///< values[(j * n_queries + i) * n_values + v]
  std::vector<std::int64_t> listed;   ///< queries of the block, ascending, that have lists instead
  Lists lists;                        ///< their lists, in that order
};

/// Searches the whole training table; every list has selection.ks.front() neighbours, some of them kNoNeighbor where
/// groups are excluded. begin() and finish() return the need that the pipeline's images do not meet: a new pipeline,
/// from this block on, is then faster (GpuFilterCache::require_images). The block has no result in that case.
class SearchPipeline {
 public:
  virtual ~SearchPipeline() = default;
  /// How many blocks are under way at once; fewer where STOPE_BLOCKS_UNDER_WAY says so (1: nothing is prepared or
  /// handed on meanwhile).
  virtual int blocks() const = 0;
  /// Whether one thread may begin a block while another finishes the one before.
  virtual bool begins_beside() const { return false; }
  /// Begins the search of block `which`, which is free: new, or finished. Selection and encoder live as long as it
  /// does.
  [[nodiscard]] virtual std::optional<ImageNeed> begin(int which, const QueryBlock& block, const Selection& selection,
                                                       const QueryEncoder& encode) = 0;
  /// Waits for the block and writes its lists; `out` has their sizes and offsets already.
  [[nodiscard]] virtual std::optional<ImageNeed> finish(int which, Neighbors& out) = 0;
  /// Whether lists stay with the back end: then finish_kept() takes the place of finish().
  virtual bool keeps_lists() const { return false; }
  [[nodiscard]] virtual std::optional<ImageNeed> finish_kept(int which, Outcome& out);
  virtual void report(SearchReport& report) const = 0;
};

/// Writes the lists, of one k, over those of queries first, first + 1, ... of `out`.
void copy_lists(const Lists& lists, const Selection& selection, std::int64_t first, Neighbors& out);

/// Takes kNoNeighbor out of the lists.
void drop_empty_entries(Neighbors& neighbors);

}  // namespace stope::knn
