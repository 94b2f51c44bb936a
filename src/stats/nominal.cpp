#include "stats/nominal.hpp"

#include <algorithm>
#include <mutex>

namespace stope::stats {
namespace {

constexpr std::int64_t kTaskRows = std::int64_t{1} << 20;

struct Task {
  std::size_t column;
  std::int64_t begin, end;
};

void count(const CodeSource& source, std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& counts) {
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int32_t code = source.codes[source.rows != nullptr ? source.rows[i] : i];
    if (code >= 0) ++counts[static_cast<std::size_t>(code)];
  }
}

}  // namespace

void count_values(const std::vector<CodeSource>& sources, const CancelToken& cancel, ThreadPool& pool,
                  std::vector<ColumnStatistics*>& columns) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    columns[i]->counts.assign(static_cast<std::size_t>(sources[i].n_values), 0);
    columns[i]->rows = sources[i].n;
    // A task counts into an array of its own first. That pays where the task has more rows than there are values.
    const std::int64_t step = std::max(kTaskRows, 4 * sources[i].n_values);
    for (std::int64_t row = 0; row < sources[i].n; row += step) {
      tasks.push_back({i, row, std::min(sources[i].n, row + step)});
    }
  }
  std::mutex mutex;
  pool.parallel_for(static_cast<std::int64_t>(tasks.size()), cancel, [&](std::int64_t t, int) {
    const Task& task = tasks[static_cast<std::size_t>(t)];
    const CodeSource& source = sources[task.column];
    std::vector<std::int64_t>& total = columns[task.column]->counts;
    if (task.end - task.begin == source.n) {
      count(source, task.begin, task.end, total);
      return;
    }
    std::vector<std::int64_t> own(total.size());
    count(source, task.begin, task.end, own);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < own.size(); ++i) total[i] += own[i];
  });
  for (ColumnStatistics* column : columns) {
    column->count = 0;
    std::int64_t distinct = 0;
    for (const std::int64_t n : column->counts) {
      column->count += n;
      distinct += n > 0 ? 1 : 0;
    }
    column->missing = column->rows - column->count;
    column->distinct = distinct;
    column->sum = ColumnStatistics::kNone;
  }
}

}  // namespace stope::stats
