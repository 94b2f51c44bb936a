// The re-rank of what a scan has listed, a team of warps a query (team.cuh). The k-th best score of the list gives a
// sharper cut than the sample did. The scores of single rows, in the groups that are left, give a still sharper cut.
// The rows left then are evaluated by the measure's own formula and ordered by (distance, row).
#include <cmath>

#include "device/cuda/check.hpp"
#include "knn/cuda/sort_neighbors.cuh"
#include "knn/cuda/tensor/measures.hpp"
#include "knn/cuda/tensor/rerank/cut.cuh"
#include "knn/cuda/tensor/rerank/distances.cuh"
#include "knn/cuda/tensor/rerank/row_scores.cuh"

namespace stope::knn::cuda {
namespace {

// A shape says how much of a query's list is looked at, and by how many warps. A query is uncertified if more groups
// reach the list's cut, or more rows reach the rows' cut. Usually there are 1.2 times as many groups as neighbours, and
// 1.1 times as many rows. Rows that are always listed come on top. kMostRows is a power of two, for the sort. A
// multiprocessor runs kBlocks blocks of threads at once, whose loads hide one another's latency (docs/adr/0007). A warp
// evaluates kAtOnce rows at once.
struct FewNeighbors {
  static constexpr int kWarps = 1, kTeams = 4, kMostGroups = 64, kMostRows = 256, kBlocks = 8, kAtOnce = 12;
  static constexpr int kNeighbors = 24, kAlwaysListed = 24;
};
struct UsualNeighbors {
  static constexpr int kWarps = 4, kTeams = 1, kMostGroups = 256, kMostRows = 512, kBlocks = 7, kAtOnce = 16;
  static constexpr int kNeighbors = 128, kAlwaysListed = 64;
};
// The shared memory of a block of threads on Turing, 64 KB, limits the number of neighbours.
struct ManyNeighbors {
  static constexpr int kWarps = 8, kTeams = 1, kMostGroups = 2048, kMostRows = 2048, kBlocks = 3, kAtOnce = 16;
  static_assert(kMostNeighbors <= kMostGroups / 2);
};

template <class Shape>
bool suits(const RerankJob& job) {
  return job.k <= Shape::kNeighbors && job.n_always <= Shape::kAlwaysListed;
}

/// The memory that a team works with: first groups and scores, then in their place terms and distances.
template <class M, class Shape>
struct WorkSpace {
  struct Scored {
    std::int32_t groups[Shape::kMostGroups];
    float scores[Shape::kMostGroups * kGroupRows];
  };
  struct Evaluated {
    double terms[Shape::kWarps][Distances<M, Shape::kAtOnce>::kDoubles];
    double distances[Shape::kMostRows];
  };
  union {
    Scored scored;
    Evaluated evaluated;
  };
  std::int32_t rows[Shape::kMostRows];
  typename Team<Shape::kWarps>::Memory team;
};

/// Keeps the first row of every group whose best score is at least `cut`. Returns the number of such groups, of which
/// `most` are kept.
template <class Team>
__device__ int keep_groups(Team& team, const ListedGroup* list, int n, float cut, std::int32_t* groups, int most) {
  const ListedGroup* const own = list + team.thread();
  const int left = n - team.thread();
  team.start_placing();
#pragma unroll 1
  for (int i = 0; i < n; i += Team::kThreads) {
    const ListedGroup candidate = i < left ? own[i] : ListedGroup{};
    const bool kept = i < left && candidate.score >= cut;
    const int at = team.place(kept);
    if (kept && at < most) groups[at] = candidate.first;
  }
  return team.placed();
}

/// Keeps the rows of the groups whose own score is at least `cut`, as rows of the table. Returns the number of such
/// rows, of which `most` are kept.
template <class Team>
__device__ int keep_rows(Team& team, const std::int32_t* groups, const float* scores, int n, float cut,
                         const std::int32_t* order, std::int32_t* rows, int most) {
  team.start_placing();
#pragma unroll 1
  for (int first = 0; first < n; first += Team::kThreads) {
    const int i = first + team.thread();
    const bool kept = i < n && scores[i] > kNever && scores[i] >= cut;
    const int at = team.place(kept);
    if (kept && at < most) {
      const std::int32_t place = group_row(groups[i / kGroupRows], i % kGroupRows);
      rows[at] = order == nullptr ? place : order[place];  // a row has this place, or its score were kNever
    }
  }
  return team.placed();
}

/// Selects the rows that can be neighbours. Returns their number, or -1 if they are not known or too many.
template <class M, class Shape, class Team>
__device__ int select(Team& team, const RerankJob& job, std::int64_t query, int listed, WorkSpace<M, Shape>& space) {
  const QueryBounds bounds = bounds_of(job.bounds, query);
  if (listed > job.lists.capacity || !(bounds.residuals >= 0.0)) return -1;
  const ListedGroup* list = job.lists.candidates + query * job.lists.capacity;
  // The list also has the row that is the query itself.
  const int key_step = job.bounds.key_step;
  const float cut = cut_of_list(team, bounds, key_step, job.k + (job.self >= 0 ? 1 : 0), list, listed);
  const int n_groups = keep_groups(team, list, listed, cut, space.scored.groups, Shape::kMostGroups);
  if (n_groups > Shape::kMostGroups) return -1;

  float* const scores = space.scored.scores;
  const auto score_all = [&](const auto& score) {
#pragma unroll 1
    for (int first = team.warp() * kScoredGroups; first < n_groups; first += Shape::kWarps * kScoredGroups) {
      score(job, query, space.scored.groups + first, n_groups - first, scores + first * kGroupRows);
    }
  };
  if (panel_columns(job.bounds.width) == 32) {
    score_all(score_groups<true>);
  } else {
    score_all(score_groups<false>);
  }
  team.sync();  // all scores are written
  const int n_scores = n_groups * kGroupRows;
  const float* const own = scores + team.thread();
  float sharper = cut_of(bounds, kth_largest(team, job.k, key_step, n_scores, [&](int i) { return key_of(own[i]); }));
  // Fewer than k rows prove nothing, but the distance behind the threshold does.
  if (job.may_have_fewer) sharper = fmaxf(sharper, job.lists.thresholds[query]);
  const int n_rows =
      keep_rows(team, space.scored.groups, scores, n_scores, sharper, job.order, space.rows, Shape::kMostRows);
  return n_rows <= Shape::kMostRows ? n_rows : -1;
}

/// Writes the k nearest of n rows. Returns whether k of them have a finite distance, or fewer will do. Infinite
/// distances that overflowed are equal, whatever the images say. So rows that would come first among them may not be
/// among the n.
template <class M, class Shape, class Team>
__device__ bool write_nearest(Team& team, const RerankJob& job, std::int64_t query, int n, WorkSpace<M, Shape>& space) {
  double* const out_distances = job.distances + query * job.k;
  std::int32_t* const out_rows = job.rows + query * job.k;
  const int thread = team.thread();
  if (n <= Team::kThreads) {  // one row a thread: its place is the number of rows before it
    const double distance = thread < n ? space.evaluated.distances[thread] : 0.0;
    const std::int32_t row = thread < n ? space.rows[thread] : kNoRow;
    int before = 0;
    for (int i = 0; i < n; ++i)
      before += comes_after(distance, row, space.evaluated.distances[i], space.rows[i]) ? 1 : 0;
    const bool written = row != kNoRow && before < job.k;
    if (written) {
      out_distances[before] = distance;
      out_rows[before] = row;
    }
    constexpr unsigned kFinite = 1U << 16;
    static_assert(Team::kThreads < kFinite);
    const unsigned counted = team.sum(written ? 1U + (isfinite(distance) ? kFinite : 0U) : 0U);
    const auto n_written = static_cast<int>(counted % kFinite), n_finite = static_cast<int>(counted / kFinite);
    for (int i = n_written + thread; i < job.k; i += Team::kThreads) {
      out_distances[i] = __longlong_as_double(0x7ff0000000000000);
      out_rows[i] = kNoRow;
    }
    return job.may_have_fewer || n_finite == job.k;
  }
  int padded = Team::kThreads;
  while (padded < n || padded < job.k) padded *= 2;
#pragma unroll 1
  for (int i = n + thread; i < padded; i += Team::kThreads) {
    space.evaluated.distances[i] = __longlong_as_double(0x7ff0000000000000);
    space.rows[i] = kNoRow;
  }
  sort_neighbors(team, space.evaluated.distances, space.rows, padded);
#pragma unroll 1
  for (int i = thread; i < job.k; i += Team::kThreads) {
    out_distances[i] = space.evaluated.distances[i];
    out_rows[i] = space.rows[i];
  }
  // Distances are sorted: only the first can be -infinity.
  const double* const sorted = space.evaluated.distances;
  return job.may_have_fewer || (isfinite(sorted[0]) && isfinite(sorted[job.k - 1]));
}

struct Work {
  unsigned listed, evaluated;
};
struct Totals {
  unsigned listed, evaluated, n_teams;
};

template <class M, class Shape>
__device__ Work rerank(const M& measure, const RerankJob& job, std::int64_t query, WorkSpace<M, Shape>& space) {
  Team<Shape::kWarps> team(space.team);
  const int listed = job.lists.counts[query];
  const int n = select<M, Shape>(team, job, query, listed, space);
  bool known = n >= (job.may_have_fewer ? 0 : job.k);
  if (known) {
    using D = Distances<M, Shape::kAtOnce>;
#pragma unroll 1
    for (int first = team.warp() * D::kRows; first < n; first += Shape::kWarps * D::kRows) {
      D::compute(measure, job, query, space.rows + first, n - first < D::kRows ? n - first : D::kRows,
                 space.evaluated.terms[team.warp()], space.evaluated.distances + first);
    }
    team.sync();  // all distances are written
    known = write_nearest<M, Shape>(team, job, query, n, space);
  }
  if (team.thread() == 0) job.uncertified[query] = known ? 0 : 1;
  return n < 0 ? Work{} : Work{static_cast<unsigned>(listed) * kGroupRows, static_cast<unsigned>(n)};
}

template <class M, class Shape>
__global__ void __launch_bounds__(Shape::kWarps* Shape::kTeams * 32, Shape::kBlocks)
    rerank_kernel(const M measure, const RerankJob job) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const spaces = reinterpret_cast<WorkSpace<M, Shape>*>(memory);
  __shared__ Totals totals;
  if (threadIdx.x == 0) totals = {};
  __syncthreads();  // totals are zero
  const int team = static_cast<int>(threadIdx.x) / (Shape::kWarps * 32);
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * Shape::kTeams + team;
  Work work{};
  if (query < job.n_queries) work = rerank<M, Shape>(measure, job, query, spaces[team]);
  if (threadIdx.x % (Shape::kWarps * 32) != 0) return;
  // The last team of a block of threads adds for all its teams. Additions of every query to one place in memory would
  // form a queue.
  atomicAdd(&totals.listed, work.listed);
  atomicAdd(&totals.evaluated, work.evaluated);
  __threadfence_block();
  if (atomicAdd(&totals.n_teams, 1U) + 1U != Shape::kTeams) return;
  __threadfence_block();
  atomicAdd(job.n_listed, static_cast<unsigned long long>(atomicAdd(&totals.listed, 0U)));
  atomicAdd(job.n_evaluated, static_cast<unsigned long long>(atomicAdd(&totals.evaluated, 0U)));
}

template <class M, class Shape>
void launch_shape(const RerankJob& job, const M& measure, cudaStream_t stream) {
  constexpr int kBytes = static_cast<int>(sizeof(WorkSpace<M, Shape>)) * Shape::kTeams;
  constexpr int kUnasked = 48 << 10;  // shared memory beyond this must be asked for
  if constexpr (kBytes > kUnasked) {
    stope::cuda::check(
        cudaFuncSetAttribute(rerank_kernel<M, Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "asking for shared memory");
  }
  const auto blocks = static_cast<unsigned>((job.n_queries + Shape::kTeams - 1) / Shape::kTeams);
  rerank_kernel<M, Shape><<<blocks, Shape::kWarps * Shape::kTeams * 32, kBytes, stream>>>(measure, job);
  stope::cuda::check_launch("evaluating distances");
}

template <class M>
struct Rerank {
  static void launch(const RerankJob& job, const void* bytes, cudaStream_t stream) {
    if (job.n_queries == 0) return;
    const M measure = measure_of<M>(bytes);
    if (suits<FewNeighbors>(job)) {
      launch_shape<M, FewNeighbors>(job, measure, stream);
    } else if (suits<UsualNeighbors>(job)) {
      launch_shape<M, UsualNeighbors>(job, measure, stream);
    } else {
      launch_shape<M, ManyNeighbors>(job, measure, stream);
    }
  }
};

}  // namespace

RerankKernel find_rerank_kernel(const cuda_abi::Measure& measure) {
  return find_tensor_kernel<Rerank, RerankKernel>(measure);
}

}  // namespace stope::knn::cuda
