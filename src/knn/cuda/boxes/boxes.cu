#include "device/cuda/check.hpp"
#include "knn/cuda/boxes/boxes.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 256;

__device__ float missing_float() {
  return __int_as_float(0x7fffffff);
}
__device__ float infinite_float() {
  return __int_as_float(0x7f800000);
}

__global__ void __launch_bounds__(kThreads) row_image_kernel(const RowImageJob job) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= job.n) return;
  const std::int64_t n_columns = job.form.n_numeric + job.form.n_equality;
  float* const image = job.images + row * n_columns;
  const double residual =
      put_image(job.form, job.rows + row * job.width, [&](std::int64_t c, float value) { image[c] = value; });
  if (is_missing(residual)) {
    for (std::int64_t c = 0; c < n_columns; ++c) image[c] = missing_float();
  }
  job.residuals[row] = is_missing(residual) ? missing_float() : round_up(residual);
}

__global__ void __launch_bounds__(kThreads) hide_kernel(const HideJob job) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= job.n || job.residuals[row] <= job.most_residual) return;
  for (int c = 0; c < job.n_columns; ++c) job.images[row * job.n_columns + c] = missing_float();
}

struct Interval {
  float low, high;
};

// Returns the interval around those of all lanes. A missing value is at no distance from any other: it opens the
// interval.
__device__ Interval joined(float low, float high) {
  if (low != low) low = -infinite_float();
  if (high != high) high = infinite_float();
  for (int other = 16; other > 0; other /= 2) {
    low = fminf(low, __shfl_xor_sync(0xffffffffU, low, other));
    high = fmaxf(high, __shfl_xor_sync(0xffffffffU, high, other));
  }
  return {low, high};
}
__device__ std::int32_t least(std::int32_t row) {
  for (int other = 16; other > 0; other /= 2) row = min(row, __shfl_xor_sync(0xffffffffU, row, other));
  return row;
}

// One warp a leaf.
__global__ void __launch_bounds__(kThreads) leaf_kernel(const LeafJob job) {
  const std::int64_t leaf = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (leaf >= job.shape.n_leaves()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t place = job.shape.begin(job.shape.depth, leaf) + lane;
  const bool there = place < job.shape.begin(job.shape.depth, leaf + 1);
  const std::int32_t row = there ? job.order[place] : kNoLeafRow;
  job.near_rows[leaf * kLeafRows + lane] = row;
  for (int a = 0; a < job.width; ++a) {
    job.near[(leaf * job.width + a) * kLeafRows + lane] =
        there ? job.train[static_cast<std::int64_t>(row) * job.width + a] : 0.0;
  }
  const std::int64_t group = leaf / kGroupBoxes, box = leaf % kGroupBoxes;
  for (int c = 0; c < job.n_columns; ++c) {
    const float value = there ? job.images[static_cast<std::int64_t>(row) * job.n_columns + c] : 0.0F;
    const Interval all = joined(there ? value : infinite_float(), there ? value : -infinite_float());
    if (lane == 0) {
      job.boxes.low[(group * job.n_columns + c) * kGroupBoxes + box] = all.low;
      job.boxes.high[(group * job.n_columns + c) * kGroupBoxes + box] = all.high;
    }
  }
  const std::int32_t first = least(there ? row : INT32_MAX);
  if (lane == 0) job.boxes.first_rows[leaf] = first;
}

// One warp a group of the level below: it puts a box around the group's boxes.
__global__ void __launch_bounds__(kThreads) level_kernel(const BoxLevels boxes, int level, int n_columns) {
  const std::int64_t number = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (number >= boxes.n_boxes[level]) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t below = boxes.first_group[level - 1] + number;
  const bool there = number * kGroupBoxes + lane < boxes.n_boxes[level - 1];
  const std::int64_t group = boxes.first_group[level] + number / kGroupBoxes, box = number % kGroupBoxes;
  for (int c = 0; c < n_columns; ++c) {
    const std::int64_t from = (below * n_columns + c) * kGroupBoxes + lane;
    const Interval all =
        joined(there ? boxes.low[from] : infinite_float(), there ? boxes.high[from] : -infinite_float());
    if (lane == 0) {
      boxes.low[(group * n_columns + c) * kGroupBoxes + box] = all.low;
      boxes.high[(group * n_columns + c) * kGroupBoxes + box] = all.high;
    }
  }
  const std::int32_t first = least(there ? boxes.first_rows[below * kGroupBoxes + lane] : INT32_MAX);
  if (lane == 0) boxes.first_rows[group * kGroupBoxes + box] = first;
}

__global__ void __launch_bounds__(kThreads) home_kernel(const HomeJob job) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (query >= job.n) return;
  const float* const image = job.images + query * job.n_columns;
  std::int64_t node = 1;
  for (int level = 0; level < job.shape.depth; ++level) {
    const Split split = job.splits[node];
    node = 2 * node + (number_key(image[split.column]) >= split.key ? 1 : 0);
  }
  job.keys[query] = static_cast<std::uint64_t>(node - job.shape.n_leaves());
  job.values[query] = static_cast<std::int32_t>(query);
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(checked::ceil_div(threads, kThreads));
}

}  // namespace

BoxLevels BoxLevels::over(std::int64_t n_leaves) {
  BoxLevels boxes{};
  std::int64_t groups = 0;
  for (std::int64_t n = n_leaves;; n = checked::ceil_div(n, kGroupBoxes)) {
    boxes.n_boxes[boxes.n_levels] = n;
    boxes.first_group[boxes.n_levels] = groups;
    ++boxes.n_levels;
    groups += checked::ceil_div(n, kGroupBoxes);
    if (n <= kGroupBoxes) return boxes;
  }
}

std::int64_t BoxLevels::n_groups() const {
  return first_group[n_levels - 1] + 1;
}

void launch_row_images(const RowImageJob& job, cudaStream_t stream) {
  if (job.n == 0) return;
  row_image_kernel<<<blocks_for(job.n), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("making images");
}

void launch_hide(const HideJob& job, cudaStream_t stream) {
  hide_kernel<<<blocks_for(job.n), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("hiding images");
}

void launch_boxes(const LeafJob& job, cudaStream_t stream) {
  leaf_kernel<<<blocks_for(job.shape.n_leaves() * 32), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("making leaves");
  for (int level = 1; level < job.boxes.n_levels; ++level) {
    level_kernel<<<blocks_for(job.boxes.n_boxes[level] * 32), kThreads, 0, stream>>>(job.boxes, level, job.n_columns);
    stope::cuda::check_launch("making boxes");
  }
}

void launch_homes(const HomeJob& job, cudaStream_t stream) {
  if (job.n == 0) return;
  home_kernel<<<blocks_for(job.n), kThreads, 0, stream>>>(job);
  stope::cuda::check_launch("finding leaves");
}

}  // namespace stope::knn::cuda
