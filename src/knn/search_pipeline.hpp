// A back end that works beside the processor: while it searches one block of queries, the caller prepares the next and
// hands on the one before.
#pragma once

#include <functional>
#include <memory>

#include "base/thread_pool.hpp"
#include "knn/searcher.hpp"

namespace stope::knn {

/// Encodes query rows [first, first + n), row-major.
using QueryEncoder = std::function<void(std::int64_t first, std::int64_t n, double* rows, ThreadPool& pool)>;

/// In place of a neighbour that there is none for: all rows that are left are in the list.
inline constexpr std::int64_t kNoNeighbor = -1;

/// Thrown by SearchPipeline::begin: FilterCache::expect_gaps(), and a new pipeline from this block on, make it faster.
struct GapsInQueries {};

/// Searches the whole training table; every list has selection.ks.front() neighbours, some of them kNoNeighbor where
/// groups are excluded.
class SearchPipeline {
 public:
  virtual ~SearchPipeline() = default;
  /// Under way at once; fewer where STOPE_BLOCKS_UNDER_WAY says so (1: nothing is prepared or handed on meanwhile).
  virtual int blocks() const = 0;
  /// Begins the search of block `which`, which is free: new, or finished. Selection and encoder live as long as it
  /// does.
  virtual void begin(int which, const QueryBlock& block, const Selection& selection, const QueryEncoder& encode) = 0;
  /// Waits for the block and writes its lists; `out` has their sizes and offsets already.
  virtual void finish(int which, Neighbors& out) = 0;
  virtual void report(SearchReport& report) const = 0;
};

/// Puts lists, of one k, in place of those of queries `first` ... of `out`.
void copy_lists(const Lists& lists, const Selection& selection, std::int64_t first, Neighbors& out);

/// Takes kNoNeighbor out of the lists.
void close_gaps(Neighbors& neighbors);

/// The pipeline of a plan, or null where there is none; throws out_of_memory where the plan turns out not to fit.
std::unique_ptr<SearchPipeline> make_pipeline(const Fitted& fitted, const Plan& plan, const Selection& selection,
                                              std::int64_t n_queries, const RunOptions& run);

}  // namespace stope::knn
