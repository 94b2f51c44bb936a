#include "knn/engine/reference.hpp"

#include <algorithm>
#include <atomic>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "knn/engine/direct_scan.hpp"
#include "knn/engine/pairs/plain_pairs.hpp"
#include "knn/lists/collector.hpp"

namespace stope::knn {
namespace {

// Evaluates the formula for blocks of pairs. The reference takes them one by one, whatever they are.
class Pairs {
 public:
  Pairs(const Fitted& fitted, const Plan& plan, ThreadPool& pool, const CancelToken& cancel)
      : fitted_(fitted),
        pool_(pool),
        cancel_(cancel),
        plain_(plan.backend.backend == device::Backend::reference ? nullptr
                                                                  : make_plain_pairs(fitted, plan.backend.backend)) {}

  /// Writes out[i * ld + (j - begin)] for every query i of the block and the part's rows j in [begin, end). Each task
  /// is large enough to be worth a hand-over.
  void compute(const TrainPart& part, const QueryBlock& block, std::int64_t begin, std::int64_t end, Quantity quantity,
               PairOrder order, double* out, std::int64_t ld) const {
    const std::int64_t queries_per_task = plain_ != nullptr ? PlainPairs::kQueries : 16;
    constexpr std::int64_t kMaxRowsPerTask = 512;  // what the queries share stays in the L2 cache
    // The cancel token is polled between tasks: 2^25 terms are some tens of milliseconds.
    constexpr std::int64_t kTermsPerTask = std::int64_t{1} << 25;
    const std::int64_t rows_per_task = std::clamp<std::int64_t>(
        kTermsPerTask / queries_per_task / fitted_.kernel().terms_per_pair(), 1, kMaxRowsPerTask);
    const std::int64_t query_tasks = checked::ceil_div(block.n, queries_per_task);
    const std::int64_t row_tasks = checked::ceil_div(end - begin, rows_per_task);
    const std::int64_t width = fitted_.width();
    pool_.parallel_for(query_tasks * row_tasks, cancel_, [&](std::int64_t task, int) {
      const std::int64_t query = task / row_tasks * queries_per_task;
      const std::int64_t row = begin + task % row_tasks * rows_per_task;
      const Tile tile = {part.rows + row * width,          std::min(rows_per_task, end - row),
                         block.rows + query * width,       std::min(queries_per_task, block.n - query),
                         out + query * ld + (row - begin), ld};
      plain_ != nullptr ? plain_->evaluate(tile, quantity, order) : fitted_.kernel().evaluate(tile, quantity, order);
    });
  }

 private:
  const Fitted& fitted_;
  ThreadPool& pool_;
  const CancelToken& cancel_;
  std::unique_ptr<const PlainPairs> plain_;  // null: the kernel evaluates
};

class ReferenceSearcher final : public Searcher {
 public:
  ReferenceSearcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool, const RunOptions& run)
      : plan_(plan),
        run_(run),
        pool_(pool),
        pairs_(fitted, plan, pool, run.cancel),
        direct_(fitted, pool, run.cancel) {}

  PartEnd search(const TrainPart& part, const QueryBlock& block, const Selection& selection, Lists& lists) override {
    evaluated_ += block.n * part.n;
    // The reference itself stays as plain as can be.
    if (plan_.backend.backend != device::Backend::reference && direct_.takes(selection, block.n)) {
      return direct_.search(part, block, selection, lists);
    }
    if (distances_.empty()) distances_ = Buffer<double>(checked::mul(plan_.tile_queries, plan_.tile_rows));
    const std::size_t n_lists = selection.n_lists();
    collectors_.resize(static_cast<std::size_t>(block.n));
    for (std::size_t i = 0; i < collectors_.size(); ++i) {
      collectors_[i].reset(selection);
      collectors_[i].restore(lists, i * n_lists);
    }
    // Tiles go in row order, and a pass selects only after the tile before is done: RapidMiner's heap must see the rows
    // in that order.
    std::atomic<bool> too_long = false;
    for (std::int64_t begin = 0; begin < part.n; begin += plan_.tile_rows) {
      const std::int64_t end = std::min(begin + plan_.tile_rows, part.n);
      const PhaseSpan span = PhaseSpan::share(begin / plan_.tile_rows, checked::ceil_div(part.n, plan_.tile_rows), 2);
      pairs_.compute(part, block, begin, end, Quantity::distance, PairOrder::train_first, distances_.data(),
                     plan_.tile_rows);
      pool_.parallel_for(block.n, run_.cancel, [&](std::int64_t i, int) {
        if (too_long.load(std::memory_order_relaxed)) return;
        Collector& collector = collectors_[static_cast<std::size_t>(i)];
        const double* distances = distances_.data() + i * plan_.tile_rows;
        for (std::int64_t j = begin; j < end; ++j) {
          const std::int64_t row = part.first + j;
          if (!selection.excludes(block, i, row)) collector.offer({distances[j - begin], row});
        }
        if (collector.too_long()) too_long.store(true, std::memory_order_relaxed);
      });
      if (too_long) return PartEnd::list_too_long;
    }
    for (std::size_t i = 0; i < lists.size(); ++i) {
      lists.put(i, collectors_[i / n_lists].take(i % n_lists));
    }
    return PartEnd::complete;
  }

  void report(SearchReport& report) const override { report.evaluated = evaluated_; }

 private:
  const Plan plan_;
  const RunOptions& run_;
  ThreadPool& pool_;
  const Pairs pairs_;
  DirectScan direct_;
  Buffer<double> distances_;           // tile_queries x tile_rows, once a block needs it
  std::vector<Collector> collectors_;  // per query
  std::int64_t evaluated_ = 0;
};

class ReferenceMatrix final : public DistanceMatrix {
 public:
  ReferenceMatrix(const Fitted& fitted, const Plan& plan, const RunOptions& run)
      : pool_(plan.threads), pairs_(fitted, plan, pool_, run.cancel) {}

  void compute(const TrainPart& part, const QueryBlock& block, Quantity quantity, PairOrder order, double* values,
               std::int64_t ld) override {
    pairs_.compute(part, block, 0, part.n, quantity, order, values, ld);
    evaluated_ += block.n * part.n;
  }

  void report(SearchReport& report) const override { report.evaluated = evaluated_; }

 private:
  ThreadPool pool_;
  const Pairs pairs_;
  std::int64_t evaluated_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> make_reference_searcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool,
                                                  const RunOptions& run) {
  return std::make_unique<ReferenceSearcher>(fitted, plan, pool, run);
}

std::unique_ptr<DistanceMatrix> make_reference_matrix(const Fitted& fitted, const Plan& plan, const RunOptions& run) {
  return std::make_unique<ReferenceMatrix>(fitted, plan, run);
}

}  // namespace stope::knn
