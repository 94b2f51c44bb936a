// Decides what stays of the sums of a tile: the best of every group of a sample, or a list of what a cut does not rule
// out.
//
// Both first look for the least of a thread's sums for a query. Sums are compared as integers: sums of bytes are
// integers, and the bits of floats that are not negative have the same order.
#pragma once

#include <climits>

#include "knn/cuda/differences/register_tile.cuh"

namespace stope::knn::cuda {

inline constexpr float kNoScore = __builtin_inff();

template <bool kDivides>
__device__ float score_of(float sum, float divisor) {
  if constexpr (!kDivides) return sum;
  return divisor > 0.0F ? __fdividef(sum, divisor) : kNoScore;  // 0: no attribute in common
}

/// Returns a sum less alpha * divisor, rounded once. It is at most beta if and only if the exact value is.
__device__ __forceinline__ float excess_of(const SumCut& cut, float sum, float divisor) {
  return __fmaf_rn(-cut.alpha, divisor, sum);
}

/// Says whether a cut does not rule a pair out.
template <bool kDivides>
__device__ bool keeps(const SumCut& cut, float sum, float divisor) {
  return (kDivides ? excess_of(cut, sum, divisor) : sum) <= cut.beta;
}

/// Returns the least of value(0) ... value(kSize - 1), three values an instruction where the GPU can.
template <int kSize, class Value>
__device__ __forceinline__ int least_of(const Value& value) {
  int least = value(0);
#pragma unroll
  for (int j = 1; j + 1 < kSize; j += 2) least = __vimin3_s32(least, value(j), value(j + 1));
  if constexpr (kSize % 2 == 0) least = min(least, value(kSize - 1));
  return least;
}

/// Keeps a thread's best row for each of its queries, over all tiles of a segment.
template <int kQuads, bool kDivides>
class BestOfGroups {
 public:
  using Job = GroupBests;
  using Place = PairPlace<kQuads>;

  template <class Pairs>
  __device__ void begin(const Job& job, const ScanTiles& tiles, const Exclusions& exclusions, std::int64_t first) {
    job_ = &job, tiles_ = &tiles, exclusions_ = &exclusions;
    first_query_ = first;
#pragma unroll
    for (int i = 0; i < kPairQueries; ++i) keys_[i] = Pairs::kNeverKey, rows_[i] = 0;
  }

  /// A barrier of the block of threads; the loop says what it protects.
  template <class Pairs>
  __device__ void sync() {
    __syncthreads();
  }

  template <class Pairs>
  __device__ void take(const Place& place, std::int64_t first_row, int part, const Pairs& pairs) {
    // In most tiles nothing is excluded.
    const std::int64_t own = exclusions_->self + first_query_;
    const bool self = exclusions_->self >= 0 && own < first_row + kPairTile && first_row < own + kPairTile;
    const bool excludes = self || exclusions_->train_groups != nullptr;
#pragma unroll
    for (int i = 0; i < kPairQueries; ++i) {
      if (least_of<Place::kRows>([&](int j) { return pairs.score_key(i, j); }) >= keys_[i]) continue;
      const std::int64_t query = first_query_ + place.query(i);
#pragma unroll
      for (int j = 0; j < Place::kRows; ++j) {
        const int key = pairs.score_key(i, j);
        if (key >= keys_[i]) continue;
        const std::int64_t row = first_row + place.row(part, j);
        if (excludes && query < tiles_->n_queries && exclusions_->exclude(query, row)) continue;
        keys_[i] = key;
        rows_[i] = static_cast<std::int32_t>(row);
      }
    }
  }

  template <class Pairs>
  __device__ void finish(const Place& place) {
    const std::int64_t group = static_cast<std::int64_t>(blockIdx.y) * Place::kGroups + place.group;
#pragma unroll
    for (int i = 0; i < kPairQueries; ++i) {
      const std::int64_t query = first_query_ + place.query(i);
      if (query >= tiles_->n_queries) continue;
      job_->scores[query * job_->n_groups + group] = keys_[i] < Pairs::kNeverKey ? Pairs::score(keys_[i]) : kNoScore;
      job_->rows[query * job_->n_groups + group] = rows_[i];
    }
  }

 private:
  const Job* job_;
  const ScanTiles* tiles_;
  const Exclusions* exclusions_;
  std::int64_t first_query_;
  int keys_[kPairQueries];
  std::int32_t rows_[kPairQueries];
};

/// Lists what the cuts do not rule out. A thread that finds such rows for a query puts all of its sums for this query
/// into a queue of the block of threads. When the queue is emptied, every thread looks at one sum. So threads that have
/// found nothing do not wait for one that goes through its sums, nor for a counter in memory.
template <int kQuads, bool kDivides>
class Listing {
 public:
  using Job = EntryLists;
  using Place = PairPlace<kQuads>;

  /// Prepares cuts and queue, and ends in a barrier. The cuts lie in shared memory, because sums need the registers
  /// most.
  template <class Pairs>
  __device__ void begin(const Job& job, const ScanTiles& tiles, const Exclusions& exclusions, std::int64_t first) {
    __shared__ __align__(16) float alphas[kDivides ? kPairTile : 4];
    __shared__ __align__(16) int limits[kPairTile];
    __shared__ __align__(16) Queue queue;
    job_ = &job, exclusions_ = &exclusions;
    alphas_ = alphas, limits_ = limits, queue_ = &queue;
    first_query_ = first;
    if (threadIdx.x == 0) queue.size = 0;
    for (int i = static_cast<int>(threadIdx.x); i < kPairTile; i += kPairThreads) {
      const SumCut cut = first + i < tiles.n_queries ? job.cuts[first + i] : SumCut{0.0F, -kNoScore};
      if constexpr (kDivides) alphas[i] = cut.alpha;
      limits[i] = cut.beta >= 0.0F ? Pairs::limit(cut.beta) : INT_MIN;
    }
    __syncthreads();  // the cuts and the empty queue are there
  }

  /// A barrier of the block of threads. It empties the queue once kEmptiedFrom entries wait: several tiles may pass
  /// until the next barrier.
  template <class Pairs>
  __device__ void sync() {
    const bool is_due = threadIdx.x % 32 == 0 && atomicAdd(&queue_->size, 0) >= kEmptiedFrom;
    if (__syncthreads_or(is_due ? 1 : 0) != 0) empty_queue<Pairs>();
  }

  template <class Pairs>
  __device__ void take(const Place& place, std::int64_t first_row, int part, const Pairs& pairs) {
    int limit[kPairQueries];
    float alpha[kPairQueries] = {};
    load(limits_, place, limit);
    if constexpr (kDivides) load(alphas_, place, alpha);
    unsigned hot = 0;
#pragma unroll
    for (int i = 0; i < kPairQueries; ++i) {
      const int least = least_of<Place::kRows>([&](int j) { return pairs.key(i, j, alpha[i]); });
      hot |= least <= limit[i] ? 1U << i : 0U;
    }
    if (hot == 0) return;
    int at = atomicAdd(&queue_->size, __popc(hot));
#pragma unroll
    for (int i = 0; i < kPairQueries; ++i) {
      if ((hot >> i & 1U) == 0) continue;
      Queued queued;
      pairs.copy(i, queued.words);
      queued.query = place.query(i);
      queued.row = static_cast<std::int32_t>(first_row) + place.row(part, 0);
      if (at < kQueued) {
        queue_->entries[at++] = queued;
      } else {
        append_all<Pairs>(*job_, *exclusions_, first_query_, queued, limit[i], alpha[i]);
      }
    }
  }

  template <class Pairs>
  __device__ void finish(const Place&) {
    __syncthreads();  // no thread adds to the queue any more
    empty_queue<Pairs>();
  }

 private:
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ % 100 != 0 || __CUDA_ARCH__ == 1200)
  static constexpr int kQueued = 96, kEmptiedFrom = 32;  // GPUs with 64 or 100 KB an SM, most of which lines need
#else
  static constexpr int kQueued = 320, kEmptiedFrom = 128;
#endif
  /// A thread's sums for a query, and its divisors behind them if there are any.
  struct alignas(16) Queued {
    std::uint32_t words[8];
    std::int32_t query;  // counted within the tile
    std::int32_t row;    // of the first sum
  };
  static_assert(Place::kRows * (kDivides ? 2 : 1) <= 8);
  struct Queue {
    Queued entries[kQueued];
    int size;
  };

  template <class T>
  __device__ static void load(const T* from, const Place& place, T (&to)[kPairQueries]) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from + place.queries);
    *reinterpret_cast<float4*>(to + 4) = *reinterpret_cast<const float4*>(from + place.queries + 32);
  }

  /// Adds the row of sum j to the query's list if the cut does not rule it out.
  template <class Pairs>
  __device__ static void append(const EntryLists& lists, const Exclusions& exclusions, std::int64_t first_query,
                                const Queued& queued, int j, int limit, float alpha) {
    const std::uint32_t sum = queued.words[j], divisor = kDivides ? queued.words[(Place::kRows + j) % 8] : 0;
    if (Pairs::key_of(sum, divisor, alpha) > limit) return;
    const std::int64_t query = first_query + queued.query;
    Entry entry = Pairs::entry_of(sum, divisor);
    entry.row = queued.row + Place::step(j, 16);
    if (exclusions.exclude(query, entry.row)) return;
    const std::int32_t at = atomicAdd(lists.counts + query, 1);
    if (at < lists.capacity) lists.entries[query * lists.capacity + at] = entry;
  }

  /// For a full queue. The loop over tiles seldom calls it, and must not become longer for it.
  template <class Pairs>
  __device__ __noinline__ static void append_all(const EntryLists& lists, const Exclusions& exclusions,
                                                 std::int64_t first_query, const Queued& queued, int limit,
                                                 float alpha) {
#pragma unroll 1
    for (int j = 0; j < Place::kRows; ++j) append<Pairs>(lists, exclusions, first_query, queued, j, limit, alpha);
  }

  /// All threads of the block call this, and none adds to the queue meanwhile.
  template <class Pairs>
  __device__ void empty_queue() {
    const int n = min(queue_->size, kQueued) * Place::kRows;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kPairThreads) {
      const Queued& queued = queue_->entries[i / Place::kRows];
      const float alpha = kDivides ? alphas_[queued.query] : 0.0F;
      append<Pairs>(*job_, *exclusions_, first_query_, queued, i % Place::kRows, limits_[queued.query], alpha);
    }
    __syncthreads();  // all have read the queue
    if (threadIdx.x == 0) queue_->size = 0;
    __syncthreads();  // it is empty for all
  }

  const Job* job_;
  const Exclusions* exclusions_;
  const float* alphas_;
  const int* limits_;
  Queue* queue_;
  std::int64_t first_query_;
};

}  // namespace stope::knn::cuda
