// Compares a few queries with every row by the formula, in one pass over the rows where they lie. Nothing is made of
// the rows first, and no distance is written to memory: a table that is searched once is read once.
#pragma once

#include <vector>

#include "base/thread_pool.hpp"
#include "knn/engine/searcher.hpp"
#include "knn/lists/collector.hpp"

namespace stope::knn {

class DirectScan {
 public:
  DirectScan(const Fitted& fitted, ThreadPool& pool, const CancelToken& cancel);

  /// Whether it serves so many queries, and does so faster than tiles of distances. RapidMiner's heap must see the rows
  /// in their order.
  bool takes(const Selection& selection, std::int64_t n_queries) const;
  /// Does what Searcher::search does.
  [[nodiscard]] PartEnd search(const TrainPart& part, const QueryBlock& block, const Selection& selection,
                               Lists& lists);

 private:
  using Squares = void (*)(const double* rows, std::int64_t n, const double* query, double* sums);

  void scan(const TrainPart& part, const QueryBlock& block, const Selection& selection, std::int64_t begin,
            std::int64_t end, Collector* collectors) const;
  template <class Offer>
  void offer_near(double* values, std::int64_t n, const Collector& collector, const Offer& offer) const;
  double distance(const double* row, const double* query, double value) const;

  const Fitted& fitted_;
  ThreadPool& pool_;
  const CancelToken& cancel_;
  Squares squares_ = nullptr;          // where sums of squares come before distances
  bool root_ = false;                  // distances are their roots
  std::vector<Collector> collectors_;  // [worker * queries + query]
};

}  // namespace stope::knn
