#include "gram/column_summaries.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>
#include <variant>

#include "base/checked.hpp"
#include "base/row_sums.hpp"
#include "gram/column_kernels.hpp"
#include "gram/shape.hpp"

namespace stope::gram {
namespace {

static_assert(kSumGroupRows <= kLeavesAtOnce * kSumLeafRows);
constexpr std::int64_t kGroupsPerTask = 64;  // 2 MB of doubles

}  // namespace

DeviationScale::DeviationScale(double deviation) {
  std::frexp(deviation, &exponent);
  half = std::ldexp(1.0, -exponent / 2);
  rest = std::ldexp(1.0, -exponent - -exponent / 2);
}

void set_mean(ColumnSummary& summary, double* sums, std::int64_t n_groups, double total) {
  if (summary.n_present == 0) return;
  // No arithmetic for a constant column: the computed mean of n equal numbers need not be that number.
  if (summary.low == summary.high) {
    summary.mean = summary.low + 0.0;  // +0.0 for zeros of either sign
    return;
  }
  summary.mean = tree_sum(sums, n_groups) / total;
  summary.deviation = std::max(summary.high - summary.mean, summary.mean - summary.low);
}

void set_length(ColumnSummary& summary, double* squares, std::int64_t n_groups) {
  if (!(summary.low < summary.high)) return;  // constant, or nothing is present
  summary.length = std::ldexp(std::sqrt(tree_sum(squares, n_groups)), DeviationScale(summary.deviation).exponent);
}

// Groups of rows of one column, or all rows of several columns of one type that are no longer than a group. So there
// are enough leaves to sum up side by side.
struct ColumnSummaries::Task {
  std::int64_t column, n_columns, first_group, end_group;

  // Calls use(leaves, group) for all leaves of the task, those of a column in row order. Leaf i belongs to
  // column_of(i).
  template <class T, class Use>
  void for_each_batch(const std::vector<const Column*>& columns, std::int64_t n_rows, const double* weights,
                      const Use& use) const {
    const auto values = [&](std::int64_t i) {
      return std::get<Buffer<T>>(columns[static_cast<std::size_t>(column + i)]->data).data();
    };
    Leaves<T> leaves = {};
    leaves.ahead = kSumGroupRows;
    const auto add = [&](const T* from, std::int64_t row) {
      leaves.values[leaves.n_leaves] = from + row;
      leaves.weights[leaves.n_leaves++] = weights == nullptr ? nullptr : weights + row;
    };
    const auto hand = [&](std::int64_t n_here, std::int64_t group) {
      leaves.n_rows = n_here;
      if (leaves.n_leaves > 0) use(leaves, group);
      leaves.n_leaves = 0;
    };
    for (std::int64_t group = first_group; group < end_group; ++group) {
      const std::int64_t end = std::min((group + 1) * kSumGroupRows, n_rows);
      std::int64_t row = group * kSumGroupRows;
      for (; row + kSumLeafRows <= end; row += kSumLeafRows) {
        for (std::int64_t i = 0; i < n_columns; ++i) add(values(i), row);
        if (n_columns > 1) hand(kSumLeafRows, group);
      }
      hand(kSumLeafRows, group);
      for (std::int64_t i = 0; i < n_columns && row < end; ++i) add(values(i), row);
      hand(end - row, group);
    }
  }
  std::int64_t column_of(int leaf) const { return n_columns > 1 ? column + leaf : column; }
};

std::vector<ColumnSummaries::Task> ColumnSummaries::tasks() const {
  const auto n = std::ssize(columns_);
  const auto type = [&](std::int64_t j) { return columns_[static_cast<std::size_t>(j)]->data.index(); };
  std::vector<Task> tasks;
  tasks.reserve(columns_.size());
  for (std::int64_t j = 0; j < n;) {
    std::int64_t end = j + 1;
    while (n_groups_ == 1 && end < n && end - j < kLeavesAtOnce && type(end) == type(j)) ++end;
    for (std::int64_t group = 0; group < n_groups_; group += kGroupsPerTask) {
      tasks.push_back({j, end - j, group, std::min(group + kGroupsPerTask, n_groups_)});
    }
    j = end;
  }
  return tasks;
}

// Calls work(task, kernels, each) on the pool, where each(use) hands over the leaves of the task.
template <class Work>
void ColumnSummaries::for_each_task(const Work& work) {
  const std::vector<Task> tasks = this->tasks();
  pool_.parallel_for(std::ssize(tasks), cancel_, [&](std::int64_t i, int) {
    const Task& task = tasks[static_cast<std::size_t>(i)];
    const auto run = [&](auto type) {
      using T = decltype(type);
      work(task, column_kernels().of<T>(),
           [&](const auto& use) { task.for_each_batch<T>(columns_, n_rows_, weights_, use); });
    };
    if (std::holds_alternative<Buffer<float>>(columns_[static_cast<std::size_t>(task.column)]->data)) {
      run(float{});
    } else {
      run(double{});
    }
  });
}

ColumnSummaries::ColumnSummaries(const std::vector<const Column*>& columns, std::int64_t n_rows,
                                 const std::vector<double>& row_weights, ThreadPool& pool, const CancelToken& cancel)
    : columns_(columns),
      n_rows_(n_rows),
      n_groups_(checked::ceil_div(n_rows, kSumGroupRows)),
      weights_(row_weights.empty() ? nullptr : row_weights.data()),
      pool_(pool),
      cancel_(cancel),
      summaries_(columns.size()),
      sums_(static_cast<std::size_t>(checked::mul(std::ssize(columns), n_groups_)), 0.0) {
  if (weights_ != nullptr) totals_.assign(sums_.size(), 0.0);
  std::mutex mutex;  // tasks of one column take turns
  for_each_task([&](const Task& task, const auto& kernels, const auto& each) {
    ColumnSummary found[kLeavesAtOnce];
    each([&](const auto& leaves, std::int64_t group) {
      LeafSums sums;
      kernels.sums(leaves, sums);
      for (int i = 0; i < leaves.n_leaves; ++i) {
        const auto at = static_cast<std::size_t>(task.column_of(i) * n_groups_ + group);
        sums_[at] += sums.sum[i];
        if (weights_ != nullptr) totals_[at] += sums.weight[i];
        ColumnSummary& to = found[task.column_of(i) - task.column];
        to.n_present += static_cast<std::int64_t>(sums.n_present[i]);
        to.low = std::min(to.low, sums.low[i]);
        to.high = std::max(to.high, sums.high[i]);
      }
    });
    const std::lock_guard lock(mutex);
    for (std::int64_t i = 0; i < task.n_columns; ++i) {
      ColumnSummary& to = summaries_[static_cast<std::size_t>(task.column + i)];
      to.n_present += found[i].n_present;
      to.low = std::min(to.low, found[i].low);
      to.high = std::max(to.high, found[i].high);
    }
  });
}

void ColumnSummaries::measure() {
  for (std::int64_t j = 0; j < std::ssize(columns_); ++j) {
    ColumnSummary& summary = summaries_[static_cast<std::size_t>(j)];
    const std::int64_t at = j * n_groups_;
    const bool weighted = weights_ != nullptr && summary.low < summary.high;
    const double total = weighted ? tree_sum(totals_.data() + at, n_groups_) : static_cast<double>(summary.n_present);
    set_mean(summary, sums_.data() + at, n_groups_, total);
  }
  std::fill(sums_.begin(), sums_.end(), 0.0);
  for_each_task([&](const Task& task, const auto& kernels, const auto& each) {
    Deviations deviations;
    for (int i = 0; i < kLeavesAtOnce; ++i) {
      const std::int64_t column = task.column_of(static_cast<int>(std::min<std::int64_t>(i, task.n_columns - 1)));
      const ColumnSummary& summary = summaries_[static_cast<std::size_t>(column)];
      const DeviationScale scale(summary.deviation);
      deviations.mean[i] = summary.mean;
      deviations.half[i] = scale.half;
      deviations.rest[i] = scale.rest;
    }
    each([&](const auto& leaves, std::int64_t group) {
      double squares[kLeavesAtOnce];
      kernels.squares(leaves, deviations, squares);
      for (int i = 0; i < leaves.n_leaves; ++i) {
        sums_[static_cast<std::size_t>(task.column_of(i) * n_groups_ + group)] += squares[i];
      }
    });
  });
  for (std::int64_t j = 0; j < std::ssize(columns_); ++j) {
    set_length(summaries_[static_cast<std::size_t>(j)], sums_.data() + j * n_groups_, n_groups_);
  }
}

}  // namespace stope::gram
