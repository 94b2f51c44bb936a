#include "gram/row_summaries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/checked.hpp"
#include "base/row_sums.hpp"
#include "gram/row_kernels.hpp"

namespace stope::gram {
namespace {

constexpr std::int64_t kColumns = 1024;  // of a task: their sums fill half of a first-level cache

template <class T>
class Passes {
 public:
  Passes(const ArrayView& rows, ThreadPool& pool, const CancelToken& cancel)
      : rows_(rows),
        pool_(pool),
        cancel_(cancel),
        n_groups_(checked::ceil_div(rows.n_rows, kSumGroupRows)),
        n_parts_(checked::ceil_div(rows.n_columns, kColumns)),
        summaries_(static_cast<std::size_t>(rows.n_columns)),
        sums_(static_cast<std::size_t>(checked::mul(rows.n_columns, n_groups_)), 0.0) {}

  std::optional<std::vector<ColumnSummary>> run() {
    add_values();
    for (std::int64_t j = 0; j < rows_.n_columns; ++j) {
      ColumnSummary& summary = summaries_[static_cast<std::size_t>(j)];
      summary.n_present = rows_.n_rows;
      // A sum is finite only if all values are.
      double* const sums = sums_.data() + j * n_groups_;
      for (std::int64_t g = 0; g < n_groups_; ++g) {
        if (!std::isfinite(sums[g])) return std::nullopt;
      }
      set_mean(summary, sums, n_groups_, static_cast<double>(rows_.n_rows));
      if (!std::isfinite(summary.mean) || !std::isfinite(summary.deviation)) return std::nullopt;
    }
    add_squares();
    for (std::int64_t j = 0; j < rows_.n_columns; ++j) {
      set_length(summaries_[static_cast<std::size_t>(j)], sums_.data() + j * n_groups_, n_groups_);
    }
    return std::move(summaries_);
  }

 private:
  // Some columns of a group of rows, leaf by leaf.
  struct Task {
    std::int64_t column, n_columns, group;
  };
  template <class Work>
  void for_each_task(const Work& work) {
    pool_.parallel_for(n_groups_ * n_parts_, cancel_, [&](std::int64_t i, int) {
      const std::int64_t column = i % n_parts_ * kColumns;
      work(Task{column, std::min(kColumns, rows_.n_columns - column), i / n_parts_});
    });
  }
  // Calls use(leaf) for the leaves of a task, and adds what it leaves in `sums` to the group's.
  template <class Use>
  void for_each_leaf(const Task& task, double* sums, const Use& use) {
    const std::int64_t end = std::min((task.group + 1) * kSumGroupRows, rows_.n_rows);
    for (std::int64_t row = task.group * kSumGroupRows; row < end; row += kSumLeafRows) {
      std::fill_n(sums, task.n_columns, 0.0);
      const T* const first = static_cast<const T*>(rows_.data) + row * rows_.row_stride + task.column;
      use(RowBlock<T>{first, rows_.row_stride, std::min(kSumLeafRows, end - row), task.n_columns});
      for (std::int64_t c = 0; c < task.n_columns; ++c) {
        sums_[static_cast<std::size_t>((task.column + c) * n_groups_ + task.group)] += sums[c];
      }
    }
  }

  void add_values() {
    std::mutex mutex;  // tasks of one column take turns
    for_each_task([&](const Task& task) {
      double sums[kColumns], low[kColumns], high[kColumns];
      std::fill_n(low, task.n_columns, std::numeric_limits<double>::infinity());
      std::fill_n(high, task.n_columns, -std::numeric_limits<double>::infinity());
      for_each_leaf(task, sums, [&](const RowBlock<T>& leaf) { row_kernels().of<T>().sums(leaf, {sums, low, high}); });
      const std::lock_guard lock(mutex);
      for (std::int64_t c = 0; c < task.n_columns; ++c) {
        ColumnSummary& to = summaries_[static_cast<std::size_t>(task.column + c)];
        to.low = std::min(to.low, low[c]);
        to.high = std::max(to.high, high[c]);
      }
    });
  }

  void add_squares() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for_each_task([&](const Task& task) {
      double sums[kColumns], mean[kColumns], half[kColumns], rest[kColumns];
      for (std::int64_t c = 0; c < task.n_columns; ++c) {
        const ColumnSummary& summary = summaries_[static_cast<std::size_t>(task.column + c)];
        const DeviationScale scale(summary.deviation);
        mean[c] = summary.mean;
        half[c] = scale.half;
        rest[c] = scale.rest;
      }
      for_each_leaf(task, sums,
                    [&](const RowBlock<T>& leaf) { row_kernels().of<T>().squares(leaf, {mean, half, rest}, sums); });
    });
  }

  const ArrayView& rows_;
  ThreadPool& pool_;
  const CancelToken cancel_;
  const std::int64_t n_groups_, n_parts_;
  std::vector<ColumnSummary> summaries_;
  std::vector<double> sums_;  // [column][group of rows]
};

}  // namespace

std::optional<std::vector<ColumnSummary>> summaries_of_rows(const ArrayView& rows, ThreadPool& pool,
                                                            const CancelToken& cancel) {
  if (rows.type == ElementType::float32) return Passes<float>(rows, pool, cancel).run();
  return Passes<double>(rows, pool, cancel).run();
}

}  // namespace stope::gram
