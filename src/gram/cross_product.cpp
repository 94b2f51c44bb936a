#include "gram/cross_product.hpp"

#include <algorithm>
#include <vector>

#include "base/checked.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {
namespace {

constexpr std::int64_t kTiles = kBlock / kTile;
constexpr std::int64_t kTileValues = kTile * kTile;

// A worker's memory: the packed leaves of both operands.
struct Scratch {
  Buffer<double> a{kTiles * kLeafRows * kTile}, b{kTiles * kLeafRows * kTile};
};

// The same, and the sums of a group and of a block.
struct BlockScratch {
  Scratch packed;
  Buffer<double> group{kBlock * kBlock};
  SumTree tree{kBlock * kBlock};
};

std::int64_t tiles_in(const PanelSource& source, std::int64_t block) {
  return std::min(kTiles, checked::ceil_div(source.width(), kTile) - block * kTiles);
}

void pack_block(const PanelSource& source, std::int64_t block, std::int64_t begin, std::int64_t end, double* out) {
  for (std::int64_t t = 0; t < tiles_in(source, block); ++t) {
    source.pack(block * kTiles + t, begin, end, out + t * kLeafRows * kTile);
  }
}

// out (kBlock x kBlock) = the sum of one group of rows.
void group_sum(const PanelSource& a, std::int64_t a_block, const PanelSource& b, std::int64_t b_block,
               std::int64_t begin, std::int64_t end, Scratch& scratch, double* out) {
  const TileProduct product = tile_product();
  const bool same = &a == &b && a_block == b_block;
  const std::int64_t a_tiles = tiles_in(a, a_block), b_tiles = tiles_in(b, b_block);
  std::fill(out, out + kBlock * kBlock, 0.0);
  alignas(64) double tile[kTileValues];
  for (std::int64_t leaf = begin; leaf < end; leaf += kLeafRows) {
    const std::int64_t leaf_end = std::min(leaf + kLeafRows, end);
    pack_block(a, a_block, leaf, leaf_end, scratch.a.data());
    if (!same) pack_block(b, b_block, leaf, leaf_end, scratch.b.data());
    const double* const right = same ? scratch.a.data() : scratch.b.data();
    for (std::int64_t i = 0; i < a_tiles; ++i) {
      for (std::int64_t j = same ? i : 0; j < b_tiles; ++j) {
        product(scratch.a.data() + i * kLeafRows * kTile, right + j * kLeafRows * kTile, leaf_end - leaf, tile);
        double* const to = out + i * kTile * kBlock + j * kTile;
        for (std::int64_t r = 0; r < kTile; ++r) {
          for (std::int64_t c = 0; c < kTile; ++c) to[r * kBlock + c] += tile[r * kTile + c];
        }
      }
    }
  }
}

// Returns the sum of all rows, which is in `own` until it is used again.
const double* block_sum(const PanelSource& a, std::int64_t a_block, const PanelSource& b, std::int64_t b_block,
                        std::int64_t depth, const CancelToken& cancel, BlockScratch& own) {
  own.tree.clear();
  for (std::int64_t begin = 0; begin == 0 || begin < depth; begin += kGroupRows) {
    cancel.check();
    group_sum(a, a_block, b, b_block, begin, std::min(begin + kGroupRows, depth), own.packed, own.group.data());
    own.tree.push(own.group.data());
  }
  return own.tree.finish();
}

std::int64_t blocks_of(std::int64_t width) {
  return checked::ceil_div(width, kBlock);
}

// A block that is computed: any, or one on or above the diagonal.
struct Pair {
  std::int64_t a, b;
};

std::vector<Pair> block_pairs(std::int64_t a_blocks, std::int64_t b_blocks, bool symmetric) {
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i < a_blocks; ++i) {
    for (std::int64_t j = symmetric ? i : 0; j < b_blocks; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

// Whether there are so many pairs that a task sums up a whole one. Then each worker has one tree, and the trees of all
// pairs are never in memory together. With fewer pairs the threads share the rows.
bool by_pairs(std::int64_t n_pairs, int threads) {
  return n_pairs >= 8 * std::int64_t{threads};
}

// Groups that are under way at once: enough tasks for the threads, but no more, since each group has sums of its own.
std::int64_t groups_at_once(std::int64_t n_pairs, std::int64_t n_groups, int threads) {
  return std::clamp<std::int64_t>(checked::ceil_div(4 * std::int64_t{threads}, std::max<std::int64_t>(n_pairs, 1)), 1,
                                  std::max<std::int64_t>(n_groups, 1));
}

void mirror(double* c, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    for (std::int64_t j = 0; j < i; ++j) c[i * width + j] = c[j * width + i];
  }
}

}  // namespace

std::int64_t cross_product_bytes(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads) {
  const std::int64_t n_pairs = checked::mul(blocks_of(a_width), blocks_of(b_width));
  const std::int64_t n_groups = checked::ceil_div(depth, kGroupRows);
  const std::int64_t levels = SumTree::most_levels(n_groups);
  const std::int64_t half = (n_pairs + 1) / 2;  // as many as a symmetric product computes
  const std::int64_t blocks = by_pairs(half, threads)
                                  ? checked::mul(threads, levels + 1)
                                  : checked::mul(groups_at_once(half, n_groups, threads) + levels, n_pairs);
  const std::int64_t scratch = 2 * kTiles * kLeafRows * kTile;
  return checked::mul(8, checked::add(checked::mul(blocks, kBlock * kBlock), checked::mul(threads, scratch)));
}

namespace {

// Threads share the rows: a task is one group of rows of one pair.
void sum_by_groups(const PanelSource& a, const PanelSource& b, std::int64_t depth, const std::vector<Pair>& pairs,
                   ThreadPool& pool, const CancelToken& cancel, const std::function<void(Pair, const double*)>& store,
                   PhaseProgress* progress) {
  const auto n_pairs = static_cast<std::int64_t>(pairs.size());
  const std::int64_t n_groups = checked::ceil_div(depth, kGroupRows);
  const std::int64_t at_once = groups_at_once(n_pairs, n_groups, pool.size());
  std::vector<Scratch> scratch(static_cast<std::size_t>(pool.size()));
  Buffer<double> sums(checked::mul(checked::mul(at_once, n_pairs), kBlock * kBlock));
  std::vector<SumTree> trees;  // one for each pair: its rows, with the columns of a whole block
  trees.reserve(pairs.size());
  for (const Pair& pair : pairs) trees.emplace_back(kBlock * std::min(kBlock, a.width() - pair.a * kBlock));

  for (std::int64_t round = 0; round < n_groups; round += at_once) {
    const std::int64_t n_here = std::min(at_once, n_groups - round);
    pool.parallel_for(n_here * n_pairs, cancel, [&](std::int64_t task, int worker) {
      const Pair pair = pairs[static_cast<std::size_t>(task % n_pairs)];
      const std::int64_t begin = (round + task / n_pairs) * kGroupRows;
      group_sum(a, pair.a, b, pair.b, begin, std::min(begin + kGroupRows, depth),
                scratch[static_cast<std::size_t>(worker)], sums.data() + task * kBlock * kBlock);
    });
    pool.parallel_for(n_pairs, cancel, [&](std::int64_t p, int) {
      SumTree& tree = trees[static_cast<std::size_t>(p)];
      for (std::int64_t g = 0; g < n_here; ++g) tree.push(sums.data() + (g * n_pairs + p) * kBlock * kBlock);
    });
    if (progress != nullptr) progress->add(std::min(n_here * kGroupRows, depth - round * kGroupRows));
  }
  pool.parallel_for(n_pairs, cancel, [&](std::int64_t p, int) {
    store(pairs[static_cast<std::size_t>(p)], trees[static_cast<std::size_t>(p)].finish());
  });
}

// Threads share the pairs: a task is one pair down all rows.
void sum_by_pairs(const PanelSource& a, const PanelSource& b, std::int64_t depth, const std::vector<Pair>& pairs,
                  ThreadPool& pool, const CancelToken& cancel, const std::function<void(Pair, const double*)>& store,
                  PhaseProgress* progress) {
  const auto n_pairs = static_cast<std::int64_t>(pairs.size());
  std::vector<BlockScratch> scratch(static_cast<std::size_t>(pool.size()));
  const auto rows_done = [&](std::int64_t n) {  // as if the rows were done in turn
    return static_cast<std::int64_t>(static_cast<double>(depth) * static_cast<double>(n) /
                                     static_cast<double>(n_pairs));
  };
  pool.parallel_for(
      n_pairs, cancel,
      [&](std::int64_t task, int worker) {
        const Pair pair = pairs[static_cast<std::size_t>(task)];
        store(pair, block_sum(a, pair.a, b, pair.b, depth, cancel, scratch[static_cast<std::size_t>(worker)]));
        if (progress != nullptr) progress->add(rows_done(task + 1) - rows_done(task));
      },
      progress);
}

}  // namespace

void cross_product(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                   const CancelToken& cancel, double* c, PhaseProgress* progress) {
  const std::int64_t a_width = a.width(), b_width = b.width();
  const bool symmetric = &a == &b;
  std::fill(c, c + checked::mul(a_width, b_width), 0.0);
  if (depth == 0) return;
  const std::vector<Pair> pairs = block_pairs(blocks_of(a_width), blocks_of(b_width), symmetric);
  const auto store = [&](Pair pair, const double* from) {
    const std::int64_t rows = std::min(kBlock, a_width - pair.a * kBlock);
    const std::int64_t columns = std::min(kBlock, b_width - pair.b * kBlock);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::copy_n(from + i * kBlock, columns, c + (pair.a * kBlock + i) * b_width + pair.b * kBlock);
    }
  };
  const auto sum = by_pairs(static_cast<std::int64_t>(pairs.size()), pool.size()) ? sum_by_pairs : sum_by_groups;
  sum(a, b, depth, pairs, pool, cancel, store, progress);
  if (symmetric) mirror(c, a_width);
}

void for_each_block(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                    const CancelToken& cancel, const std::function<void(const ProductBlock&)>& store,
                    PhaseProgress* progress) {
  const std::int64_t a_width = a.width(), b_width = b.width();
  const std::int64_t b_blocks = blocks_of(b_width);
  std::vector<BlockScratch> scratch(static_cast<std::size_t>(pool.size()));
  pool.parallel_for(
      blocks_of(a_width) * b_blocks, cancel,
      [&](std::int64_t task, int worker) {
        BlockScratch& own = scratch[static_cast<std::size_t>(worker)];
        const std::int64_t a_block = task / b_blocks, b_block = task % b_blocks;
        store({a_block * kBlock, std::min(kBlock, a_width - a_block * kBlock), b_block * kBlock,
               std::min(kBlock, b_width - b_block * kBlock), block_sum(a, a_block, b, b_block, depth, cancel, own)});
        // A block of rows is done when its last block of columns is.
        if (progress != nullptr && b_block + 1 == b_blocks) progress->add(std::min(kBlock, a_width - a_block * kBlock));
      },
      progress);
}

}  // namespace stope::gram
