// The reference back end: every distance by the measure's own formula in double precision, blocked, on all cores. Every
// fast path must return its bits.
#include <algorithm>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "knn/neighbor_list.hpp"
#include "knn/searcher.hpp"

namespace stope::knn {
namespace {

class ReferenceSearcher final : public Searcher {
 public:
  ReferenceSearcher(const Fitted& fitted, const Plan& plan, const RunOptions& run)
      : fitted_(fitted),
        plan_(plan),
        run_(run),
        pool_(plan.threads),
        distances_(checked::mul(plan.tile_queries, plan.tile_rows)) {}

  void search(const QueryBlock& block, const Selection& selection, std::vector<Neighbors>& out) override {
    const bool heaps = selection.kind == Selection::Kind::rapidminer_heap;
    const std::size_t n_lists = heaps ? selection.ks.size() : 1;
    reset_lists(block, selection, n_lists);
    // Tiles go in row order and a pass selects only when the tile before is done, because RapidMiner's heap must see
    // the rows in that order.
    for (std::int64_t begin = 0; begin < fitted_.n_rows(); begin += plan_.tile_rows) {
      const std::int64_t end = std::min(begin + plan_.tile_rows, fitted_.n_rows());
      compute(block, begin, end, Quantity::distance, Order::train_first, distances_.data(), plan_.tile_rows);
      pool_.parallel_for(block.n, run_.cancel,
                         [&](std::int64_t i, int) { select(block, selection, n_lists, i, begin, end); });
    }
    out.assign(n_lists, Neighbors{});
    for (std::size_t list = 0; list < n_lists; ++list) {
      out[list].first_query = block.first;
      for (std::int64_t i = 0; i < block.n; ++i) append_list(selection, i, list, n_lists, out[list]);
    }
  }

  void matrix(const QueryBlock& block, Quantity quantity, Order order, double* values) override {
    compute(block, 0, fitted_.n_rows(), quantity, order, values, fitted_.n_rows());
  }

 private:
  // out[i * ld + (j - begin)]: block by tile, cut into tasks that are large enough to be worth a hand-over.
  void compute(const QueryBlock& block, std::int64_t begin, std::int64_t end, Quantity quantity, Order order,
               double* out, std::int64_t ld) {
    constexpr std::int64_t kQueriesPerTask = 16;
    constexpr std::int64_t kMaxRowsPerTask = 512;  // what 16 queries share stays in the L2 cache
    // The cancel token is polled between tasks: 2^25 terms are some tens of milliseconds.
    constexpr std::int64_t kTermsPerTask = std::int64_t{1} << 25;
    const std::int64_t rows_per_task = std::clamp<std::int64_t>(
        kTermsPerTask / kQueriesPerTask / fitted_.kernel().terms_per_pair(), 1, kMaxRowsPerTask);
    const std::int64_t query_tasks = checked::ceil_div(block.n, kQueriesPerTask);
    const std::int64_t row_tasks = checked::ceil_div(end - begin, rows_per_task);
    const std::int64_t width = fitted_.width();
    pool_.parallel_for(query_tasks * row_tasks, run_.cancel, [&](std::int64_t task, int) {
      const std::int64_t query = task / row_tasks * kQueriesPerTask;
      const std::int64_t row = begin + task % row_tasks * rows_per_task;
      fitted_.kernel().evaluate(
          {fitted_.rows() + row * width, std::min(rows_per_task, end - row), block.rows + query * width,
           std::min(kQueriesPerTask, block.n - query), out + query * ld + (row - begin), ld},
          quantity, order);
    });
  }

  void reset_lists(const QueryBlock& block, const Selection& selection, std::size_t n_lists) {
    const auto n = static_cast<std::size_t>(block.n);
    switch (selection.kind) {
      case Selection::Kind::nearest:
        nearest_.resize(n);
        for (NearestList& list : nearest_) list.reset(selection.ks.front());
        break;
      case Selection::Kind::rapidminer_heap:
        heaps_.resize(n * n_lists);
        for (std::size_t i = 0; i < heaps_.size(); ++i) heaps_[i].reset(selection.ks[i % n_lists]);
        break;
      case Selection::Kind::radius: within_.assign(n, {}); break;
    }
  }

  static bool excluded(const QueryBlock& block, const Selection& selection, std::int64_t i, std::int64_t row) {
    if (selection.exclude_self && block.first + i == row) return true;
    if (selection.train_groups == nullptr || block.groups[i] == kNoGroup) return false;
    return block.groups[i] == selection.train_groups[row];
  }

  void select(const QueryBlock& block, const Selection& selection, std::size_t n_lists, std::int64_t i,
              std::int64_t begin, std::int64_t end) {
    const double* distances = distances_.data() + i * plan_.tile_rows;
    const auto query = static_cast<std::size_t>(i);
    for (std::int64_t row = begin; row < end; ++row) {
      if (excluded(block, selection, i, row)) continue;
      const Candidate candidate{distances[row - begin], row};
      switch (selection.kind) {
        case Selection::Kind::nearest: nearest_[query].offer(candidate); break;
        case Selection::Kind::rapidminer_heap:
          for (std::size_t list = 0; list < n_lists; ++list) heaps_[query * n_lists + list].offer(candidate);
          break;
        case Selection::Kind::radius:
          if (candidate.distance <= selection.radius) within_[query].push_back(candidate);
          break;
      }
    }
  }

  void append_list(const Selection& selection, std::int64_t i, std::size_t list, std::size_t n_lists, Neighbors& out) {
    const auto query = static_cast<std::size_t>(i);
    const std::vector<Candidate>* candidates = &sorted_;
    switch (selection.kind) {
      case Selection::Kind::nearest: nearest_[query].take_sorted(sorted_); break;
      case Selection::Kind::rapidminer_heap: candidates = &heaps_[query * n_lists + list].array(); break;
      case Selection::Kind::radius:
        std::sort(within_[query].begin(), within_[query].end(), closer);
        candidates = &within_[query];
        break;
    }
    for (const Candidate& candidate : *candidates) {
      out.indices.push_back(candidate.row);
      out.distances.push_back(candidate.distance);
    }
    out.offsets.push_back(static_cast<std::int64_t>(out.indices.size()));
  }

  const Fitted& fitted_;
  const Plan plan_;
  const RunOptions& run_;
  ThreadPool pool_;
  Buffer<double> distances_;  // tile_queries x tile_rows
  std::vector<NearestList> nearest_;
  std::vector<RapidMinerHeap> heaps_;
  std::vector<std::vector<Candidate>> within_;
  std::vector<Candidate> sorted_;
};

}  // namespace

std::unique_ptr<Searcher> make_reference_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run) {
  return std::make_unique<ReferenceSearcher>(fitted, plan, run);
}

}  // namespace stope::knn
