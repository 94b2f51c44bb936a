// Launches of a level's kernels.
#include "tree/cuda/short_tree.hpp"

#include <algorithm>

#include "device/cuda/check.hpp"
#include "tree/cuda/short_scan.cuh"
#include "tree/cuda/short_split.cuh"

namespace stope::tree::cuda {
namespace {

constexpr int kSharedWords = 48 * 1024 / 4;  // what a block has without asking for more

template <class Nodes, int kRows>
void scan(const ShortTree& tree, cudaStream_t stream) {
  const int left = kSharedWords - (tree.orders.n_rows + 1);
  int n_threads = 128;  // fewer where the counts of one node take all
  while (n_threads > 32 && Nodes::words(n_threads, tree.n_classes) > left) n_threads /= 2;
  const int words = Nodes::words(n_threads, tree.n_classes);
  const int n_nodes = std::min(kMostOpen, left / words);
  const auto shared = static_cast<std::size_t>(tree.orders.n_rows + 1 + n_nodes * words) * sizeof(std::uint32_t);
  const auto blocks = static_cast<unsigned>((tree.n_columns + n_threads - 1) / n_threads);
  short_scan_kernel<Nodes, kRows><<<blocks, static_cast<unsigned>(n_threads), shared, stream>>>(tree, n_nodes);
  stope::cuda::check_launch("looking for splits");
}

template <class Nodes>
void scan(const ShortTree& tree, cudaStream_t stream) {
  rows_of_word(tree.orders.n_rows) == 4 ? scan<Nodes, 4>(tree, stream) : scan<Nodes, 2>(tree, stream);
}

}  // namespace

void grow_level(const ShortTree& tree, cudaStream_t stream) {
  tree.n_classes == 2 ? scan<TwoClassNodes>(tree, stream) : scan<ManyClassNodes>(tree, stream);
  short_split_kernel<<<1, kSplitThreads, 0, stream>>>(tree);
  stope::cuda::check_launch("splitting nodes");
}

}  // namespace stope::tree::cuda
