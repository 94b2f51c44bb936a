#include "knn/filter/moved_rows.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/near_order.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kRowsPerTask = std::int64_t{1} << 16;
// Parts of so many rows are split by one thread, and stay in its cache.
constexpr std::int64_t kRowsOfOne = std::int64_t{1} << 14;

/// Runs tasks 0 ... n_tasks - 1, on one thread or on many.
using RunTasks = std::function<void(std::int64_t n_tasks, const std::function<void(std::int64_t task)>&)>;

void run_alone(std::int64_t n_tasks, const std::function<void(std::int64_t)>& task) {
  for (std::int64_t i = 0; i < n_tasks; ++i) task(i);
}

/// Which rows of a part go to its first half (RowMove).
struct KeyCut {
  std::int32_t cut;
  std::int64_t n_equal;
};

// Finds the cut that leaves `m` of the keys in the first half, 0 <= m < n, by bisection. A vector compares many keys,
// so that few keys are counted again and again faster than they are sorted.
KeyCut bisect(const SplitKernels& kernels, const std::int32_t* keys, std::int64_t n, std::int64_t m) {
  const KeyRange range = kernels.range(keys, n);
  std::int64_t low = range.low, below_low = 0, high = std::int64_t{INT32_MAX} + 1;
  if (range.low > range.high) return {kMissingKey, m};
  if (range.high < INT32_MAX - 1) {  // missing keys lie behind the others
    const std::int64_t below = kernels.count_below(keys, n, range.high + 1);
    (below > m ? high : low) = std::int64_t{range.high} + 1;
    if (below <= m) below_low = below;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const std::int64_t below = kernels.count_below(keys, n, static_cast<std::int32_t>(middle));
    if (below == m) return {static_cast<std::int32_t>(middle), 0};
    (below < m ? low : high) = middle;
    if (below < m) below_low = below;
  }
  return {static_cast<std::int32_t>(low), m - below_low};
}

class Splitter {
 public:
  Splitter(std::int64_t stride, std::int64_t n_columns, std::int64_t leaf, const SplitKernels& kernels)
      : stride_(stride), n_columns_(n_columns), leaf_(leaf), kernels_(kernels) {}

  /// Moves a part of n > leaf rows from one buffer to another, its halves after each other. Returns the size of the
  /// first one.
  std::int64_t split(const std::int32_t* from, std::int32_t* to, std::int64_t n, const RunTasks& run_tasks) const {
    const std::int64_t half = first_half(n, leaf_), column = widest_column(from, n);
    const std::int32_t* const keys = from + column * stride_;
    const KeyCut cut = find_cut(keys, n, half, to, run_tasks);
    RowMove move{from, to, to + half, stride_, n_columns_ + 1, n, column, cut.cut, cut.n_equal};
    const std::int64_t n_tasks = checked::ceil_div(n, kRowsPerTask);
    if (n_tasks == 1) {
      kernels_.move(move);
      return half;
    }
    std::vector<RowMove> moves(static_cast<std::size_t>(n_tasks), move);
    run_tasks(n_tasks, [&](std::int64_t task) {
      RowMove& part = moves[static_cast<std::size_t>(task)];
      part.from += task * kRowsPerTask;
      part.n = std::min(kRowsPerTask, n - task * kRowsPerTask);
    });
    place(moves, keys, run_tasks);
    run_tasks(n_tasks, [&](std::int64_t task) { kernels_.move(moves[static_cast<std::size_t>(task)]); });
    return half;
  }

  /// Splits a part on this thread until only leaves are left, which end up in `to` if `to_other`, otherwise in `from`.
  void finish(std::int32_t* from, std::int32_t* to, std::int64_t n, bool to_other, const CancelToken& cancel) const {
    if (n <= leaf_) {
      if (to_other) copy(from, to, n);
      return;
    }
    if (n > kRowsOfOne) cancel.check();
    const std::int64_t half = split(from, to, n, run_alone);
    finish(to, from, half, !to_other, cancel);
    finish(to + half, from + half, n - half, !to_other, cancel);
  }

  void copy(const std::int32_t* from, std::int32_t* to, std::int64_t n) const {
    for (std::int64_t array = 0; array <= n_columns_; ++array) {
      std::copy_n(from + array * stride_, n, to + array * stride_);
    }
  }

 private:
  // A sample shows which column is wide; looking at every row would cost as much as the split itself.
  std::int64_t widest_column(const std::int32_t* rows, std::int64_t n) const {
    constexpr std::int64_t kSample = 128;
    const std::int64_t step = std::max<std::int64_t>(1, n / kSample);
    std::int32_t sample[2 * kSample];
    std::int64_t widest = 0;
    float most = -std::numeric_limits<float>::infinity();
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      const std::int32_t* keys = rows + c * stride_;
      std::int64_t size = n;
      if (step > 1) {
        size = 0;
        for (std::int64_t i = 0; i < n; i += step) sample[size++] = keys[i];
        keys = sample;
      }
      const KeyRange range = kernels_.range(keys, size);
      if (range.low > range.high) continue;
      const float width = value_of(range.high) - value_of(range.low);
      if (width > most) most = width, widest = c;
    }
    return widest;
  }

  // Many keys are searched only where a sample says the cut is. `spare` has room for n keys.
  KeyCut find_cut(const std::int32_t* keys, std::int64_t n, std::int64_t m, std::int32_t* spare,
                  const RunTasks& run_tasks) const {
    constexpr std::int64_t kMany = 4096, kSample = 256, kAround = 20;  // at least two standard deviations of a rank
    if (n <= kMany) return bisect(kernels_, keys, n, m);
    std::int32_t sample[kSample];
    for (std::int64_t i = 0; i < kSample; ++i) sample[i] = keys[i * (n / kSample)];
    std::sort(sample, sample + kSample);
    const std::int64_t rank = m * kSample / n;
    const std::int32_t low = rank >= kAround ? sample[rank - kAround] : INT32_MIN;
    const std::int32_t high =
        rank + kAround < kSample && sample[rank + kAround] < INT32_MAX ? sample[rank + kAround] + 1 : INT32_MAX;
    const FenceCounts counts = copy_inside(keys, n, low, high, spare, run_tasks);
    const std::int64_t number = m - counts.below;
    if (number < 0 || number >= counts.inside) return bisect(kernels_, keys, n, m);  // the sample says too little
    return bisect(kernels_, spare, counts.inside, number);
  }

  // Copies the keys of a fence in tasks, and puts the copies of all together.
  FenceCounts copy_inside(const std::int32_t* keys, std::int64_t n, std::int32_t low, std::int32_t high,
                          std::int32_t* inside, const RunTasks& run_tasks) const {
    if (n <= kRowsPerTask) return kernels_.copy_inside(keys, n, low, high, inside);
    std::vector<FenceCounts> of_task(static_cast<std::size_t>(checked::ceil_div(n, kRowsPerTask)));
    run_tasks(std::ssize(of_task), [&](std::int64_t task) {
      const std::int64_t begin = task * kRowsPerTask;
      of_task[static_cast<std::size_t>(task)] =
          kernels_.copy_inside(keys + begin, std::min(kRowsPerTask, n - begin), low, high, inside + begin);
    });
    FenceCounts counts{0, 0};
    for (std::size_t task = 0; task < of_task.size(); ++task) {
      std::copy_n(inside + static_cast<std::int64_t>(task) * kRowsPerTask, of_task[task].inside,
                  inside + counts.inside);
      counts.below += of_task[task].below;
      counts.inside += of_task[task].inside;
    }
    return counts;
  }

  // Says where the rows of each move begin in the halves, and how many rows whose keys equal the cut go to the first.
  void place(std::vector<RowMove>& moves, const std::int32_t* keys, const RunTasks& run_tasks) const {
    std::vector<std::int64_t> below(moves.size()), equal(moves.size(), 0);
    run_tasks(std::ssize(moves), [&](std::int64_t task) {
      const auto at = static_cast<std::size_t>(task);
      const RowMove& move = moves[at];
      const std::int32_t* const own = keys + task * kRowsPerTask;
      below[at] = kernels_.count_below(own, move.n, move.cut);
      if (move.n_equal == 0) return;
      const std::int64_t up_to = move.cut == INT32_MAX ? move.n : kernels_.count_below(own, move.n, move.cut + 1);
      equal[at] = up_to - below[at];
    });
    std::int64_t first = 0, second = 0, left = moves.front().n_equal;
    for (std::size_t task = 0; task < moves.size(); ++task) {
      RowMove& move = moves[task];
      move.first += first;
      move.second += second;
      move.n_equal = std::min(left, equal[task]);
      left -= move.n_equal;
      first += below[task] + move.n_equal;
      second += move.n - below[task] - move.n_equal;
    }
  }

  const std::int64_t stride_, n_columns_, leaf_;
  const SplitKernels& kernels_;
};

struct Part {
  std::int64_t begin, size;
};

}  // namespace

// Between the arrays lie a few lines of the cache, so that the same rows of all arrays do not compete for the same
// ones.
MovedRows::MovedRows(std::int64_t n, std::int64_t n_columns)
    : n_(n), n_columns_(n_columns), stride_(checked::ceil_div(n, std::int64_t{16}) * 16 + 80) {
  for (Buffer<std::int32_t>* const buffer : {&numbers_, &spare_}) {
    *buffer = Buffer<std::int32_t>(checked::mul(n_columns + 1, stride_));
    prefer_huge_pages(buffer->data(), static_cast<std::size_t>(buffer->size()) * sizeof(std::int32_t));
  }
}

// Splits parts level by level while there are few of them: all threads split one, or each its own. All parts of a level
// lie in the same buffer.
void MovedRows::order(std::int64_t leaf, const SplitKernels& kernels, ThreadPool& pool, const CancelToken& cancel) {
  const Splitter splitter(stride_, n_columns_, leaf, kernels);
  const RunTasks together = [&](std::int64_t n_tasks, const std::function<void(std::int64_t)>& task) {
    pool.parallel_for(n_tasks, cancel, [&](std::int64_t i, int) { task(i); });
  };
  std::vector<Part> parts;
  for (std::int64_t begin = 0; begin < n_; begin += kMostRowsOrdered) {
    parts.push_back({begin, std::min(kMostRowsOrdered, n_ - begin)});
  }
  std::int32_t *from = numbers_.data(), *to = spare_.data();
  const auto threads = static_cast<std::size_t>(pool.size());
  while (threads > 1 && parts.size() < 8 * threads && parts.front().size > kRowsOfOne) {
    std::vector<std::int64_t> halves(parts.size());
    const auto split = [&](std::size_t i, const RunTasks& run_tasks) {
      const auto [first, size] = parts[i];
      halves[i] = size;
      if (size > leaf) {
        halves[i] = splitter.split(from + first, to + first, size, run_tasks);
      } else {
        splitter.copy(from + first, to + first, size);
      }
    };
    if (parts.size() < threads) {
      for (std::size_t i = 0; i < parts.size(); ++i) split(i, together);
    } else {
      pool.parallel_for(std::ssize(parts), cancel,
                        [&](std::int64_t i, int) { split(static_cast<std::size_t>(i), run_alone); });
    }
    std::vector<Part> next;
    next.reserve(2 * parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto [first, size] = parts[i];
      next.push_back({first, halves[i]});
      if (halves[i] < size) next.push_back({first + halves[i], size - halves[i]});
    }
    parts = std::move(next);
    std::swap(from, to);
  }
  const bool to_other = from != numbers_.data();
  pool.parallel_for(std::ssize(parts), cancel, [&](std::int64_t i, int) {
    const auto [first, size] = parts[static_cast<std::size_t>(i)];
    splitter.finish(from + first, to + first, size, to_other, cancel);
  });
}

}  // namespace stope::knn
