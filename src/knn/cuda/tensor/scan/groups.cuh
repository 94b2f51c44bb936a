// What the scans with a warp's matrix instructions do with scores. For a sample they keep maxima of groups of rows. For
// a list they keep groups whose best score reaches a query's threshold.
//
// A warp has 64 queries and 16 training rows at a time. A lane holds the scores of one group of 4 rows (`group_row`)
// for each of 8 queries. The queries are lane_query(0 ... 7), and the group begins with row lane % 4 * 2.
#pragma once

#include "knn/cuda/tensor/scan/scan.hpp"

namespace stope::knn::cuda {

inline constexpr int kWarpQueries = 64, kWarpRows = 16;
inline constexpr int kLaneQueries = 8;

__device__ __forceinline__ int lane_query(int i, int lane) {
  return i / 2 * 16 + i % 2 * 8 + lane / 4;
}

/// Scores of 64 queries and 16 rows, in blocks of 16 queries and of 8 rows.
using Scores = float[kWarpQueries / 16][2][4];

/// Returns the best score of the lane's group for its query i. Scores are positive where they matter (ScanJob), so
/// their bits have the same order as integers. Integers have a maximum of three in one instruction (sm_90).
__device__ __forceinline__ int best_of_group(const Scores& scores, int i) {
  const int m = i / 2, at = i % 2 * 2;
  const int two = max(__float_as_int(scores[m][0][at]), __float_as_int(scores[m][0][at + 1]));
  return __vimax3_s32(two, __float_as_int(scores[m][1][at]), __float_as_int(scores[m][1][at + 1]));
}

struct GroupMaxima {
  float* maxima;
  std::int64_t n_maxima;
};

/// Keeps the maxima of a sample. kSplits warps have the same queries and take different rows; `split` is the number of
/// this warp.
template <int kSplits>
class SampleGroups {
 public:
  using Out = GroupMaxima;
  static constexpr int kBytes = 0;  ///< shared memory of a warp

  __device__ SampleGroups(const ScanJob& job, const Out& out, std::uint8_t*, std::int64_t first_query, int split)
      : job_(job), out_(out), first_query_(first_query), split_(split) {
#pragma unroll
    for (int i = 0; i < kLaneQueries; ++i) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g) best_[i][g] = __float_as_int(kNever);
    }
  }

  __device__ __forceinline__ void take(const Scores& scores, int, int turn) {
#pragma unroll
    for (int i = 0; i < kLaneQueries; ++i) {
      int& best = best_[i][turn % kGroups];
      best = max(best, best_of_group(scores, i));
    }
  }

  __device__ void finish() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kLaneQueries; ++i) {
      const std::int64_t query = first_query_ + lane_query(i, lane);
      if (query >= job_.n_queries) continue;
      float* out = out_.maxima + query * out_.n_maxima + static_cast<std::int64_t>(blockIdx.y) * kMaximaPerSegment +
                   (split_ * 4 + lane % 4) * kGroups;
#pragma unroll
      for (int g = 0; g < kGroups; ++g) out[g] = __int_as_float(best_[i][g]);
    }
  }

 private:
  static constexpr int kGroups = kMaximaPerSegment / (4 * kSplits);
  static_assert(kGroups * 4 * kSplits == kMaximaPerSegment);

  const ScanJob& job_;
  const Out& out_;
  std::int64_t first_query_;
  int split_;
  int best_[kLaneQueries][kGroups];
};

/// Groups that a warp has found and not yet appended.
struct Gathered {
  static constexpr int kRoom = 128;
  float scores[kRoom];
  std::int32_t rows[kRoom];
  std::uint8_t queries[kRoom];  ///< counted among the warp's queries
};
static_assert(sizeof(Gathered) % 16 == 0);

inline __device__ __noinline__ void append(const GroupLists* lists, const Gathered* gathered, int n,
                                           std::int64_t first_query) {
  __syncwarp();  // what other lanes have written can be read
  for (int i = static_cast<int>(threadIdx.x) % 32; i < n; i += 32) {
    const std::int64_t query = first_query + gathered->queries[i];
    const std::int32_t at = atomicAdd(lists->counts + query, 1);
    if (at < lists->capacity)
      lists->candidates[query * lists->capacity + at] = {gathered->scores[i], gathered->rows[i]};
  }
  __syncwarp();  // all have read it, before it is overwritten
}

/// Lists groups. A warp gathers them in shared memory and appends them to the lists together. So the scan seldom waits
/// for the atomic additions that find their places.
template <int>
class ListedGroups {
 public:
  using Out = GroupLists;
  static constexpr int kBytes = sizeof(Gathered);

  __device__ ListedGroups(const ScanJob& job, const Out& out, std::uint8_t* memory, std::int64_t first_query, int)
      : out_(out), first_query_(first_query), gathered_(reinterpret_cast<Gathered*>(memory)) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kLaneQueries; ++i) {
      const std::int64_t query = first_query + lane_query(i, lane);
      // Scores above this are listed. An image that is no query lists nothing, not even NaN.
      below_[i] = query < job.n_queries ? __float_as_int(out.thresholds[query]) - 1 : 0x7fffffff;
    }
  }

  /// `first_row` is the first of the 16 rows. The last argument, the turn, is a number that the compiler knows.
  __device__ __forceinline__ void take(const Scores& scores, int first_row, int) {
    int best[kLaneQueries];
    bool any = false;
#pragma unroll
    for (int i = 0; i < kLaneQueries; ++i) {
      best[i] = best_of_group(scores, i);
      any |= best[i] > below_[i];
    }
    if (__any_sync(~0U, any) == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kLaneQueries; ++i) {
      const bool listed = best[i] > below_[i];
      const std::uint32_t all = __ballot_sync(~0U, listed);
      if (all == 0) continue;
      if (n_ + 32 > Gathered::kRoom) finish();
      if (listed) {
        const int at = n_ + __popc(all & ((1U << lane) - 1U));
        gathered_->scores[at] = __int_as_float(best[i]);
        gathered_->rows[at] = first_row + lane % 4 * 2;
        gathered_->queries[at] = static_cast<std::uint8_t>(lane_query(i, lane));
      }
      n_ += __popc(all);
    }
  }

  __device__ __forceinline__ void finish() {
    append(&out_, gathered_, n_, first_query_);
    n_ = 0;
  }

 private:
  const Out& out_;
  std::int64_t first_query_;
  Gathered* gathered_;
  int below_[kLaneQueries];
  int n_ = 0;
};

}  // namespace stope::knn::cuda
