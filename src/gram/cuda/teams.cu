// z = A^T (A x) where a row takes several blocks of threads (a team). Each block holds its leaves of the last rows in
// shared memory, and tells the others their sums. It adds a row to its z once it knows the others' sums. So A is read
// only once, up to the width that all SMs together hold of a row: a million columns of floats on an H200.
//
// In a block, one warp speaks to the team, one listens, and the others multiply, each on its own. Nobody waits for more
// than it needs.
//   a multiplier  adds up its leaf of row s and says so; waits for y of row s - kLatency; adds that row to z;
//                 fetches row s - kLatency + kStages.
//   the speaker   waits for all leaves of row s; sends their sum.
//   the listener  collects the sums of row s from all blocks; says that y is there.
// A row's way to the other blocks and back takes longer than the row itself: kLatency rows are under way.
//
// A message has two words. Each holds 32 bits of the number and 32 bits of the row's serial number, and is written and
// read whole. No fence is needed: a block that reads the serial number has the number, too.
//
// Messages about a row have their place in a ring of kPlaces rows. A multiplier at row s knows y of row s - 1 -
// kLatency. So every block had sent that row, and all its multipliers knew y of row s - 2 - 2 * kLatency. Whatever is
// older has been read by all, here and in the other blocks.
#include "device/cuda/arrivals.cuh"
#include "device/cuda/check.hpp"
#include "gram/cuda/rows.hpp"
#include "gram/cuda/warp_rows.cuh"

namespace stope::gram::cuda {
namespace {

using stope::cuda::check;

constexpr int kPlaces = 16;
constexpr int kMostParts = 256;
constexpr int kMostBlocks = 2048;  // more than run at once on any GPU: room for their messages
constexpr int kMostLeaves = 16;    // in a block
constexpr int kMostThreads = 32 * (kMostLeaves + 2);

struct alignas(16) Message {
  unsigned long long low, high;
};

struct TeamJob {
  RowsJob rows;
  std::int64_t first_group, n_groups;  ///< the groups that the rows belong to
  int n_parts, n_teams;
  Message* messages;  ///< [team][place][part]
};

#if __CUDA_ARCH__ >= 800

using stope::cuda::barrier_arrive;
using stope::cuda::barrier_init;
using stope::cuda::barrier_wait;

__device__ __forceinline__ void say(Message* place, double value, std::uint32_t serial) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  const unsigned long long tag = static_cast<unsigned long long>(serial) << 32;
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(place), "l"(tag | (bits & 0xffffffffULL)),
               "l"(tag | (bits >> 32))
               : "memory");
}

__device__ __forceinline__ Message look(const Message* place) {
  Message found{};
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(found.low), "=l"(found.high)
               : "l"(place)
               : "memory");
  return found;
}

__device__ __forceinline__ bool is_of(const Message& message, std::uint32_t serial) {
  return static_cast<std::uint32_t>(message.low >> 32) == serial &&
         static_cast<std::uint32_t>(message.high >> 32) == serial;
}
__device__ __forceinline__ double value_of(const Message& message) {
  return __longlong_as_double(static_cast<long long>((message.high << 32) | (message.low & 0xffffffffULL)));
}

/// Collects the sums of a row from all parts and adds them by the aligned tree; every lane gets the result. It polls
/// all places at once until all have been sent.
__device__ __forceinline__ double collect(const Message* places, int n_parts, std::uint32_t serial, int lane) {
  constexpr int kLooks = kMostParts / 32;
  Message messages[kLooks];
  bool all_there = false;
  while (!all_there) {
    bool there = true;
#pragma unroll
    for (int q = 0; q < kLooks; ++q) {
      if (q * 32 + lane < n_parts) messages[q] = look(places + q * 32 + lane);
    }
#pragma unroll
    for (int q = 0; q < kLooks; ++q) {
      if (q * 32 + lane < n_parts) there = there && is_of(messages[q], serial);
    }
    all_there = __all_sync(0xffffffffU, there ? 1 : 0) != 0;
  }
  double sums[kLooks];
#pragma unroll
  for (int q = 0; q < kLooks; ++q) {
    sums[q] = 0.0;
    if (q * 32 >= n_parts) continue;
    double v = q * 32 + lane < n_parts ? value_of(messages[q]) : 0.0;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) v += __shfl_xor_sync(0xffffffffU, v, step);
    sums[q] = v;
  }
#pragma unroll
  for (int step = 1; step < kLooks; step *= 2) {
#pragma unroll
    for (int q = 0; q < kLooks; q += 2 * step) sums[q] += sums[q + step];
  }
  return sums[0];
}

/// The rows of a team: neighbouring groups.
struct TeamRows {
  std::int64_t group, begin;  ///< the first group, and its first row in the job
  int n;

  __device__ TeamRows(const TeamJob& team_job, int team) {
    const RowsJob& job = team_job.rows;
    group = team_job.first_group + team_job.n_groups * team / team_job.n_teams;
    const std::int64_t end_group = team_job.first_group + team_job.n_groups * (team + 1) / team_job.n_teams;
    const std::int64_t first = job.groups.begin(group) - job.first;
    const std::int64_t end = job.groups.begin(end_group) - job.first;
    begin = first > 0 ? first : 0;
    n = static_cast<int>((end < job.n ? end : job.n) - begin);
  }
};

/// What the warps of a block tell each other about the rows under way.
struct Board {
  double leaf_sums[kPlaces][kMostLeaves], ys[kPlaces];
  std::uint64_t leaves_there[kPlaces], y_there[kPlaces];

  static __device__ int place(int row) { return row % kPlaces; }
  static __device__ int parity(int row) { return row / kPlaces % 2; }
};

/// Multiplies one warp's leaf of its team's rows.
template <class T, bool kShifted, int kStages, int kLatency>
__device__ __forceinline__ void multiply(const TeamJob& team_job, const TeamRows& mine, std::int64_t leaf, int warp,
                                         char* ring, Board& board) {
  const RowsJob& job = team_job.rows;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool is_there = leaf * kLeafColumns < job.n_columns;
  const LaneColumns at = LaneColumns::of(leaf * kLeafColumns, lane, job.n_columns);
  int group = 0, group_end = 0;  // counted from the team's first group
  const auto sums = [&] { return job.sums + (mine.group + group - job.first_group) * padded_columns(job.n_columns); };
  const auto find_end = [&] {
    group_end = static_cast<int>(job.groups.begin(mine.group + group + 1) - job.first - mine.begin);
  };
  double x[kOwn], z[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) x[i] = z[i] = 0.0;
  if (is_there) read_vector(job.x, at, x);
  if (job.groups.begin(mine.group) < job.first && is_there) read_vector(sums(), at, z);

  const T* next = static_cast<const T*>(job.rows) + mine.begin * job.row_stride;
  const auto fetch = [&](int row, int stage) {
    if (row < mine.n) Lane<T>::fetch(ring + stage * Lane<T>::kLeafBytes, next, at, lane);
    next += job.row_stride;
    end_copies();
  };
#pragma unroll
  for (int stage = 0; stage < kStages; ++stage) fetch(stage, stage);
  int stage = 0, late_stage = 0;
  find_end();
  for (int s = 0; s < mine.n + kLatency; ++s) {
    if (s < mine.n) {
      // max(s - kLatency, 0) groups of copies were begun after the first kStages, and s + 1 must have ended.
      if (s == 0) {
        wait_for_copies<kStages - 1>();
      } else {
        wait_for_copies<kStages - kLatency - 1>();
      }
      const double sum = leaf_sum<T, kShifted>(ring + stage * Lane<T>::kLeafBytes, lane, job.shift, at, x);
      if (lane == 0) {
        board.leaf_sums[Board::place(s)][warp] = is_there ? sum : 0.0;
        barrier_arrive(&board.leaves_there[Board::place(s)]);
      }
      stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    const int row = s - kLatency;
    if (row < 0) continue;
    if (row == group_end) {
      if (is_there) write_vector(sums(), at, z);
#pragma unroll
      for (int i = 0; i < kOwn; ++i) z[i] = 0.0;
      ++group;
      find_end();
    }
    barrier_wait(&board.y_there[Board::place(row)], Board::parity(row));
    add_row<T, kShifted>(ring + late_stage * Lane<T>::kLeafBytes, lane, job.shift, at, board.ys[Board::place(row)], z);
    fetch(row + kStages, late_stage);
    late_stage = late_stage + 1 == kStages ? 0 : late_stage + 1;
  }
  if (is_there) write_vector(sums(), at, z);
}

#endif

template <class T, bool kShifted, int kStages>
__global__ void __launch_bounds__(kMostThreads) team_kernel(const TeamJob team_job) {
#if __CUDA_ARCH__ >= 800
  constexpr int kLatency = kStages - 2;  // one row is being copied, one is being read
  static_assert(kLatency >= 1 && kPlaces >= 2 * kLatency + 2);
  extern __shared__ __align__(16) char shared[];
  __shared__ Board board;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int n_leaf_warps = static_cast<int>(blockDim.x) / 32 - 2;
  const int part = static_cast<int>(blockIdx.x) % team_job.n_parts,
            team = static_cast<int>(blockIdx.x) / team_job.n_parts;
  const TeamRows mine(team_job, team);
  Message* const messages = team_job.messages + static_cast<std::int64_t>(team) * kPlaces * team_job.n_parts;
  const auto places_of = [&](int row) { return messages + Board::place(row) * team_job.n_parts; };
  // Never 0, which cleared memory has.
  const auto serial_of = [](int row) { return static_cast<std::uint32_t>(row) + 1; };
  if (threadIdx.x < kPlaces) {
    barrier_init(&board.leaves_there[threadIdx.x], n_leaf_warps);
    barrier_init(&board.y_there[threadIdx.x], 1);
  }
  __syncthreads();

  if (warp < n_leaf_warps) {
    multiply<T, kShifted, kStages, kLatency>(team_job, mine, static_cast<std::int64_t>(part) * n_leaf_warps + warp,
                                             warp, shared + warp * kStages * Lane<T>::kLeafBytes, board);
  } else if (warp == n_leaf_warps) {
    for (int row = 0; row < mine.n; ++row) {
      barrier_wait(&board.leaves_there[Board::place(row)], Board::parity(row));
      const double sum = tree_of_16(board.leaf_sums[Board::place(row)], n_leaf_warps, lane);
      if (lane == 0) say(places_of(row) + part, sum, serial_of(row));
      __syncwarp();
    }
  } else {
    for (int row = 0; row < mine.n; ++row) {
      const double y = collect(places_of(row), team_job.n_parts, serial_of(row), lane);
      if (lane == 0) {
        board.ys[Board::place(row)] = y + 0.0;
        barrier_arrive(&board.y_there[Board::place(row)]);
      }
      __syncwarp();
    }
  }
#endif
}

/// Leaves of a block: half as many for doubles, so that the same number of rows is under way.
int team_leaves(const Layout& layout, std::int64_t element_bytes) {
  return element_bytes == 8 ? layout.part_leaves / 2 : layout.part_leaves;
}

std::int64_t team_parts(const Layout& layout, std::int64_t n_columns, std::int64_t element_bytes) {
  const int leaves = team_leaves(layout, element_bytes);
  return leaves > 0 ? (n_leaves(n_columns) + leaves - 1) / leaves : 0;
}

template <class T, bool kShifted, int kStages>
void launch_teams(TeamJob& job, const Layout& layout, cudaStream_t stream) {
  auto* const kernel = team_kernel<T, kShifted, kStages>;
  const int leaves = team_leaves(layout, sizeof(T));
  const auto shared = static_cast<std::size_t>(leaves) * kStages * Lane<T>::kLeafBytes;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
        "reserving shared memory");
  const int threads = 32 * (leaves + 2);
  int per_multiprocessor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, shared),
        "asking how many blocks fit");
  const int room = per_multiprocessor * layout.multiprocessors;
  const int side_by_side = (room < kMostBlocks ? room : kMostBlocks) / job.n_parts;
  if (side_by_side < 1) {
    throw Error(ErrorCode::internal,
                "a row takes " + std::to_string(job.n_parts) + " blocks, " + std::to_string(room) + " fit");
  }
  job.n_teams = static_cast<int>(job.n_groups < side_by_side ? job.n_groups : side_by_side);
  void* arguments[] = {&job};
  // A cooperative launch fails rather than leave out a block that the others would wait for.
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>(job.n_teams * job.n_parts)),
                                    dim3(static_cast<unsigned>(threads)), arguments, shared, stream),
        "multiplying rows in teams");
}

template <class T>
void launch_teams(TeamJob& job, const Layout& layout, cudaStream_t stream) {
  const bool shifted = job.rows.shift != nullptr;
  if (layout.ring == 3) {
    shifted ? launch_teams<T, true, 6>(job, layout, stream) : launch_teams<T, false, 6>(job, layout, stream);
  } else {
    shifted ? launch_teams<T, true, 4>(job, layout, stream) : launch_teams<T, false, 4>(job, layout, stream);
  }
}

}  // namespace

bool Teams::fit(std::int64_t n_columns, std::int64_t element_bytes, const Layout& layout) {
  const std::int64_t parts = team_parts(layout, n_columns, element_bytes);
  // One block per SM always fits: layout_of() saw to that. Teams need the counted arrivals of sm_80.
  return layout.major >= 8 && parts > 1 && parts <= layout.multiprocessors && parts <= kMostParts;
}

std::int64_t Teams::exchange_bytes(const Layout&) {
  return std::int64_t{kMostBlocks} * kPlaces * static_cast<std::int64_t>(sizeof(Message));
}

void Teams::launch(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, void* exchange,
                   cudaStream_t stream) {
  if (job.n == 0) return;
  const std::int64_t first_group = job.groups.group_of(job.first);
  TeamJob team{.rows = job,
               .first_group = first_group,
               .n_groups = job.groups.group_of(job.first + job.n - 1) + 1 - first_group,
               .n_parts = static_cast<int>(team_parts(layout, job.n_columns, element_bytes)),
               .n_teams = 0,  // launch_teams() sets it: it knows how many fit the GPU
               .messages = static_cast<Message*>(exchange)};
  check(cudaMemsetAsync(exchange, 0, static_cast<std::size_t>(exchange_bytes(layout)), stream), "clearing messages");
  if (element_bytes == 4) {
    launch_teams<float>(team, layout, stream);
  } else {
    launch_teams<double>(team, layout, stream);
  }
}

}  // namespace stope::gram::cuda
