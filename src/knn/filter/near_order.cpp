#include "knn/filter/near_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/moved_rows.hpp"
#include "knn/filter/scan/scan.hpp"
#include "knn/filter/split_keys.hpp"
#include "stope/buffer.hpp"

namespace stope::knn {
namespace {

// Rows of a part are numbered in 32 bits, from its first one on.
using Row = std::uint32_t;
// Parts whose images are copied, so that those of few columns stay in the second cache, and at last in the first.
constexpr std::int64_t kCopiedRows[] = {std::int64_t{1} << 17, std::int64_t{1} << 14};
constexpr int kCopies = 2;

void run_alone(std::int64_t n_tasks, const std::function<void(std::int64_t)>& task) {
  for (std::int64_t i = 0; i < n_tasks; ++i) task(i);
}

// Splits parts of a table. The rows of every part stay in ascending order: so images are read from front to back, and
// the result does not depend on how a split was computed.
class Splitter {
 public:
  Splitter(std::int64_t n_columns, std::int64_t leaf)
      : n_columns_(n_columns),
        leaf_(leaf),
        low_(static_cast<std::size_t>(n_columns)),
        high_(static_cast<std::size_t>(n_columns)) {}

  /// Splits a part into halves, and returns the size of the first one. images + row * n_columns is a row's image.
  std::int64_t split(const float* images, Row* rows, std::int64_t n, const RunTasks& run_tasks) {
    const std::int64_t half = first_half(n, leaf_);
    const float* const column = images + widest_column(images, rows, n);
    SplitKey* const keys = room_for(n);
    const auto for_each_task = [&](const auto& work) {
      run_tasks(checked::ceil_div(n, kKeysPerTask),
                [&](std::int64_t task) { work(task, task * kKeysPerTask, std::min((task + 1) * kKeysPerTask, n)); });
    };
    for_each_task([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        keys[i] = split_key(column[static_cast<std::int64_t>(rows[i]) * n_columns_], rows[i]);
      }
    });
    const SplitKey cut = key_number(keys, n, half, keys + n, run_tasks);
    // Every row is written to both sides, of which one grows: there is no branch to mispredict.
    Row* const first = reinterpret_cast<Row*>(keys + n);
    Row* const second = first + n;
    std::vector<std::int64_t> n_first(static_cast<std::size_t>(checked::ceil_div(n, kKeysPerTask)) + 1, 0);
    for_each_task([&](std::int64_t task, std::int64_t begin, std::int64_t end) {
      std::int64_t at_first = begin, at_second = begin;
      for (std::int64_t i = begin; i < end; ++i) {
        first[at_first] = second[at_second] = rows[i];
        at_first += keys[i] < cut ? 1 : 0;
        at_second += keys[i] < cut ? 0 : 1;
      }
      n_first[static_cast<std::size_t>(task) + 1] = at_first - begin;
    });
    std::partial_sum(n_first.begin(), n_first.end(), n_first.begin());
    for_each_task([&](std::int64_t task, std::int64_t begin, std::int64_t end) {
      const std::int64_t at = n_first[static_cast<std::size_t>(task)];
      const std::int64_t count = n_first[static_cast<std::size_t>(task) + 1] - at;
      std::copy_n(first + begin, count, rows + at);
      std::copy_n(second + begin, end - begin - count, rows + half + begin - at);
    });
    return half;
  }

  /// Splits a part on this thread until only leaves are left. `copies`: how often its images have been copied.
  void finish(const float* images, Row* rows, std::int64_t n, int copies, const CancelToken& cancel) {
    if (n <= leaf_) return;
    if (copies < kCopies && n <= kCopiedRows[copies]) return finish_copied(images, rows, n, copies, cancel);
    if (copies == 0) cancel.check();
    const std::int64_t half = split(images, rows, n, run_alone);
    finish(images, rows, half, copies, cancel);
    finish(images, rows + half, n - half, copies, cancel);
  }

 private:
  // The images lie anywhere in memory. They are copied together before they are read level after level.
  void finish_copied(const float* images, Row* rows, std::int64_t n, int copies, const CancelToken& cancel) {
    while (copies + 1 < kCopies && n <= kCopiedRows[copies + 1]) ++copies;
    std::vector<float>& copied = copied_images_[copies];
    std::vector<Row>& order = copied_rows_[copies];
    copied.resize(static_cast<std::size_t>(n * n_columns_));
    order.resize(static_cast<std::size_t>(n));
    float* to = copied.data();
    for (std::int64_t i = 0; i < n; ++i) {
      const float* const image = images + static_cast<std::int64_t>(rows[i]) * n_columns_;
      for (std::int64_t c = 0; c < n_columns_; ++c) *to++ = image[c];
    }
    std::iota(order.begin(), order.end(), Row{0});
    finish(copied.data(), order.data(), n, copies + 1, cancel);
    for (Row& row : order) row = rows[row];
    std::copy(order.begin(), order.end(), rows);
  }

  // Returns room for n keys and as many spare ones, in which the rows of both sides have room afterwards.
  SplitKey* room_for(std::int64_t n) {
    if (keys_.size() < 2 * n) {
      keys_ = Buffer<SplitKey>(2 * n);
      prefer_huge_pages(keys_.data(), static_cast<std::size_t>(keys_.size()) * sizeof(SplitKey));
    }
    return keys_.data();
  }

  // A sample shows which column is wide; looking at every row would cost as much as the split itself.
  std::int64_t widest_column(const float* images, const Row* rows, std::int64_t n) {
    constexpr std::int64_t kSample = 128;
    std::fill(low_.begin(), low_.end(), 3e38F);
    std::fill(high_.begin(), high_.end(), -3e38F);
    const std::int64_t step = std::max<std::int64_t>(1, n / kSample);
    for (std::int64_t i = 0; i < n; i += step) {
      const float* image = images + static_cast<std::int64_t>(rows[i]) * n_columns_;
      for (std::size_t c = 0; c < low_.size(); ++c) {
        low_[c] = image[c] < low_[c] ? image[c] : low_[c];
        high_[c] = image[c] > high_[c] ? image[c] : high_[c];
      }
    }
    std::size_t widest = 0;
    for (std::size_t c = 1; c < low_.size(); ++c) {
      if (high_[c] - low_[c] > high_[widest] - low_[widest]) widest = c;
    }
    return static_cast<std::int64_t>(widest);
  }

  const std::int64_t n_columns_, leaf_;
  std::vector<float> low_, high_;
  Buffer<SplitKey> keys_;
  std::vector<float> copied_images_[kCopies];
  std::vector<Row> copied_rows_[kCopies];
};

struct Part {
  std::int64_t begin, end;
  const float* images;  // of the row that is its first number
  std::int64_t size() const { return end - begin; }
};

// Splits parts level by level while there are few of them: all threads split one, or each its own.
std::vector<Part> few_parts(std::vector<Part> parts, std::int64_t leaf, Row* rows, std::vector<Splitter>& splitters,
                            ThreadPool& pool, const CancelToken& cancel) {
  const RunTasks together = [&](std::int64_t n_tasks, const std::function<void(std::int64_t)>& task) {
    pool.parallel_for(n_tasks, cancel, [&](std::int64_t i, int) { task(i); });
  };
  const std::size_t enough = 8 * static_cast<std::size_t>(pool.size());
  while (parts.size() < enough && parts.front().size() > kCopiedRows[kCopies - 1]) {
    std::vector<std::int64_t> halves(parts.size());
    const auto split = [&](std::size_t i, Splitter& splitter, const RunTasks& run_tasks) {
      const auto& [begin, end, images] = parts[i];
      halves[i] = end - begin;
      if (halves[i] > leaf) halves[i] = splitter.split(images, rows + begin, end - begin, run_tasks);
    };
    if (parts.size() < static_cast<std::size_t>(pool.size())) {
      for (std::size_t i = 0; i < parts.size(); ++i) split(i, splitters.front(), together);
    } else {
      pool.parallel_for(std::ssize(parts), cancel, [&](std::int64_t i, int worker) {
        split(static_cast<std::size_t>(i), splitters[static_cast<std::size_t>(worker)], run_alone);
      });
    }
    std::vector<Part> next;
    next.reserve(2 * parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [begin, end, images] = parts[i];
      next.push_back({begin, begin + halves[i], images});
      if (begin + halves[i] < end) next.push_back({begin + halves[i], end, images});
    }
    parts = std::move(next);
  }
  return parts;
}

}  // namespace

std::int64_t first_half(std::int64_t n, std::int64_t leaf) {
  const std::int64_t leaves = checked::ceil_div(n, leaf);
  std::int64_t unit = 1;
  while (unit * kBoxFan < leaves) unit *= kBoxFan;
  const std::int64_t units = std::max<std::int64_t>(1, (leaves + unit) / (2 * unit));
  return units * unit * leaf;
}

std::vector<std::int64_t> near_order(const float* images, std::int64_t n, std::int64_t n_columns, std::int64_t leaf,
                                     const SplitKernels& kernels, ThreadPool& pool, const CancelToken& cancel) {
  if (n_columns == 0 || n_columns > MovedRows::kMostColumns || n <= leaf) {
    return near_order_by_number(images, n, n_columns, leaf, pool, cancel);
  }
  constexpr std::int64_t kRowsPerTask = 4096;
  MovedRows rows(n, n_columns);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  const auto for_all_rows = [&](const auto& work) {
    pool.parallel_for(checked::ceil_div(n, kRowsPerTask), cancel, [&](std::int64_t task, int) {
      for (std::int64_t i = task * kRowsPerTask; i < std::min((task + 1) * kRowsPerTask, n); ++i) work(i);
    });
  };
  for_all_rows([&](std::int64_t i) {
    for (std::int64_t c = 0; c < n_columns; ++c) rows.keys(c)[i] = key_of(images[i * n_columns + c]);
    rows.tags()[i] = static_cast<std::int32_t>(i % kMostRowsOrdered);
  });
  rows.order(leaf, kernels, pool, cancel);
  for_all_rows([&](std::int64_t i) {
    order[static_cast<std::size_t>(i)] = i / kMostRowsOrdered * kMostRowsOrdered + rows.tags()[i];
  });
  return order;
}

std::vector<std::int64_t> near_order_by_number(const float* images, std::int64_t n, std::int64_t n_columns,
                                               std::int64_t leaf, ThreadPool& pool, const CancelToken& cancel) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (n_columns == 0 || n <= leaf) return order;
  Buffer<Row> rows(n);
  std::vector<Part> parts;
  parts.reserve(static_cast<std::size_t>(checked::ceil_div(n, kMostRowsOrdered)));
  for (std::int64_t begin = 0; begin < n; begin += kMostRowsOrdered) {
    const std::int64_t end = std::min(begin + kMostRowsOrdered, n);
    std::iota(rows.begin() + begin, rows.begin() + end, Row{0});
    parts.push_back({begin, end, images + begin * n_columns});
  }
  std::vector<Splitter> splitters(static_cast<std::size_t>(pool.size()), Splitter(n_columns, leaf));
  parts = few_parts(std::move(parts), leaf, rows.data(), splitters, pool, cancel);
  pool.parallel_for(std::ssize(parts), cancel, [&](std::int64_t i, int worker) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    splitters[static_cast<std::size_t>(worker)].finish(part.images, rows.data() + part.begin, part.size(), 0, cancel);
    const std::int64_t origin = (part.images - images) / n_columns;
    for (std::int64_t at = part.begin; at < part.end; ++at) order[static_cast<std::size_t>(at)] = origin + rows[at];
  });
  return order;
}

}  // namespace stope::knn
