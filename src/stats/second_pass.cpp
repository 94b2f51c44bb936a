#include "stats/second_pass.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>

#include "base/checked.hpp"
#include "stats/gather.hpp"

namespace stope::stats {
namespace {

constexpr std::int64_t kTaskRows = std::int64_t{1} << 18;
constexpr std::int64_t kBlockRows = 4096;

// Calls work(values, n) for blocks of the rows [begin, end) of a source, converted to T.
template <class T, class Work>
void for_blocks(const Source& source, std::int64_t begin, std::int64_t end, const CancelToken& cancel,
                const Work& work) {
  T block[kBlockRows];
  for (std::int64_t row = begin; row < end; row += kBlockRows) {
    cancel.check();
    const std::int64_t n = std::min(kBlockRows, end - row);
    gather(source, row, n, 1.0, block);
    work(block, n);
  }
}

struct Task {
  std::size_t column;
  std::int64_t begin, end;
};

std::vector<Task> tasks_of(const std::vector<Source>& sources) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::int64_t row = 0; row < sources[i].n; row += kTaskRows) {
      tasks.push_back({i, row, std::min(sources[i].n, row + kTaskRows)});
    }
  }
  return tasks;
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
};

// Returns the range of each column's finite values. Columns without infinite values know it already.
std::vector<Range> finite_ranges(const std::vector<Source>& sources, const std::vector<ColumnStatistics*>& columns,
                                 const CancelToken& cancel, ThreadPool& pool) {
  std::vector<Range> ranges(sources.size());
  pool.parallel_for(static_cast<std::int64_t>(sources.size()), cancel, [&](std::int64_t i, int) {
    const auto c = static_cast<std::size_t>(i);
    if (columns[c]->count == 0) return;
    if (std::isfinite(columns[c]->min) && std::isfinite(columns[c]->max)) {
      ranges[c] = {columns[c]->min, columns[c]->max};
      return;
    }
    with_kernel_type(sources[c].type, [&](auto type) {
      for_blocks<decltype(type)>(sources[c], 0, sources[c].n, cancel, [&](const auto* block, std::int64_t n) {
        for (std::int64_t j = 0; j < n; ++j) {
          const auto x = static_cast<double>(block[j]);
          if (!std::isfinite(x)) continue;
          ranges[c].low = std::min(ranges[c].low, x);
          ranges[c].high = std::max(ranges[c].high, x);
        }
      });
    });
  });
  return ranges;
}

// Edge i of n bins is low + (i / n) * (high - low), in these operations. Halves are used where the difference
// overflows.
class Bins {
 public:
  Bins(const Range& range, std::int64_t n) : n_(range.low == range.high ? 1 : n), low_(range.low) {
    const bool wide = std::isinf(range.high - range.low);
    const double factor = wide ? 2.0 : 1.0, base = range.low / factor, width = range.high / factor - base;
    for (std::int64_t i = 0; i <= n_; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(n_);
      edges_.push_back((base + share * width) * factor);
    }
    per_width_ = static_cast<double>(n_) / (range.high - range.low);
  }
  std::int64_t size() const { return n_; }
  /// Returns the last bin whose lower edge is not above x.
  std::int64_t of(double x) const {
    const double guess = (x - low_) * per_width_;  // NaN where the width is zero or infinite
    std::int64_t bin = guess >= static_cast<double>(n_) ? n_ - 1 : guess > 0 ? static_cast<std::int64_t>(guess) : 0;
    while (bin > 0 && x < edge(bin)) --bin;
    while (bin + 1 < n_ && x >= edge(bin + 1)) ++bin;
    return bin;
  }

 private:
  double edge(std::int64_t i) const { return edges_[static_cast<std::size_t>(i)]; }

  std::int64_t n_;
  double low_, per_width_ = 0.0;
  std::vector<double> edges_;
};

std::uint64_t mixed(std::uint64_t x) {  // the finaliser of SplitMix64: one to one
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Returns equal keys for equal values: -0 is 0.
template <class T>
std::uint64_t key_of(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return mixed(std::bit_cast<std::uint32_t>(x == 0.0F ? 0.0F : x));
  } else if constexpr (std::is_same_v<T, double>) {
    return mixed(std::bit_cast<std::uint64_t>(x == 0.0 ? 0.0 : x));
  } else {
    return mixed(static_cast<std::uint64_t>(x));
  }
}

// A set of keys with open addressing and a limited number of slots.
class KeySet {
 public:
  KeySet(std::int64_t most, std::int64_t n_keys) : most_(most), slots_(static_cast<std::size_t>(first_slots(n_keys))) {}
  /// Returns false if there is no room for one more.
  bool add(std::uint64_t key) {
    if (key == 0) {
      zero_ = true;
      return true;
    }
    if (10 * (size_ + 1) > 6 * static_cast<std::int64_t>(slots_.size()) && !grow()) return false;
    size_ += put(key) ? 1 : 0;
    return true;
  }
  std::int64_t size() const { return size_ + (zero_ ? 1 : 0); }

 private:
  // Few keys get room for all of them at once, so that millions of short columns do not each clear a page. Else the set
  // grows.
  std::int64_t first_slots(std::int64_t n_keys) const {
    const auto all = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n_keys + 2)));
    return std::min({most_, std::int64_t{1024}, all});
  }
  bool put(std::uint64_t key) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (key >> 20) & mask;; at = (at + 1) & mask) {
      if (slots_[at] == key) return false;
      if (slots_[at] != 0) continue;
      slots_[at] = key;
      return true;
    }
  }
  bool grow() {
    if (static_cast<std::int64_t>(slots_.size()) * 2 > most_) return false;
    std::vector<std::uint64_t> old(slots_.size() * 2);
    old.swap(slots_);
    for (const std::uint64_t key : old) {
      if (key != 0) put(key);
    }
    return true;
  }

  std::int64_t most_, size_ = 0;
  bool zero_ = false;
  std::vector<std::uint64_t> slots_;
};

// Counts the different keys of the source that are congruent to `share` modulo `shares`, a power of two.
template <class T>
std::int64_t distinct_in(const Source& source, std::uint64_t share, std::uint64_t shares, std::int64_t most_slots,
                         const CancelToken& cancel) {
  KeySet set(most_slots, source.n);
  bool fits = true;
  for_blocks<T>(source, 0, source.n, cancel, [&](const T* block, std::int64_t n) {
    for (std::int64_t i = 0; i < n && fits; ++i) {
      if (block[i] != block[i]) continue;
      const std::uint64_t key = key_of(block[i]);
      if ((key & (shares - 1)) == share) fits = set.add(key);
    }
  });
  if (fits) return set.size();
  std::int64_t sum = 0;
  set = KeySet(1, 0);
  for (std::uint64_t part = 0; part < 4; ++part) {
    sum += distinct_in<T>(source, share + part * shares, shares * 4, most_slots, cancel);
  }
  return sum;
}

}  // namespace

void add_histograms(const std::vector<Source>& sources, std::int64_t n_bins, const CancelToken& cancel,
                    ThreadPool& pool, std::vector<ColumnStatistics*>& columns) {
  const std::vector<Range> ranges = finite_ranges(sources, columns, cancel, pool);
  std::vector<std::optional<Bins>> bins(sources.size());
  std::vector<std::vector<std::int64_t>*> counts(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Histogram& histogram = columns[i]->histogram.emplace();
    if (ranges[i].low > ranges[i].high) continue;
    const Bins& mine = bins[i].emplace(ranges[i], n_bins);
    histogram = {ranges[i].low, ranges[i].high, std::vector<std::int64_t>(static_cast<std::size_t>(mine.size()))};
    counts[i] = &histogram.counts;
  }
  const std::vector<Task> tasks = tasks_of(sources);
  std::mutex mutex;
  pool.parallel_for(static_cast<std::int64_t>(tasks.size()), cancel, [&](std::int64_t t, int) {
    const Task& task = tasks[static_cast<std::size_t>(t)];
    if (!bins[task.column]) return;
    const Bins& mine = *bins[task.column];
    std::vector<std::int64_t> own(static_cast<std::size_t>(mine.size()));
    with_kernel_type(sources[task.column].type, [&](auto type) {
      for_blocks<decltype(type)>(sources[task.column], task.begin, task.end, cancel,
                                 [&](const auto* block, std::int64_t n) {
                                   for (std::int64_t i = 0; i < n; ++i) {
                                     const auto x = static_cast<double>(block[i]);
                                     if (std::isfinite(x)) ++own[static_cast<std::size_t>(mine.of(x))];
                                   }
                                 });
    });
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < own.size(); ++i) (*counts[task.column])[i] += own[i];
  });
}

void count_distinct(const std::vector<Source>& sources, std::int64_t budget, const CancelToken& cancel,
                    ThreadPool& pool, std::vector<ColumnStatistics*>& columns) {
  constexpr std::int64_t kFewestSlots = 1 << 12;
  // While a set grows, it needs both the old slots and the new ones.
  const std::int64_t room = budget / pool.size() / (2 * static_cast<std::int64_t>(sizeof(std::uint64_t)));
  const auto most = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max(room, kFewestSlots))));
  // A single long column is divided by its keys, so that every thread has work.
  const auto n = static_cast<std::int64_t>(sources.size());
  const std::int64_t shares =
      n >= pool.size() ? 1 : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(pool.size())));
  std::vector<std::atomic<std::int64_t>> found(sources.size());
  pool.parallel_for(n * shares, cancel, [&](std::int64_t t, int) {
    const auto c = static_cast<std::size_t>(t / shares);
    found[c] += with_kernel_type(sources[c].type, [&](auto type) {
      return distinct_in<decltype(type)>(sources[c], static_cast<std::uint64_t>(t % shares),
                                         static_cast<std::uint64_t>(shares), most, cancel);
    });
  });
  for (std::size_t i = 0; i < sources.size(); ++i) columns[i]->distinct = found[i].load();
}

}  // namespace stope::stats
