#include "stats/nominal.hpp"
#include "base/progress.hpp"

#include <algorithm>
#include <mutex>

#include "table/check_table.hpp"

namespace stope::stats {
namespace {

constexpr std::int64_t kTaskRows = std::int64_t{1} << 20;

struct Task {
  std::size_t column;
  std::int64_t begin, end;
};

void count(const CodeSource& source, std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& counts) {
  // Rows at once: few enough to lie in the cache between the check and the count.
  constexpr std::int64_t kChecked = 4096;
  const std::int32_t* const codes = source.column->codes().data();
  const auto add = [&](std::int32_t code) {
    if (code >= 0) ++counts[static_cast<std::size_t>(code)];
  };
  if (source.rows != nullptr) {
    for (std::int64_t i = begin; i < end; ++i) add(codes[source.rows[i]]);
    return;
  }
  for (std::int64_t first = begin; first < end; first += kChecked) {
    const std::int64_t last = std::min(first + kChecked, end);
    check_codes(*source.column, first, last);
    for (std::int64_t i = first; i < last; ++i) add(codes[i]);
  }
}

// Counts the values that occur, in memory and time that grow with the rows and not with the values.
void count_sparsely(const CodeSource& source, ColumnStatistics& column) {
  const std::int32_t* const codes = source.column->codes().data();
  std::vector<std::int32_t>& occurring = column.codes.emplace();
  if (source.n >= source.n_values()) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(source.n_values()));
    count(source, 0, source.n, all);
    for (std::size_t code = 0; code < all.size(); ++code) {
      if (all[code] == 0) continue;
      occurring.push_back(static_cast<std::int32_t>(code));
      column.counts.push_back(all[code]);
    }
  } else {
    std::vector<std::int32_t> sorted;
    sorted.reserve(static_cast<std::size_t>(source.n));
    for (std::int64_t i = 0; i < source.n; ++i) {
      if (codes[source.rows[i]] >= 0) sorted.push_back(codes[source.rows[i]]);
    }
    std::sort(sorted.begin(), sorted.end());
    for (const std::int32_t code : sorted) {
      if (occurring.empty() || occurring.back() != code) {
        occurring.push_back(code);
        column.counts.push_back(0);
      }
      ++column.counts.back();
    }
  }
  occurring.shrink_to_fit();
  column.counts.shrink_to_fit();
}

// Counts rows that all have one value.
void count_only(const CodeSource& source, ColumnStatistics& column) {
  if (!source.sparse) {
    column.counts.assign(static_cast<std::size_t>(source.n_values()), 0);
    column.counts[static_cast<std::size_t>(source.only)] = source.n;
    return;
  }
  column.codes.emplace();
  if (source.n == 0) return;
  column.codes->push_back(source.only);
  column.counts.push_back(source.n);
}

}  // namespace

void count_values(const std::vector<CodeSource>& sources, const RunOptions& run, ThreadPool& pool,
                  std::vector<ColumnStatistics*>& columns) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    columns[i]->rows = sources[i].n;
    if (sources[i].only >= 0) {
      count_only(sources[i], *columns[i]);
      continue;
    }
    if (sources[i].sparse) {
      tasks.push_back({i, 0, sources[i].n});
      continue;
    }
    columns[i]->counts.assign(static_cast<std::size_t>(sources[i].n_values()), 0);
    // A task counts into an array of its own first. That pays where the task has more rows than there are values.
    const std::int64_t step = std::max(kTaskRows, 4 * sources[i].n_values());
    for (std::int64_t row = 0; row < sources[i].n; row += step) {
      tasks.push_back({i, row, std::min(sources[i].n, row + step)});
    }
  }
  std::mutex mutex;
  PhaseProgress progress(run, "values", static_cast<std::int64_t>(tasks.size()));
  pool.parallel_for(
      static_cast<std::int64_t>(tasks.size()), run.cancel,
      [&](std::int64_t t, int) {
        const Task& task = tasks[static_cast<std::size_t>(t)];
        progress.add(1);  // tasks are short
        const CodeSource& source = sources[task.column];
        if (source.sparse) {
          count_sparsely(source, *columns[task.column]);
          return;
        }
        std::vector<std::int64_t>& total = columns[task.column]->counts;
        if (task.end - task.begin == source.n) {
          count(source, task.begin, task.end, total);
          return;
        }
        std::vector<std::int64_t> own(total.size());
        count(source, task.begin, task.end, own);
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < own.size(); ++i) total[i] += own[i];
      },
      &progress);
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
