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

/// Returns element j of a register array, although j is known only at run time.
template <int kSize, class T>
__device__ T pick(const T (&values)[kSize], int j) {
  T value = values[0];
#pragma unroll
  for (int i = 1; i < kSize; ++i) value = j == i ? values[i] : value;
  return value;
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
  __device__ void sync() { __syncthreads(); }

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

/// Lists what the cuts do not rule out. An entry first waits in a queue of the block of threads. So a thread that has
/// found a row does not wait for a counter in memory while the others compute.
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

  /// A barrier of the block of threads. It empties the queue if that is half full.
  __device__ void sync() {
    const bool half_full = threadIdx.x % 32 == 0 && atomicAdd(&queue_->size, 0) >= kQueued / 2;
    if (__syncthreads_or(half_full ? 1 : 0) != 0) empty_queue();
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
#pragma unroll
    for (int i = 0; i < kPairQueries; ++i) {
      if ((hot >> i & 1U) == 0) continue;
      // Few rows pass: a loop over them keeps the code short.
      unsigned rest = 0;
#pragma unroll
      for (int j = 0; j < Place::kRows; ++j) rest |= pairs.key(i, j, alpha[i]) <= limit[i] ? 1U << j : 0U;
#pragma unroll 1
      for (; rest != 0; rest &= rest - 1) {
        const int j = __ffs(static_cast<int>(rest)) - 1;
        Entry entry = pairs.at(i, j);
        entry.row = static_cast<std::int32_t>(first_row) + place.row(part, j);
        const int at = atomicAdd(&queue_->size, 1);
        if (at < kQueued) {
          queue_->entries[at] = {entry, place.query(i)};
        } else {
          append({entry, place.query(i)});
        }
      }
    }
  }

  template <class Pairs>
  __device__ void finish(const Place&) {
    __syncthreads();  // no thread adds to the queue any more
    empty_queue();
  }

 private:
  static constexpr int kQueued = 384;
  struct Queued {
    Entry entry;
    std::int32_t query;  // counted within the tile
  };
  struct Queue {
    Queued entries[kQueued];
    int size;
  };

  template <class T>
  __device__ static void load(const T* from, const Place& place, T (&to)[kPairQueries]) {
    *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from + place.queries);
    *reinterpret_cast<float4*>(to + 4) = *reinterpret_cast<const float4*>(from + place.queries + 32);
  }

  __device__ void append(const Queued& queued) const {
    const std::int64_t query = first_query_ + queued.query;
    if (exclusions_->exclude(query, queued.entry.row)) return;
    const std::int32_t at = atomicAdd(job_->counts + query, 1);
    if (at < job_->capacity) job_->entries[query * job_->capacity + at] = queued.entry;
  }

  /// All threads of the block call this, and none adds to the queue meanwhile.
  __device__ void empty_queue() {
    const int n = min(queue_->size, kQueued);
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kPairThreads) append(queue_->entries[i]);
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
