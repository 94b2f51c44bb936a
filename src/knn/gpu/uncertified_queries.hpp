// Has the reference answer those queries of a block for which a filter on a GPU could not prove an answer. It runs on
// the same GPUs.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/engine/searcher.hpp"
#include "knn/gpu/reference/held_rows.hpp"

namespace stope::knn {

/// The reference is made when the first query needs it.
class UncertifiedQueries {
 public:
  /// All three arguments must outlive this object.
  UncertifiedQueries(const Fitted& fitted, const Plan& plan, const RunOptions& run);

  /// Has the reference read the training rows where a filter holds them, on each GPU of the plan, in place of copying
  /// them.
  void read(HeldRows held) { held_ = std::move(held); }

  /// Writes the rows of the block's queries [begin, begin + n), row-major.
  using Fetch = std::function<void(std::int64_t begin, std::int64_t n, double* rows)>;
  /// Gets the list of one query of the block.
  using Take = std::function<void(std::int64_t query, std::vector<Neighbor> list)>;

  /// Answers the queries i of a block with uncertified[i] together, however far apart they are. The reference takes
  /// rows in any order and goes through the training table once for all of them. Only where the query's number matters
  /// (a row is no neighbour of itself) does each run of consecutive queries go alone. `queries.rows` is not used.
  /// Returns false if the lists within a radius turn out to need more memory than the plan has for a block; some
  /// queries then have no answer.
  bool answer(const QueryBlock& queries, const Selection& selection, const std::vector<std::int32_t>& uncertified,
              const Fetch& fetch, const Take& take);

  /// Adds the work of the reference, and the number of queries that it answered.
  void report(SearchReport& report) const;

 private:
  using Which = std::span<const std::int64_t>;
  void search(const QueryBlock& queries, const Selection& selection, Which which, const Fetch& fetch, const Take& take);
  void search_within(const QueryBlock& queries, Selection selection, Which which, const Fetch& fetch, const Take& take);
  PartEnd find(const QueryBlock& queries, const Selection& selection, Which which, const Fetch& fetch, Lists& found);
  std::int64_t most_at_once(const Selection& selection) const;
  void make_reference(std::int64_t n_queries);

  const Fitted& fitted_;
  const Plan& plan_;
  const RunOptions& run_;
  HeldRows held_;
  std::unique_ptr<TrainParts> train_;  // null where the rows are held
  std::unique_ptr<Searcher> reference_;
  std::int64_t planned_queries_ = 0;  // for which the reference was made
  std::int64_t evaluated_ = 0;        // pairs, by references that larger ones have replaced
  std::int64_t answered_ = 0;
  std::int64_t room_ = 0;  // neighbours that lists within a radius may still have, in a block
};

}  // namespace stope::knn
