// The interface of an engine whose work overlaps the host's. While it searches one block of queries, the caller
// prepares the next block and hands on the one before (search/block_feeder.hpp).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/engine/searcher.hpp"

namespace stope::knn {

/// Encodes query rows [first, first + n), row-major.
using QueryEncoder = std::function<void(std::int64_t first, std::int64_t n, double* rows, ThreadPool& pool)>;

/// Fills the rest of a list when all remaining rows are in the list already.
inline constexpr std::int64_t kNoNeighbor = -1;

/// What a search shows about the images, or the lists, that a GPU needs. `missing`: queries lack values of attributes
/// that every training row has. `halves`: rows or queries are not small whole numbers, although the sample's are.
/// `places`: many queries have more rows within the radius than selection.places.
enum class ImageNeed { missing, halves, places };

/// The result of a block of queries whose lists stayed with the back end. It holds predictions by the selection's
/// ballot, or the lists or predictions are in the caller's memory, which the selection names. Queries that the back end
/// could not answer have lists here.
struct Outcome {
  std::int64_t first_query = 0, n_queries = 0;
  std::vector<std::int32_t> winners;  ///< winners[j * n_queries + i] for the j-th k; only where there are classes
  std::vector<double> values;         ///< values[(j * n_queries + i) * n_values + v]
  std::vector<std::int64_t> listed;   ///< queries of the block, ascending, that have lists instead
  std::vector<std::vector<Neighbor>> lists = {};  ///< their lists, in that order
  bool placed = false;  ///< the predictions are where the ballot or the selection wants them, not here
};

/// Searches the whole training table. Every list has selection.ks.front() neighbours; some are kNoNeighbor where groups
/// are excluded. Lists that vary in length have no such places. begin() and finish() return the need that the pipeline
/// does not meet. The block then has no result, and a new pipeline is faster from this block on
/// (GpuFilterCache::require_images, Selection::places).
class SearchPipeline {
 public:
  virtual ~SearchPipeline() = default;
  /// How many blocks are under way at once. STOPE_BLOCKS_UNDER_WAY can lower it (1: nothing is prepared or handed on
  /// meanwhile).
  virtual int blocks() const = 0;
  /// Whether one thread may begin a block while another finishes the one before.
  virtual bool begins_beside() const { return false; }
  /// Begins the search of block `which`, which must be free: new, or finished. Selection and encoder must live as long
  /// as the search of the block.
  [[nodiscard]] virtual std::optional<ImageNeed> begin(int which, const QueryBlock& block, const Selection& selection,
                                                       const QueryEncoder& encode) = 0;
  /// Whether lists vary in length: those within a radius do.
  virtual bool lists_vary() const { return false; }
  /// Waits for the block and writes its lists; `out` has their sizes and offsets already, unless lists vary.
  [[nodiscard]] virtual std::optional<ImageNeed> finish(int which, Neighbors& out) = 0;
  /// Whether lists stay with the back end: then finish_kept() takes the place of finish().
  virtual bool keeps_lists() const { return false; }
  [[nodiscard]] virtual std::optional<ImageNeed> finish_kept(int which, Outcome& out);
  virtual void report(SearchReport& report) const = 0;
};

/// Writes the list over that of a query of `out`.
void copy_list(const std::vector<Neighbor>& list, const Selection& selection, std::int64_t query, Neighbors& out);

/// Takes kNoNeighbor out of the lists.
void drop_empty_entries(Neighbors& neighbors);

}  // namespace stope::knn
