// z = A^T (A x) where a row has more leaves than a block of threads has warps. A *team* of warps, in neighbouring
// blocks, holds a row, a leaf each. Each block holds its leaves of the last rows in shared memory, and tells the others
// their sums. It adds a row to its z once it knows the others' sums. So A is read only once, up to the width that all
// SMs together hold of a row: a million columns of floats on an H200.
//
// A message is the sum of a *part*: so many neighbouring leaves, a power of two, as the aligned tree adds anyway. A
// team has whole parts. Where parts are whole blocks, fewest messages are sent. Where they are shorter, a block may
// hold the end of one team and the beginning of the next (its two *sides*), so that more teams work at the same time.
// choose_parts() chooses.
//
// In each side of a block, one warp speaks to the team, one listens, and the others multiply, each on its own. Nobody
// waits for more than it needs.
//   a multiplier  adds up its leaf of row s and says so; waits for y of row s - kLatency; adds that row to z;
//                 fetches row s - kLatency + kStages.
//   the speaker   waits for the side's leaves of row s; sends the sums of their parts.
//   the listener  collects the sums of row s from all parts; says that y is there.
// A row's way to the other blocks and back takes longer than the row itself: kLatency rows are under way.
//
// A message has two words. Each holds 32 bits of the number and 32 bits of the row's serial number, and is written and
// read whole. No fence is needed: a block that reads the serial number has the number, too.
//
// Messages about a row have their place in a ring of kPlaces rows. A multiplier at row s knows y of row s - 1 -
// kLatency. So every block had sent that row, and all its multipliers knew y of row s - 2 - 2 * kLatency. Whatever is
// older has been read by all, here and in the other blocks.
#include <algorithm>

#include "device/cuda/arrivals.cuh"
#include "device/cuda/check.hpp"
#include "gram/cuda/rows.hpp"
#include "gram/cuda/warp_rows.cuh"

namespace stope::gram::cuda {
namespace {

using stope::cuda::check;

constexpr int kPlaces = 16;
constexpr int kMostParts = 256;
constexpr int kMostSenders = 4096;  // parts of all teams: room for their messages
constexpr int kMostLeaves = 16;     // in a block
constexpr int kMostSides = 2;
constexpr int kMostThreads = 32 * (kMostLeaves + 2 * kMostSides);

struct alignas(16) Message {
  unsigned long long low, high;
};

struct TeamJob {
  RowsJob rows;
  std::int64_t first_group, n_groups;  ///< the groups that the rows belong to
  int block_leaves, part_leaves, n_parts, n_teams;
  Message* messages;  ///< [team][place][part]

  STOPE_HD int team_leaves() const { return n_parts * part_leaves; }  ///< the last ones may be none
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

/// The warps of a block that belong to the same team. A team has more leaves than a block, so there are at most two.
struct Side {
  int team, first_warp, n_warps;  ///< no warps: there is no such side
  int first_leaf;                 ///< the leaf of the first warp

  __device__ Side(const TeamJob& job, int side) {
    const int first_slot = static_cast<int>(blockIdx.x) * job.block_leaves, leaves = job.team_leaves();
    const int first_team = first_slot / leaves, in_team = first_slot - first_team * leaves;
    const int in_first = min(job.block_leaves, leaves - in_team);
    team = first_team + side;
    first_warp = side == 0 ? 0 : in_first;
    first_leaf = side == 0 ? in_team : 0;
    n_warps = team >= job.n_teams ? 0 : side == 0 ? in_first : job.block_leaves - in_first;
  }
};

/// What the warps of a side tell each other about the rows under way.
struct Board {
  double ys[kPlaces];
  std::uint64_t leaves_there[kPlaces], y_there[kPlaces];

  static __device__ int place(int row) { return row % kPlaces; }
  static __device__ int parity(int row) { return row / kPlaces % 2; }
};

/// Multiplies one warp's leaf of its team's rows.
template <class T, bool kShifted, int kStages, int kLatency>
__device__ __forceinline__ void multiply(const TeamJob& team_job, const TeamRows& mine, std::int64_t leaf, int warp,
                                         char* ring, double (&leaf_sums)[kPlaces][kMostLeaves], Board& board) {
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
        wait_for_leaf<T, kStages - 1>();
      } else {
        wait_for_leaf<T, kStages - kLatency - 1>();
      }
      const double sum = leaf_sum<T, kShifted>(ring + stage * Lane<T>::kLeafBytes, lane, job.shift, at, x);
      if (lane == 0) {
        leaf_sums[Board::place(s)][warp] = is_there ? sum : 0.0;
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

__device__ __forceinline__ Message* messages_of(const TeamJob& job, int team) {
  return job.messages + std::int64_t{team} * kPlaces * job.n_parts;
}
/// Never 0, which cleared memory has.
__device__ __forceinline__ std::uint32_t serial_of(int row) {
  return static_cast<std::uint32_t>(row) + 1;
}

/// Sends the sums of the side's parts of each row.
template <int kSides>
__device__ __forceinline__ void speak(const TeamJob& job, const Side& side, int n_rows,
                                      const double (&leaf_sums)[kPlaces][kMostLeaves], Board& board) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool is_there = lane < side.n_warps, speaks = is_there && lane % job.part_leaves == 0;
  Message* const part = messages_of(job, side.team) + (side.first_leaf + lane) / job.part_leaves;
  const double* const sums = &leaf_sums[0][is_there ? side.first_warp + lane : 0];
  for (int row = 0; row < n_rows; ++row) {
    barrier_wait(&board.leaves_there[Board::place(row)], Board::parity(row));
    double v = is_there ? sums[Board::place(row) * kMostLeaves] : 0.0;
#pragma unroll
    for (int step = 1; step < kMostLeaves; step *= 2) {
      // With one side, a part is all that the block has.
      if (kSides == 1 || step < job.part_leaves) v += __shfl_xor_sync(0xffffffffU, v, step);
    }
    if (speaks) say(part + Board::place(row) * job.n_parts, v, serial_of(row));
    __syncwarp();
  }
}

/// Collects the sums of each row from all parts.
__device__ __forceinline__ void listen(const TeamJob& job, const Side& side, int n_rows, Board& board) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Message* const messages = messages_of(job, side.team);
  for (int row = 0; row < n_rows; ++row) {
    const double y = collect(messages + Board::place(row) * job.n_parts, job.n_parts, serial_of(row), lane);
    if (lane == 0) {
      board.ys[Board::place(row)] = y + 0.0;
      barrier_arrive(&board.y_there[Board::place(row)]);
    }
    __syncwarp();
  }
}

#endif

template <class T, bool kShifted, int kStages, int kSides>
__global__ void __launch_bounds__(kMostThreads) team_kernel(const TeamJob team_job) {
#if __CUDA_ARCH__ >= 800
  constexpr int kLatency = kStages - 2;  // one row is being copied, one is being read
  static_assert(kLatency >= 1 && kPlaces >= 2 * kLatency + 2);
  extern __shared__ __align__(16) char shared[];
  __shared__ double leaf_sums[kPlaces][kMostLeaves];  // of each warp of the block
  __shared__ Board boards[kSides];
  static_assert(sizeof(leaf_sums) + sizeof(boards) <= kReservedBytes);
  int warp = static_cast<int>(threadIdx.x) / 32, number = 0;
  if constexpr (kSides > 1) {
    // The shuffle tells the compiler that all lanes have the same side, and so the same rows, which then take no
    // registers. With one side the block's number says as much, and the shuffle makes wide rows slower.
    warp = __shfl_sync(0xffffffffU, warp, 0);
    const int helper = warp - team_job.block_leaves;
    number = helper < 0 ? (warp < Side(team_job, 0).n_warps ? 0 : 1) : helper / 2;
  }
  for (int i = 0; i < kSides; ++i) {
    if (threadIdx.x >= kPlaces) continue;
    barrier_init(&boards[i].leaves_there[threadIdx.x], max(1, Side(team_job, i).n_warps));
    barrier_init(&boards[i].y_there[threadIdx.x], 1);
  }
  __syncthreads();

  const Side side(team_job, number);
  if (side.n_warps == 0) return;
  const TeamRows mine(team_job, side.team);
  Board& board = boards[number];
  if (warp < team_job.block_leaves) {
    multiply<T, kShifted, kStages, kLatency>(team_job, mine, side.first_leaf + (warp - side.first_warp), warp,
                                             shared + warp * kStages * Lane<T>::kLeafBytes, leaf_sums, board);
  } else if ((warp - team_job.block_leaves) % 2 == 0) {
    speak<kSides>(team_job, side, mine.n, leaf_sums, board);
  } else {
    listen(team_job, side, mine.n, board);
  }
#endif
}

/// Leaves of a block: half as many for doubles, so that the same number of rows is under way.
int leaves_of_block(const Layout& layout, std::int64_t element_bytes) {
  return element_bytes == 8 ? layout.block_leaves / 2 : layout.block_leaves;
}

int parts_of(std::int64_t n_columns, int part_leaves) {
  return static_cast<int>((n_leaves(n_columns) + part_leaves - 1) / part_leaves);
}

/// Chooses the leaves of a part: as many as possible among those with which the teams have the fewest groups to work
/// on, one after the other. `room` blocks run at the same time. A GPU with little shared memory takes whole blocks.
void choose_parts(TeamJob& job, int room, bool whole_blocks) {
  std::int64_t fewest = 0;
  for (int leaves = job.block_leaves; leaves >= (whole_blocks ? job.block_leaves : 1); leaves /= 2) {
    const int parts = parts_of(job.rows.n_columns, leaves);
    if (parts > kMostParts) break;
    const int at_once = std::min(room * job.block_leaves / (parts * leaves), kMostSenders / parts);
    if (at_once < 1) continue;
    const int teams = static_cast<int>(std::min<std::int64_t>(job.n_groups, at_once));
    const std::int64_t turns = (job.n_groups + teams - 1) / teams;
    if (fewest > 0 && turns >= fewest) continue;
    fewest = turns;
    job.part_leaves = leaves;
    job.n_parts = parts;
    job.n_teams = teams;
  }
  if (fewest > 0) return;
  throw Error(ErrorCode::internal, "a row takes " + std::to_string(parts_of(job.rows.n_columns, job.block_leaves)) +
                                       " blocks, " + std::to_string(room) + " fit");
}

template <class Kernel>
void reserve(Kernel* kernel, std::size_t shared) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
        "reserving shared memory");
}

template <class Kernel>
void launch_teams(Kernel* kernel, int sides, TeamJob& job, std::size_t shared, cudaStream_t stream) {
  const auto bytes = sizeof(Message) * static_cast<std::size_t>(job.n_teams * job.n_parts) * kPlaces;
  check(cudaMemsetAsync(job.messages, 0, bytes, stream), "clearing messages");
  const int slots = job.n_teams * job.team_leaves(), threads = 32 * (job.block_leaves + 2 * sides);
  void* arguments[] = {&job};
  // A cooperative launch fails rather than leave out a block that the others would wait for.
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>((slots + job.block_leaves - 1) / job.block_leaves)),
                                    dim3(static_cast<unsigned>(threads)), arguments, shared, stream),
        "multiplying rows in teams");
}

template <class T, bool kShifted, int kStages>
void launch_teams(TeamJob& job, const Layout& layout, cudaStream_t stream) {
  constexpr bool kWholeBlocks = kStages < 6;
  constexpr int kSides = kWholeBlocks ? 1 : kMostSides;
  auto* const kernel = team_kernel<T, kShifted, kStages, kSides>;
  const auto shared = static_cast<std::size_t>(job.block_leaves) * kStages * Lane<T>::kLeafBytes;
  reserve(kernel, shared);
  int per_multiprocessor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, 32 * (job.block_leaves + 2 * kSides),
                                                      shared),
        "asking how many blocks fit");
  choose_parts(job, per_multiprocessor * layout.multiprocessors, kWholeBlocks);
  if (job.part_leaves < job.block_leaves) return launch_teams(kernel, kSides, job, shared, stream);
  auto* const one_sided = team_kernel<T, kShifted, kStages, 1>;
  reserve(one_sided, shared);
  launch_teams(one_sided, 1, job, shared, stream);
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
  const int leaves = leaves_of_block(layout, element_bytes);
  if (layout.major < 8 || leaves < 1) return false;  // teams need the counted arrivals of sm_80
  const int parts = parts_of(n_columns, leaves);
  // One block per SM always fits: layout_of() saw to that.
  return parts > 1 && parts <= layout.multiprocessors && parts <= kMostParts;
}

std::int64_t Teams::exchange_bytes() {
  constexpr std::int64_t kBytes = std::int64_t{kMostSenders} * kPlaces * static_cast<std::int64_t>(sizeof(Message));
  static_assert(kBytes == cuda_abi::kMessageBytes);
  return kBytes;
}

void Teams::launch(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, void* exchange,
                   cudaStream_t stream) {
  if (job.n == 0) return;
  TeamJob team{.rows = job,
               .first_group = job.begin_group(),
               .n_groups = job.n_own_groups(),
               .block_leaves = leaves_of_block(layout, element_bytes),
               .part_leaves = 0,  // choose_parts() sets these: it knows how many blocks fit the GPU
               .n_parts = 0,
               .n_teams = 0,
               .messages = static_cast<Message*>(exchange)};
  element_bytes == 4 ? launch_teams<float>(team, layout, stream) : launch_teams<double>(team, layout, stream);
}

}  // namespace stope::gram::cuda
