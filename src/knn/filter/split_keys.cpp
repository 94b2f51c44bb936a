#include "knn/filter/split_keys.hpp"

#include <algorithm>
#include <vector>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

// Two keys of a sample that enclose key number m, most likely.
struct Fence {
  SplitKey low = 0, high = ~SplitKey{0};
};

Fence fence_around(const SplitKey* keys, std::int64_t n, std::int64_t m) {
  constexpr std::int64_t kMany = 8192, kSome = 512, kMostSampled = 256;
  SplitKey sample[kMostSampled];
  const std::int64_t size = n >= kMany ? kMostSampled : n > kSome ? 64 : 32;
  const std::int64_t around = n >= kMany ? 20 : n > kSome ? 8 : 6;  // at least two standard deviations of a rank
  const std::int64_t step = n / size, rank = m * size / n;
  for (std::int64_t i = 0; i < size; ++i) sample[i] = keys[i * step];
  std::sort(sample, sample + size);
  Fence fence;
  if (rank >= around) fence.low = sample[rank - around];
  if (rank + around < size) fence.high = sample[rank + around];
  return fence;
}

/// How many keys lie below a fence and in it.
struct Sizes {
  std::int64_t below = 0, inside = 0;
};

// Copies the keys in a fence, and counts those below it. There are no branches to mispredict: every key is written to
// the end of the copies, which grow only by those in the fence.
Sizes copy_inside(const SplitKey* keys, std::int64_t n, const Fence& fence, SplitKey* inside) {
  Sizes sizes;
  for (std::int64_t i = 0; i < n; ++i) {
    const SplitKey key = keys[i];
    inside[sizes.inside] = key;
    sizes.below += key < fence.low ? 1 : 0;
    sizes.inside += key >= fence.low && key < fence.high ? 1 : 0;
  }
  return sizes;
}

// Does so in tasks, and puts the copies of all together.
Sizes copy_all_inside(const SplitKey* keys, std::int64_t n, const Fence& fence, SplitKey* inside,
                      const RunTasks& run_tasks) {
  std::vector<Sizes> of_task(static_cast<std::size_t>(checked::ceil_div(n, kKeysPerTask)));
  run_tasks(std::ssize(of_task), [&](std::int64_t task) {
    const std::int64_t begin = task * kKeysPerTask;
    of_task[static_cast<std::size_t>(task)] =
        copy_inside(keys + begin, std::min(kKeysPerTask, n - begin), fence, inside + begin);
  });
  Sizes sizes;
  for (std::size_t task = 0; task < of_task.size(); ++task) {
    std::copy_n(inside + static_cast<std::int64_t>(task) * kKeysPerTask, of_task[task].inside, inside + sizes.inside);
    sizes.below += of_task[task].below;
    sizes.inside += of_task[task].inside;
  }
  return sizes;
}

}  // namespace

SplitKey key_number(const SplitKey* keys, std::int64_t n, std::int64_t m, SplitKey* spare, const RunTasks& run_tasks) {
  constexpr std::int64_t kFew = 96;
  std::int64_t n_left = n, number = m;  // of the keys in `spare`
  if (n > kFew) {
    const Sizes sizes = copy_all_inside(keys, n, fence_around(keys, n, m), spare, run_tasks);
    n_left = sizes.inside;
    number = m - sizes.below;
  }
  if (n <= kFew || number < 0 || number >= n_left) {  // few keys, or a sample that says too little
    std::copy_n(keys, n, spare);
    n_left = n;
    number = m;
  }
  std::nth_element(spare, spare + number, spare + n_left);
  return spare[number];
}

}  // namespace stope::knn
