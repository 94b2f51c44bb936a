// Replays RapidMiner's heap. Each query has a team of warps (team.cuh), which finds the rows of the query's list that
// can enter the heap and computes their distances. One thread then offers them in the order of the table, because the
// shape of the heap depends on it.
#include "knn/cuda/tensor/rerank/heap_replay.hpp"

#include <cmath>

#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/measures.hpp"
#include "knn/cuda/tensor/rerank/cut.cuh"
#include "knn/cuda/tensor/rerank/distances.cuh"
#include "knn/cuda/tensor/rerank/row_scores.cuh"
#include "knn/lists/rapidminer_heap.hpp"

namespace stope::knn::cuda {
namespace {

// Chunks grow so that about three rows a neighbour enter the heap in each, or one where heaps are large (session.cpp).
// The first chunk has at least as many rows as there are neighbours.
struct FewReplayed {
  static constexpr int kWarps = 1, kTeams = 4, kMostGroups = 128, kMostRows = 256, kMostNeighbors = 24;
};
struct ManyReplayed {
  static constexpr int kWarps = 4, kTeams = 1, kMostGroups = 512, kMostRows = 1024, kMostNeighbors = 128;
};
struct MostReplayed {
  static constexpr int kWarps = 4, kTeams = 1, kMostGroups = 1024, kMostRows = 1024, kMostNeighbors = kMostReplayed;
};

constexpr int kAtOnce = 16;  // rows that a warp evaluates at once

/// The memory that a team works with. Groups and scores are no longer needed when the terms of distances overwrite
/// them.
template <class M, class Shape>
struct ReplaySpace {
  struct Scored {
    std::int32_t groups[Shape::kMostGroups];
    float scores[Shape::kMostGroups * kGroupRows];
    std::int32_t unordered[Shape::kMostRows];
  };
  union {
    Scored scored;
    double terms[Shape::kWarps][Distances<M, kAtOnce>::kDoubles];
  };
  double distances[Shape::kMostRows];
  std::int32_t rows[Shape::kMostRows];
  double heap_distances[Shape::kMostNeighbors];
  std::int32_t heap_rows[Shape::kMostNeighbors];
  typename Team<Shape::kWarps>::Memory team;
  int without_distance;
};

/// Writes the rows that can enter the heap to space.rows, in the order of the table. Returns their number. Returns -1
/// if they are not known, or are too many.
template <class M, class Shape, class Team>
__device__ int rows_in_order(Team& team, const ReplayJob& replay, std::int64_t query, ReplaySpace<M, Shape>& space) {
  const RerankJob& job = replay.pairs;
  const int n_groups = job.lists.counts[query];
  // A residual of NaN means that no image bounds the query.
  if (n_groups > Shape::kMostGroups || n_groups > job.lists.capacity || !(job.bounds.residuals[query] >= 0.0F)) {
    return -1;
  }
  const ListedGroup* list = job.lists.candidates + query * job.lists.capacity;
  for (int i = team.thread(); i < n_groups; i += Team::kThreads) {
    space.scored.groups[i] = list[i].first;
  }
  team.sync();  // all groups are written
  for (int first = team.warp() * kScoredGroups; first < n_groups; first += Shape::kWarps * kScoredGroups) {
    const std::int32_t* groups = space.scored.groups + first;
    float* scores = space.scored.scores + first * kGroupRows;
    if (panel_columns(job.bounds.width) == 32) {
      score_groups<true>(job, query, groups, n_groups - first, scores);
    } else {
      score_groups<false>(job, query, groups, n_groups - first, scores);
    }
  }
  team.sync();  // all scores are written
  const float cut = job.lists.thresholds[query];
  team.start_placing();
  for (int first = 0; first < n_groups * kGroupRows; first += Team::kThreads) {
    const int i = first + team.thread();
    const bool kept = i < n_groups * kGroupRows && space.scored.scores[i] >= cut;
    const int at = team.place(kept);
    if (kept && at < Shape::kMostRows) {
      space.scored.unordered[at] = group_row(space.scored.groups[i / kGroupRows], i % kGroupRows);
    }
  }
  const int n = team.placed();
  if (n > Shape::kMostRows) return -1;
  // The place of a row is the number of rows before it.
  for (int i = team.thread(); i < n; i += Team::kThreads) {
    const std::int32_t row = space.scored.unordered[i];
    int before = 0;
    for (int other = 0; other < n; ++other) before += space.scored.unordered[other] < row ? 1 : 0;
    space.rows[before] = row;
  }
  team.sync();  // all rows are written
  return n;
}

struct Offered {
  double distance;
  std::int32_t row;
};

struct HeapArrays {
  double* distances;
  std::int32_t* rows;
  __device__ double distance(int i) const { return distances[i]; }
  __device__ void move(int to, int from) {
    distances[to] = distances[from];
    rows[to] = rows[from];
  }
  __device__ void put(int to, const Offered& offered) {
    distances[to] = offered.distance;
    rows[to] = offered.row;
  }
};

/// Offers n rows to the heap, one after the other. Returns the size of the heap afterwards.
__device__ int offer(HeapArrays& heap, int size, int k, const double* distances, const std::int32_t* rows, int n) {
  for (int i = 0; i < n; ++i) {
    const Offered offered{distances[i], rows[i]};
    if (size == k) {
      if (!java_greater(heap.distance(0), offered.distance)) continue;
      heap_poll(heap, size, Offered{heap.distances[size - 1], heap.rows[size - 1]});
      --size;
    }
    heap_push(heap, size++, offered);
  }
  return size;
}

template <class M, class Shape>
__device__ void replay(const M& measure, const ReplayJob& job, std::int64_t query, ReplaySpace<M, Shape>& space) {
  const RerankJob& pairs = job.pairs;
  Team<Shape::kWarps> team(space.team);
  if (pairs.uncertified[query] != 0) return;
  if (team.thread() == 0) space.without_distance = 0;
  int n = rows_in_order<M, Shape>(team, job, query, space);
  using D = Distances<M, kAtOnce>;
  for (int first = team.warp() * D::kRows; first < n; first += Shape::kWarps * D::kRows) {
    D::compute(measure, pairs, query, space.rows + first, n - first < D::kRows ? n - first : D::kRows,
               space.terms[team.warp()], space.distances + first);
  }
  team.sync();  // all distances are written
  for (int i = team.thread(); i < n; i += Shape::kWarps * 32) {
    if (space.rows[i] == kNoRow) space.without_distance = 1;
  }
  double* const heap_distances = pairs.distances + query * pairs.k;
  std::int32_t* const heap_rows = pairs.rows + query * pairs.k;
  int size = job.sizes[query];
  for (int i = team.thread(); i < size; i += Shape::kWarps * 32) {
    space.heap_distances[i] = heap_distances[i];
    space.heap_rows[i] = heap_rows[i];
  }
  team.sync();  // the heap is complete, and so is without_distance
  if (team.thread() != 0) return;
  HeapArrays heap{space.heap_distances, space.heap_rows};
  if (n >= 0 && space.without_distance == 0) {
    size = offer(heap, size, pairs.k, space.distances, space.rows, n);
    for (int i = 0; i < size; ++i) {
      heap_distances[i] = space.heap_distances[i];
      heap_rows[i] = space.heap_rows[i];
    }
    job.sizes[query] = size;
  }
  if (n < 0 || space.without_distance != 0 || (job.last && size < pairs.k)) pairs.uncertified[query] = 1;
  if (n < 0) return;
  atomicAdd(pairs.n_listed, static_cast<unsigned long long>(pairs.lists.counts[query]) * kGroupRows);
  atomicAdd(pairs.n_evaluated, static_cast<unsigned long long>(n));
}

template <class M, class Shape>
__global__ void __launch_bounds__(Shape::kWarps* Shape::kTeams * 32)
    replay_kernel(const M measure, const ReplayJob job) {
  __shared__ ReplaySpace<M, Shape> spaces[Shape::kTeams];
  const int team = static_cast<int>(threadIdx.x) / (Shape::kWarps * 32);
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * Shape::kTeams + team;
  if (query < job.pairs.n_queries) replay<M, Shape>(measure, job, query, spaces[team]);
}

template <class M, class Shape>
void launch_shape(const ReplayJob& job, const M& measure, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((job.pairs.n_queries + Shape::kTeams - 1) / Shape::kTeams);
  replay_kernel<M, Shape><<<blocks, Shape::kWarps * Shape::kTeams * 32, 0, stream>>>(measure, job);
  stope::cuda::check_launch("replaying the heap");
}

template <class M>
struct Replay {
  static void launch(const ReplayJob& job, const void* bytes, cudaStream_t stream) {
    if (job.pairs.n_queries == 0) return;
    const M measure = measure_of<M>(bytes);
    if (job.pairs.k <= FewReplayed::kMostNeighbors) {
      launch_shape<M, FewReplayed>(job, measure, stream);
    } else if (job.pairs.k <= ManyReplayed::kMostNeighbors) {
      launch_shape<M, ManyReplayed>(job, measure, stream);
    } else {
      launch_shape<M, MostReplayed>(job, measure, stream);
    }
  }
};

/// Returns how far apart, at most, the images of two rows lie if the rows are at most `distance` apart.
/// QueryBounds::cut_at() adds the residuals.
__device__ double image_distance(const ImageDistance& image, double distance) {
  switch (image.finish) {
    case cuda_abi::Finish::root: return distance * image.unit;
    case cuda_abi::Finish::identity: return sqrt(distance) * image.unit;
    case cuda_abi::Finish::half: return sqrt(2.0 * distance);
    case cuda_abi::Finish::chord_angle: return 2.0 * sin(0.5 * fmin(distance, 3.141592653589793));
  }
  return __longlong_as_double(0x7ff0000000000000);
}

constexpr int kRootThreads = 256;

__global__ void __launch_bounds__(kRootThreads) roots_kernel(const RootJob job) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kRootThreads + threadIdx.x;
  if (query >= job.n_queries) return;
  const QueryBounds bounds = bounds_of(job.bounds, query);
  const double root = job.heaps[query * job.k];
  float threshold = 0.0F;  // below the score of every row that exists
  if (!(bounds.residuals >= 0.0)) {
    threshold = kAlways;  // nothing is listed: the reference answers this query
  } else if ((job.sizes == nullptr || job.sizes[query] == job.k) && root >= 0.0) {
    const double reach = image_distance(job.image, root) * (1.0 + 1e-9) + bounds.tiny;
    threshold = fmaxf(__double2float_rd(static_cast<double>(bounds.cut_at(reach)) + bounds.shift), 0.0F);
  }
  job.thresholds[query] = threshold;
}

}  // namespace

void launch_roots(const RootJob& job, cudaStream_t stream) {
  if (job.n_queries == 0) return;
  const auto blocks = static_cast<unsigned>((job.n_queries + kRootThreads - 1) / kRootThreads);
  roots_kernel<<<blocks, kRootThreads, 0, stream>>>(job);
  stope::cuda::check_launch("finding thresholds");
}

ReplayKernel find_replay_kernel(const cuda_abi::Measure& measure) {
  return find_tensor_kernel<Replay, ReplayKernel>(measure);
}

}  // namespace stope::knn::cuda
