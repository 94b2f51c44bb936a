// One warp a query. Attributes come in column order, so that the distances have the bits of the host.
#pragma once

#include <cstring>
#include <typeinfo>

#include "device/cuda/check.hpp"
#include "knn/cuda/boxes/box_search.hpp"
#include "knn/cuda/boxes/warp_list.cuh"
#include "knn/measure/measures.hpp"
#include "knn/measure/result.hpp"

namespace stope::knn::cuda {

inline constexpr int kSearchWarps = 4;
// A warp waits for memory most of the time. From Ampere on 9 blocks share an SM: 36 warps, with 56 registers a lane.
// Where each lane has four places of the list, it needs more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int kSearchBlocks = 8;  // an SM of Turing has 1,024 threads
#else
inline constexpr int kSearchBlocks = 9;
#endif
// From so many new rows on, sorting and merging all of a leaf's is faster than inserting each.
inline constexpr int kMergedRows = 9;

/// The least of all lanes' values.
__device__ __forceinline__ std::uint32_t least_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(kAllLanes, value);
#else
  for (int other = 16; other > 0; other /= 2) value = min(value, __shfl_xor_sync(kAllLanes, value, other));
  return value;
#endif
}

/// What a warp has in shared memory: its query, and the sums between it and the boxes of the open group of each level.
struct QueryInBlock {
  double row[kMostBoxColumns];
  float image[kMostBoxColumns];
  float sums[kMostBoxLevels][kGroupBoxes];
};

template <class M, int kPlaces>
class QueryInBoxes {
 public:
  __device__ QueryInBoxes(const M& measure, const BoxSearch& search, QueryInBlock& held, std::int64_t number)
      : measure_(measure),
        search_(search),
        held_(held),
        lane_(static_cast<int>(threadIdx.x) % 32),
        query_(search.order[number]),
        home_(static_cast<std::int64_t>(search.homes[number])),
        residual_(static_cast<double>(search.residuals[query_]) + search.train_residual),
        last_{search.within, INT32_MAX} {
    if (lane_ < search_.width) held_.row[lane_] = search_.queries[query_ * search_.width + lane_];
    if (lane_ < search_.n_columns) held_.image[lane_] = search_.images[query_ * search_.n_columns + lane_];
    __syncwarp();  // the query is there
    shrink_reach();
  }

  // The groups on the way from the leaf up are known at once, so that they arrive together. What is near that leaf
  // comes first. The boxes on the way itself are left out: what lies in them is looked at one level below.
  __device__ void run() {
    const int n_levels = search_.boxes.n_levels;
    for (int level = 0; level < n_levels; ++level) {
      const std::int64_t box = home_ >> (kFanBits * level);
      open(level, box >> kFanBits, 1U << (box % kGroupBoxes));
    }
    visit_leaf(home_);
    for (int top = 0; top < n_levels; ++top) {
      for (int level = top; level <= top;) {
        const int nearest = take_nearest(level);
        if (nearest < 0) {
          ++level;
          continue;
        }
        const std::int64_t box = of_level(level) * kGroupBoxes + nearest;
        if (level > 0) {
          open(--level, box, 0);
        } else {
          visit_leaf(box);
        }
      }
    }
  }

  __device__ void write() const {
    const int k = search_.k;
#pragma unroll
    for (int e = 0; e < kPlaces; ++e) {
      const int at = e * 32 + lane_;
      if (at >= k) continue;
      search_.distances[query_ * k + at] = list_.entries[e].distance;
      search_.rows[query_ * k + at] = list_.entries[e].row;
    }
    if (lane_ != 0) return;
    search_.uncertified[query_] = last_.row == INT32_MAX && !(search_.within < kInfinity) ? 1 : 0;
    const unsigned counter = blockIdx.x % kWorkCounters;
    atomicAdd(search_.opened + counter, static_cast<unsigned long long>(n_opened_));
    atomicAdd(search_.evaluated + counter, static_cast<unsigned long long>(n_evaluated_));
  }

 private:
  static constexpr FilterForm kForm = M::kFilter;
  static constexpr int kFanBits = 5;
  static constexpr int kAtOnce = 4;  // columns whose numbers are asked for together
  static_assert(1 << kFanBits == kGroupBoxes);

  __device__ __forceinline__ std::int64_t of_level(int level) const { return __shfl_sync(kAllLanes, group_, level); }

  // Adds what a column's interval [low, high] is from the query.
  __device__ __forceinline__ void add_gap(int column, float low, float high, float& sum) const {
    const float query = held_.image[column];
    // A missing value (NaN) is at no distance: fmaxf takes the other operand.
    float gap = fmaxf(fmaxf(low - query, query - high), 0.0F);
    const bool numeric = column < search_.n_numeric;
    if (!numeric) gap = gap > 0.0F ? search_.mismatch[column] : 0.0F;
    if (kForm.term == Term::maximum) {
      sum = fmaxf(sum, gap);
    } else {
      sum += kForm.term == Term::square && numeric ? gap * gap : gap;
    }
  }

  // Compares the query with the boxes of a group, of which some are left out.
  __device__ __forceinline__ void open(int level, std::int64_t number, unsigned left_out) {
    const BoxLevels& boxes = search_.boxes;
    const std::int64_t group = boxes.first_group[level] + number;
    float sum = 0.0F;
    const float* low = boxes.low + group * search_.n_columns * kGroupBoxes + lane_;
    const float* high = boxes.high + group * search_.n_columns * kGroupBoxes + lane_;
    for (int first = 0; first < search_.n_columns; first += kAtOnce) {
      float lows[kAtOnce], highs[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const bool is_there = first + i < search_.n_columns;
        lows[i] = is_there ? low[(first + i) * kGroupBoxes] : 0.0F;
        highs[i] = is_there ? high[(first + i) * kGroupBoxes] : 0.0F;
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i < search_.n_columns) add_gap(first + i, lows[i], highs[i], sum);
      }
    }
    held_.sums[level][lane_] = sum;
    const std::int64_t n = boxes.n_boxes[level] - number * kGroupBoxes;
    if (lane_ == level) {
      group_ = number;
      left_ = (n >= kGroupBoxes ? kAllLanes : (1U << n) - 1U) & ~left_out;
    }
    ++n_opened_;
  }

  // Forgets the boxes of the open group of a level that cannot have a neighbour, and takes the nearest of the others
  // out. Returns its number in the group, or -1.
  __device__ __forceinline__ int take_nearest(int level) {
    unsigned left = __shfl_sync(kAllLanes, left_, level);
    const float sum = held_.sums[level][lane_];
    bool may = ((left >> lane_) & 1U) != 0 && !(sum > reach_);
    // Where k rows are equal to the query, so do their numbers: there may be many more equal rows. The half of
    // Finish::half is a difference, which rounding may take below 0, and an equal row is then not the nearest.
    if (kForm.finish != Finish::half && last_.distance == 0.0) {
      const std::int64_t group = search_.boxes.first_group[level] + of_level(level);
      may = may && search_.boxes.first_rows[group * kGroupBoxes + lane_] <= last_.row;
    }
    left = __ballot_sync(kAllLanes, may);
    int nearest = -1;
    if (left != 0) {
      // Sums are not negative, so that their bits are in their order.
      const std::uint32_t key = may ? static_cast<std::uint32_t>(__float_as_int(sum)) : 0xffffffffU;
      nearest = __ffs(static_cast<int>(__ballot_sync(kAllLanes, key == least_of_warp(key)))) - 1;
      left &= ~(1U << nearest);
    }
    if (lane_ == level) left_ = left;
    return nearest;
  }

  // Evaluates the rows of a leaf.
  __device__ __forceinline__ void visit_leaf(std::int64_t leaf) {
    // Places without a row have a distance as well, so that numbers and values of rows are read together.
    const std::int32_t row = search_.near_rows[leaf * kLeafRows + lane_];
    const FoundRow found{distance_to(search_.near + leaf * search_.width * kLeafRows + lane_), row};
    const bool there = row != kNoLeafRow && !search_.exclusions.exclude(query_, row);
    n_evaluated_ += __popc(__ballot_sync(kAllLanes, there));
    // NaN is before nothing.
    bool is_new = there && found.before(last_);
    unsigned news = __ballot_sync(kAllLanes, is_new);
    if (news == 0) return;
    if constexpr (kPlaces == 1) {
      if (search_.k == 1) {
        list_.keep_nearest(is_new ? found : FoundRow{});
        return take_last();
      }
      if (__popc(news) >= kMergedRows) {
        list_.merge(is_new ? found : FoundRow{}, lane_);
        return take_last();
      }
    }
    while (news != 0) {
      const int lane = __ffs(static_cast<int>(news)) - 1;
      list_.insert(of_lane(found, lane), lane_);
      last_ = last_wanted();
      is_new = is_new && lane_ != lane && found.before(last_);
      news = __ballot_sync(kAllLanes, is_new);
    }
    take_last();
  }

  __device__ __forceinline__ void take_last() {
    last_ = last_wanted();
    shrink_reach();
  }

  // Returns the k-th row of the list, or what comes after all rows within the distance wanted, whichever is before.
  __device__ __forceinline__ FoundRow last_wanted() const {
    const FoundRow last = list_.at(search_.k - 1), limit{search_.within, INT32_MAX};
    return limit.before(last) ? limit : last;
  }

  __device__ __forceinline__ void shrink_reach() {
    if (!(last_.distance < kInfinity) || is_missing(residual_)) return;  // nothing is out of reach
    reach_ = search_.bounds.box_cut(search_.bounds.float_limit(last_.distance, residual_));
  }

  __device__ __forceinline__ double distance_to(const double* train) const {
    if constexpr (Accumulating<M>) {
      typename M::State state;
      const int width = static_cast<int>(search_.width);
      for (int first = 0; first < width; first += kAtOnce) {
        double values[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) values[i] = first + i < width ? train[(first + i) * kLeafRows] : 0.0;
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          if (first + i >= width) break;
          measure_.add(state, values[i], held_.row[first + i], search_.attributes[first + i]);
        }
      }
      return result_of_state<Quantity::distance>(measure_, state);
    } else {
      double row[kMostBoxColumns];
      for (int a = 0; a < static_cast<int>(search_.width); ++a) row[a] = train[a * kLeafRows];
      return result_of_rows<Quantity::distance>(measure_,
                                                RowPair{row, held_.row, search_.attributes, search_.width, nullptr});
    }
  }

  const M& measure_;
  const BoxSearch& search_;
  QueryInBlock& held_;
  const int lane_;
  const std::int64_t query_, home_;
  const double residual_;
  WarpList<kPlaces> list_;
  FoundRow last_;                   // only rows before it enter the list
  float reach_ = __builtin_inff();  // no box with a larger sum has a neighbour
  std::int64_t group_ = 0;          // lane l: the open group of level l,
  unsigned left_ = 0;               // and its boxes that are still to be looked at
  int n_opened_ = 0, n_evaluated_ = 0;
};

template <class M, int kPlaces>
__global__ void __launch_bounds__(kSearchWarps * 32, kPlaces == 1 ? kSearchBlocks : 1)
    box_search_kernel(const __grid_constant__ M measure, const __grid_constant__ BoxSearch search) {
  __shared__ QueryInBlock held[kSearchWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * kSearchWarps + warp;
  if (number >= search.n_queries) return;
  QueryInBoxes<M, kPlaces> query(measure, search, held[warp], number);
  query.run();
  query.write();
}

template <class M>
void launch_box_search(const BoxSearch& search, const void* bytes, cudaStream_t stream) {
  alignas(M) unsigned char copy[sizeof(M)];
  std::memcpy(copy, bytes, sizeof(M));
  if (search.n_queries == 0) return;
  const M& measure = *reinterpret_cast<const M*>(copy);
  const auto blocks = static_cast<unsigned>((search.n_queries + kSearchWarps - 1) / kSearchWarps);
  if (search.k <= 32) {
    box_search_kernel<M, 1><<<blocks, kSearchWarps * 32, 0, stream>>>(measure, search);
  } else {
    box_search_kernel<M, kMostBoxNeighbors / 32><<<blocks, kSearchWarps * 32, 0, stream>>>(measure, search);
  }
  stope::cuda::check_launch("searching through boxes");
}

template <class... M>
std::span<const BoxKernel> box_kernels(MeasureList<M...> /*measures*/) {
  static const BoxKernel kernels[] = {{typeid(M).name(), sizeof(M), &launch_box_search<M>}...};
  return kernels;
}

}  // namespace stope::knn::cuda
