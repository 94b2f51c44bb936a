#include "stats/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/number_text.hpp"
#include "stats/gather.hpp"
#include "stats/range_select.hpp"
#include "stope/error.hpp"

namespace stope::stats {
namespace {

constexpr int kDigitBits = 16, kLevels = 64 / kDigitBits;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::int64_t kTaskRows = std::int64_t{1} << 18;
constexpr std::int64_t kBlockRows = 4096;
// Shorter columns are one task each (range_select.hpp): to clear and join the counts would take longer.
constexpr std::int64_t kShortRows = std::int64_t{1} << 17;

// The values whose keys begin with the same digits. Of these values the first has rank `before` in the column.
struct Bucket {
  Key prefix = 0;  // its leading `level` digits, other bits zero
  int level = 0;
  std::int64_t before = 0, count = 0;

  bool holds(Key key) const { return level == 0 || (key ^ prefix) >> (64 - kDigitBits * level) == 0; }
};

template <class Work>
void for_values(const Source& source, std::int64_t begin, std::int64_t end, const CancelToken& cancel,
                const Work& work) {
  with_kernel_type(source.type, [&](auto type) {
    using T = decltype(type);
    T block[kBlockRows];
    for (std::int64_t row = begin; row < end; row += kBlockRows) {
      cancel.check();
      const std::int64_t n = std::min(kBlockRows, end - row);
      gather(source, row, n, 1.0, block);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto value = static_cast<double>(block[i]);
        if (value == value) work(value);
      }
    }
  });
}

// The ranks of one long column, found digit by digit by all threads.
class Search {
 public:
  Search(const Source& source, std::int64_t room, const CancelToken& cancel, ThreadPool& pool,
         std::vector<Ranked>& wanted)
      : source_(source), room_(room), cancel_(cancel), pool_(pool), wanted_(wanted) {}

  void run(std::int64_t count) {
    std::vector<Bucket> open = {{0, 0, 0, count}};
    std::vector<Bucket> small;
    while (!open.empty()) {
      const Bucket bucket = open.back();
      open.pop_back();
      for (const Bucket& inner : divided(bucket)) (inner.count <= room_ ? small : open).push_back(inner);
    }
    for (auto first = small.begin(); first != small.end();) {
      auto last = first;
      for (std::int64_t held = 0; last != small.end() && held + last->count <= room_; ++last) held += last->count;
      collect({first, last});
      first = last;
    }
  }

 private:
  std::span<Ranked> wanted_in(const Bucket& bucket) {
    const auto below = [](const Ranked& one, std::int64_t rank) { return one.rank < rank; };
    const auto first = std::lower_bound(wanted_.begin(), wanted_.end(), bucket.before, below);
    return {first, std::lower_bound(first, wanted_.end(), bucket.before + bucket.count, below)};
  }

  std::int64_t n_tasks() const { return (source_.n + kTaskRows - 1) / kTaskRows; }
  template <class Work>
  void each_value(const Work& work) {
    pool_.parallel_for(n_tasks(), cancel_, [&](std::int64_t task, int worker) {
      const std::int64_t begin = task * kTaskRows;
      for_values(source_, begin, std::min(begin + kTaskRows, source_.n), cancel_,
                 [&](double value) { work(value, static_cast<std::size_t>(worker)); });
    });
  }

  // Counts the next digit of the bucket's values, and returns those of its parts that hold a wanted rank. Where no
  // digit is left, all values are the same.
  std::vector<Bucket> divided(const Bucket& bucket) {
    if (bucket.level == kLevels) {
      for (Ranked& one : wanted_in(bucket)) one.value = value_of(bucket.prefix);
      return {};
    }
    std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(pool_.size()));
    for (auto& of_worker : counts) of_worker.resize(kDigits);
    const int shift = 64 - kDigitBits * (bucket.level + 1);
    each_value([&](double value, std::size_t worker) {
      const Key key = key_of(value);
      if (bucket.holds(key)) ++counts[worker][(key >> shift) & (kDigits - 1)];
    });
    std::vector<Bucket> parts;
    std::int64_t before = bucket.before;
    for (std::size_t digit = 0; digit < kDigits; ++digit) {
      Bucket part{bucket.prefix | Key{digit} << shift, bucket.level + 1, before, 0};
      for (const auto& of_worker : counts) part.count += of_worker[digit];
      before += part.count;
      if (!wanted_in(part).empty()) parts.push_back(part);
    }
    return parts;
  }

  // Copies the values of these buckets, and selects among them.
  void collect(std::span<const Bucket> buckets) {
    std::vector<std::int32_t> first_of(kDigits, -1), next(buckets.size(), -1);  // lists of buckets by their first digit
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const auto digit = static_cast<std::size_t>(buckets[i].prefix >> (64 - kDigitBits));
      next[i] = first_of[digit];
      first_of[digit] = static_cast<std::int32_t>(i);
    }
    using Lists = std::vector<std::vector<double>>;
    std::vector<Lists> found(static_cast<std::size_t>(pool_.size()), Lists(buckets.size()));
    each_value([&](double value, std::size_t worker) {
      const Key key = key_of(value);
      for (std::int32_t i = first_of[key >> (64 - kDigitBits)]; i >= 0; i = next[static_cast<std::size_t>(i)]) {
        const auto at = static_cast<std::size_t>(i);
        if (buckets[at].holds(key)) found[worker][at].push_back(value);
      }
    });
    pool_.parallel_for(std::ssize(buckets), cancel_, [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      std::vector<double> values = std::move(found[0][at]);
      for (std::size_t worker = 1; worker < found.size(); ++worker) {
        values.insert(values.end(), found[worker][at].begin(), found[worker][at].end());
        found[worker][at] = {};
      }
      select_ranks(values, buckets[at].before, cancel_, wanted_in(buckets[at]));
    });
  }

  const Source& source_;
  std::int64_t room_;
  const CancelToken& cancel_;
  ThreadPool& pool_;
  std::vector<Ranked>& wanted_;
};

// The ranks at and behind every quantile's place, ascending and each once.
std::vector<Ranked> wanted_of(const std::vector<double>& shares, std::int64_t count) {
  std::vector<Ranked> wanted;
  wanted.reserve(2 * shares.size());
  for (const double share : shares) {
    const auto rank = static_cast<std::int64_t>(std::floor(static_cast<double>(count - 1) * share));
    wanted.push_back({rank});
    if (rank + 1 < count) wanted.push_back({rank + 1});
  }
  std::sort(wanted.begin(), wanted.end(), [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  const auto same = [](const Ranked& a, const Ranked& b) { return a.rank == b.rank; };
  wanted.erase(std::unique(wanted.begin(), wanted.end(), same), wanted.end());
  return wanted;
}

std::vector<double> quantiles_of(const std::vector<double>& shares, std::int64_t count,
                                 const std::vector<Ranked>& wanted) {
  std::vector<double> quantiles;
  quantiles.reserve(shares.size());
  const auto value_at = [&](std::int64_t rank) {
    const auto below = [](const Ranked& one, std::int64_t other) { return one.rank < other; };
    return std::lower_bound(wanted.begin(), wanted.end(), rank, below)->value;
  };
  for (const double share : shares) {
    const double position = static_cast<double>(count - 1) * share;
    const auto rank = static_cast<std::int64_t>(std::floor(position));
    const double below = value_at(rank);
    const double fraction = position - static_cast<double>(rank);
    quantiles.push_back(rank + 1 < count ? interpolated(below, value_at(rank + 1), fraction) : below);
  }
  return quantiles;
}

// The values of a column that are present, as doubles: where they lie, or copied.
std::span<const double> present_values(const Source& source, std::int64_t count, const CancelToken& cancel,
                                       std::vector<double>& copy) {
  if (source.type == ElementType::float64 && source.stride == 1 && source.rows == nullptr && count == source.n) {
    return {static_cast<const double*>(source.data), static_cast<std::size_t>(count)};
  }
  copy.reserve(static_cast<std::size_t>(source.n));
  for_values(source, 0, source.n, cancel, [&](double value) { copy.push_back(value); });
  return copy;
}

void of_short_column(const Source& source, const std::vector<double>& shares, const CancelToken& cancel,
                     ColumnStatistics& column) {
  column.quantiles.assign(shares.size(), ColumnStatistics::kNone);
  if (column.count == 0 || shares.empty()) return;
  std::vector<double> copy;
  const std::span<const double> values = present_values(source, column.count, cancel, copy);
  std::vector<Ranked> wanted = wanted_of(shares, column.count);
  select_by_range(values, column.min, column.max, 0, cancel, wanted);
  column.quantiles = quantiles_of(shares, column.count, wanted);
}

}  // namespace

void check_quantiles(const std::vector<double>& shares) {
  if (std::ssize(shares) > kMostQuantiles) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(shares.size()) + " quantiles: at most " + std::to_string(kMostQuantiles) + " at a time",
                {.option = "quantiles"});
  }
  for (const double share : shares) {
    if (share >= 0.0 && share <= 1.0) continue;
    throw Error(ErrorCode::invalid_argument,
                "the quantile " + number_text(share) + " is no share of the values: a number from 0 to 1 is needed",
                {.option = "quantiles"});
  }
}

double interpolated(double below, double above, double fraction) {
  if (fraction == 0.0 || below == above) return below;
  const double step = above - below;
  if (std::isinf(step) && std::isfinite(below) && std::isfinite(above)) {
    return below * (1.0 - fraction) + above * fraction;
  }
  if (std::isfinite(above) != std::isfinite(below)) return std::isfinite(above) ? below : above;
  return fraction >= 0.5 ? above - step * (1.0 - fraction) : below + step * fraction;
}

void add_quantiles(const std::vector<Source>& sources, const std::vector<double>& shares, std::int64_t budget,
                   const CancelToken& cancel, ThreadPool& pool, std::vector<ColumnStatistics*>& columns) {
  pool.parallel_for(static_cast<std::int64_t>(sources.size()), cancel, [&](std::int64_t i, int) {
    const auto c = static_cast<std::size_t>(i);
    if (sources[c].n < kShortRows) of_short_column(sources[c], shares, cancel, *columns[c]);
  });
  // Every worker counts by itself, so that there are no more of them than their counts have room.
  const std::int64_t most = budget / 4 / static_cast<std::int64_t>(kDigits * sizeof(std::int64_t));
  std::optional<ThreadPool> fewer;
  ThreadPool& counting = most >= pool.size() ? pool : fewer.emplace(static_cast<int>(std::max<std::int64_t>(most, 1)));
  for (std::size_t c = 0; c < sources.size(); ++c) {
    if (sources[c].n < kShortRows) continue;
    const std::int64_t count = columns[c]->count;
    columns[c]->quantiles.assign(shares.size(), ColumnStatistics::kNone);
    if (count == 0 || shares.empty()) continue;
    std::vector<Ranked> wanted = wanted_of(shares, count);
    // The copies grow by doubling and are joined once: they take up to four times their size.
    const std::int64_t fits = budget / 8 / static_cast<std::int64_t>(sizeof(double));
    const std::int64_t room = std::clamp<std::int64_t>(count / 4, 1 << 12, std::max<std::int64_t>(fits, 1 << 12));
    Search(sources[c], room, cancel, counting, wanted).run(count);
    columns[c]->quantiles = quantiles_of(shares, count, wanted);
  }
}

}  // namespace stope::stats
