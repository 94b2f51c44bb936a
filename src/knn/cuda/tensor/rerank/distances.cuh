// The exact distances of a few rows from a query, computed by one warp.
//
// A sum has one order, attribute by attribute, but its terms may be made in any order. Neighbouring lanes load
// neighbouring attributes of a row, which suits memory, and each lane makes the terms of its attributes. The terms pass
// through shared memory. Then each lane adds up one sum of one row in the order of the attributes.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "knn/cuda/tensor/rerank/rerank.hpp"
#include "knn/measure/result.hpp"

namespace stope::knn::cuda {

/// For measures whose state consists of sums to which each attribute adds a term or nothing. The state of a single
/// attribute is then its terms. Sums start at +0 and are never -0, so that adding 0 where nothing was added changes no
/// bit. Takes kMostRows rows at once, a multiple of 4.
template <class M, int kMostRows>
struct Distances {
  using State = typename M::State;
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(double) == 0);
  /// Counts are whole numbers, which may be added in any order: lanes count what they have seen.
  static constexpr bool kCounted = std::is_same_v<State, PresentSum>;
  static constexpr int kSums = kCounted ? 1 : static_cast<int>(sizeof(State) / sizeof(double));
  static_assert(kSums <= 32);
  static constexpr int kColumns = 16;  // at once: two a lane
  static constexpr int kRowsALoad = 32 * 2 / kColumns;
  static constexpr int kRows = kSums * kMostRows <= 32 ? kMostRows : 32 / kSums / 4 * 4;  // at once: one sum a lane
  static_assert(kRows > 0);
  // Half a warp writes the terms of 8 columns and two rows at once. With one sum a row, all of them are in different
  // banks if columns are 2 doubles apart modulo 16. With more sums, only different columns are in different banks.
  static constexpr int kStride = kSums == 1 ? 18 : kRows * kSums + 1;
  static_assert(kRows * kSums <= kStride);
  static constexpr int kDoubles = kColumns * kStride;  // doubles of shared memory
  static_assert(kReadBeyond >= kColumns);

  /// Computes distances[i] of rows[i], i < n <= kRows. A distance that is NaN becomes infinite, and its row kNoRow.
  __device__ static void compute(const M& measure, const RerankJob& job, std::int64_t query, std::int32_t* rows, int n,
                                 double* terms, double* distances);

 private:
  static constexpr int kHalf = kColumns / 2, kLoads = kRows / kRowsALoad;

  /// Returns the count of row `lane`. kHalf neighbouring lanes have counted in each row i * kRowsALoad + lane / kHalf.
  __device__ static int count_of_row(const int (&counted)[kLoads]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int count = 0;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      int all = counted[i];
#pragma unroll
      for (int offset = 1; offset < kHalf; offset *= 2) all += __shfl_xor_sync(~0U, all, offset);
      all = __shfl_sync(~0U, all, lane % kRowsALoad * kHalf);
      if (lane / kRowsALoad == i) count = all;
    }
    return count;
  }

  /// Returns the state of row `lane`, from the sums that its lanes have added up.
  __device__ static State state_of_row(double sum, const int (&present)[kLoads]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    State state;
    if constexpr (kCounted) {
      state = {sum, static_cast<double>(count_of_row(present))};
    } else {
      double of_state[kSums];
#pragma unroll
      for (int s = 0; s < kSums; ++s) of_state[s] = __shfl_sync(~0U, sum, (lane * kSums + s) % 32);
      std::memcpy(&state, of_state, sizeof(State));
    }
    return state;
  }
};

inline constexpr std::int32_t kNoRow = 0x7fffffff;

template <class M, int kMostRows>
__device__ void Distances<M, kMostRows>::compute(const M& measure, const RerankJob& job, std::int64_t query,
                                                 std::int32_t* rows, int n, double* terms, double* distances) {
  const int lane = static_cast<int>(threadIdx.x) % 32, column = lane % kHalf, row_of_load = lane / kHalf;
  const auto width = static_cast<int>(job.width);
  const double* values = job.queries + query * job.width + column;
  asm("" : "+l"(values));  // keeps the compiler from multiplying again for every load; also below
  const double* train[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int row = i * kRowsALoad + row_of_load;
    train[i] = job.train + static_cast<std::int64_t>(rows[row < n ? row : 0]) * job.width + column;
    asm("" : "+l"(train[i]));
  }
  double* const of_lane = terms + column * kStride + row_of_load * kSums;
  const double* const own = terms + (lane < n * kSums ? lane : 0);
  double loaded[kLoads][2] = {}, value[2];
  Attribute attribute[2];
  // Beyond a row's last attribute this reads what comes next in memory, and makes terms that nobody adds. It also does
  // so for rows beyond n: without branches the terms of several rows hide one another's latency.
  const auto load = [&](int first) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      loaded[i][0] = __ldg(train[i]);
      if (first + kHalf < width) loaded[i][1] = __ldg(train[i] + kHalf);
      train[i] += kColumns;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int a = first + half * kHalf + column < width ? first + half * kHalf : -column;  // lane-relative
      value[half] = values[a];
      attribute[half] = job.attributes[column + a];
    }
  };
  double sum = 0.0;
  [[maybe_unused]] int present[kLoads] = {};
  load(0);
#pragma unroll 1
  for (int first = 0; first < width; first += kColumns) {
    const int left = width - first;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (half * kHalf >= left) break;
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        State state;
        measure.add(state, loaded[i][half], value[half], attribute[half]);
        double* const to = of_lane + half * kHalf * kStride + i * kRowsALoad * kSums;
        if constexpr (kCounted) {
          present[i] += half * kHalf + column < left && state.compared > 0.0 ? 1 : 0;
          *to = state.sum;
        } else {
          double of_state[kSums];
          std::memcpy(of_state, &state, sizeof(State));
#pragma unroll
          for (int s = 0; s < kSums; ++s) to[s] = of_state[s];
        }
      }
    }
    if (left > kColumns) load(first + kColumns);  // loads run while terms are added up
    __syncwarp();                                 // all terms are there
    if (left >= kColumns) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sum += own[c * kStride];
    } else {
#pragma unroll 1
      for (int c = 0; c < left; ++c) sum += own[c * kStride];
    }
    __syncwarp();  // all terms have been added: the next ones may overwrite them
  }
  const State state = state_of_row(sum, present);  // all lanes must call this
  if (lane >= n) return;
  const double distance = result_of_state<Quantity::distance>(measure, state);
  distances[lane] = isnan(distance) ? __longlong_as_double(0x7ff0000000000000) : distance;
  if (isnan(distance)) rows[lane] = kNoRow;  // harmless: k other rows have a distance, or the query is uncertified
}

}  // namespace stope::knn::cuda
