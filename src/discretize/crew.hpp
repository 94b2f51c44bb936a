// The threads that work on one column: the calling thread alone, or all threads of a pool together where columns are
// fewer than threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "discretize/column_network.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// One thread sorts shorter columns sooner than a crew meets a dozen times.
inline constexpr std::int64_t kCrewRows = 65536;

/// The calling thread alone, unless a pool is given. Nobody else may use that pool meanwhile.
class Crew {
 public:
  Crew() = default;
  Crew(ThreadPool& pool, const CancelToken& cancel) : pool_(&pool), cancel_(&cancel) {}
  Crew(ThreadPool& pool, const CancelToken&& cancel) = delete;

  /// Parts that n rows are divided into.
  int n_parts(std::int64_t n) const { return pool_ == nullptr || n < kCrewRows ? 1 : pool_->size(); }
  /// Calls work(part) for every part; returns when all are done.
  template <class Work>
  void each(int n_parts, const Work& work) const {
    if (n_parts == 1) return work(0);
    pool_->parallel_for(n_parts, *cancel_, [&](std::int64_t part, int) { work(static_cast<int>(part)); });
  }

 private:
  ThreadPool* pool_ = nullptr;
  const CancelToken* cancel_ = nullptr;
};

/// Columns of a task where threads take columns in turn. Short columns go together, in whole groups that a network
/// sorts (discretize/column_network.hpp). Long ones go one by one, so that a few of them keep all threads busy.
inline std::int64_t columns_of_task(std::int64_t n_rows) {
  constexpr std::int64_t kMost = 64, kValues = 1 << 14;
  const std::int64_t n = std::clamp<std::int64_t>(kValues / std::max<std::int64_t>(n_rows, 1), 1, kMost);
  return n < kMostLanes ? n : n / kMostLanes * kMostLanes;
}

/// Calls work(begin, end, worker) for n columns of n_rows, one task of columns at a time; `work` adds to `progress`.
template <class Work>
void for_tasks_of_columns(std::int64_t n, std::int64_t n_rows, ThreadPool& pool, const CancelToken& cancel,
                          const Work& work, PhaseProgress* progress = nullptr) {
  const std::int64_t of_task = columns_of_task(n_rows);
  pool.parallel_for(
      checked::ceil_div(n, of_task), cancel,
      [&](std::int64_t task, int worker) { work(task * of_task, std::min(n, (task + 1) * of_task), worker); },
      progress);
}

/// How many of n columns threads sort one by one. The rest are too few to keep all threads busy: a crew sorts them.
inline std::int64_t columns_of_one_thread(std::int64_t n_columns, std::int64_t n_rows, int n_threads) {
  const std::int64_t left = n_columns % n_threads;
  return n_rows >= kCrewRows && 2 * left <= n_threads ? n_columns - left : n_columns;
}

/// The first row of part `part`, where n rows are divided into n_parts; part n_parts begins at n.
inline std::int64_t part_begin(std::int64_t n, int n_parts, int part) {
  return n / n_parts * part + n % n_parts * part / n_parts;
}

}  // namespace stope::discretize
