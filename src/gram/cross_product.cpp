#include "gram/cross_product.hpp"

#include <algorithm>
#include <vector>

#include "base/checked.hpp"
#include "stope/buffer.hpp"

namespace stope::gram {
namespace {

constexpr std::int64_t kLeafOfTile = kLeafRows * kTile;  // numbers of a packed leaf of a tile

// Blocks of the result that are computed at a time: `tiles` x `tiles`. A block's sums have `tiles` * 16 columns.
struct Blocks {
  std::int64_t tiles;

  std::int64_t side() const { return tiles * kTile; }
  std::int64_t size() const { return side() * side(); }
  std::int64_t of(std::int64_t width) const { return checked::ceil_div(width, side()); }
  std::int64_t tiles_in(const PanelSource& source, std::int64_t block) const {
    return std::min(tiles, checked::ceil_div(source.width(), kTile) - block * tiles);
  }
};

constexpr Blocks kSmallBlocks{kBlock / kTile};

// A worker's memory: the packed leaves of both operands.
struct Scratch {
  explicit Scratch(Blocks blocks) : a(blocks.tiles * kLeafOfTile), b(blocks.tiles * kLeafOfTile) {}
  Buffer<double> a, b;
};

// The same, and the sums of a group and of a block.
struct BlockScratch {
  explicit BlockScratch(Blocks of) : blocks(of), packed(of), group(of.size()), tree(of.size()) {}
  Blocks blocks;
  Scratch packed;
  Buffer<double> group;
  SumTree tree;
};

std::vector<BlockScratch> block_scratch(const ThreadPool& pool, Blocks blocks) {
  std::vector<BlockScratch> scratch;
  scratch.reserve(static_cast<std::size_t>(pool.size()));
  for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(blocks);
  return scratch;
}

void pack_block(const PanelSource& source, Blocks blocks, std::int64_t block, std::int64_t begin, std::int64_t end,
                double* out) {
  for (std::int64_t t = 0; t < blocks.tiles_in(source, block); ++t) {
    source.pack(block * blocks.tiles + t, begin, end, out + t * kLeafOfTile);
  }
}

// A block that is computed: any, or one on or above the diagonal.
struct Pair {
  std::int64_t a, b;
};

// out (a block) = the sum of one group of rows.
void group_sum(const PanelSource& a, const PanelSource& b, Blocks blocks, Pair pair, std::int64_t begin,
               std::int64_t end, Scratch& scratch, double* out) {
  const TileProduct product = tile_product();
  const bool same = &a == &b && pair.a == pair.b;
  const std::int64_t a_tiles = blocks.tiles_in(a, pair.a), b_tiles = blocks.tiles_in(b, pair.b);
  const auto left = [](const PanelSource& source, std::int64_t tile) { return source.width() - tile * kTile; };
  for (std::int64_t r = 0; r < a_tiles * kTile; ++r) std::fill_n(out + r * blocks.side(), b_tiles * kTile, 0.0);
  for (std::int64_t leaf = begin; leaf < end; leaf += kLeafRows) {
    const std::int64_t leaf_end = std::min(leaf + kLeafRows, end);
    pack_block(a, blocks, pair.a, leaf, leaf_end, scratch.a.data());
    if (!same) pack_block(b, blocks, pair.b, leaf, leaf_end, scratch.b.data());
    const double* const right = same ? scratch.a.data() : scratch.b.data();
    // A tile of b stays in the first-level cache for some tiles of a, and these in the second-level cache for all of b.
    constexpr std::int64_t kTogether = 8;
    for (std::int64_t first = 0; first < a_tiles; first += kTogether) {
      for (std::int64_t j = same ? first : 0; j < b_tiles; ++j) {
        const std::int64_t last = std::min(first + kTogether, same ? j + 1 : a_tiles);
        for (std::int64_t i = first; i < std::min(last, a_tiles); ++i) {
          const TileShape shape{std::min(kTile, left(a, pair.a * blocks.tiles + i)),
                                std::min(kTile, left(b, pair.b * blocks.tiles + j)), same && i == j};
          product(scratch.a.data() + i * kLeafOfTile, right + j * kLeafOfTile, leaf_end - leaf, shape,
                  out + i * kTile * blocks.side() + j * kTile, blocks.side());
        }
      }
    }
  }
}

// Returns the sum of all rows, which is in `own` until it is used again.
const double* block_sum(const PanelSource& a, const PanelSource& b, Pair pair, std::int64_t depth,
                        const CancelToken& cancel, BlockScratch& own) {
  if (depth <= kGroupRows) {  // a group is its own tree
    cancel.check();
    group_sum(a, b, own.blocks, pair, 0, depth, own.packed, own.group.data());
    return own.group.data();
  }
  own.tree.clear();
  std::fill(own.group.begin(), own.group.end(), 0.0);
  for (std::int64_t begin = 0; begin < depth; begin += kGroupRows) {
    cancel.check();
    group_sum(a, b, own.blocks, pair, begin, std::min(begin + kGroupRows, depth), own.packed, own.group.data());
    own.tree.push(own.group.data());
  }
  return own.tree.finish();
}

std::vector<Pair> block_pairs(std::int64_t a_blocks, std::int64_t b_blocks, bool symmetric) {
  std::vector<Pair> pairs;
  pairs.reserve(static_cast<std::size_t>(a_blocks * b_blocks));
  for (std::int64_t i = 0; i < a_blocks; ++i) {
    for (std::int64_t j = symmetric ? i : 0; j < b_blocks; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

// How a product is shared out.
//
// With many pairs a task sums up a whole pair. Then each worker has one tree, and the trees of all pairs are never in
// memory together. Else a task is a group of rows of a pair. A block is packed once a pair. So blocks are as large as
// leaves enough tasks and fits the memory, at best one for all. Where one side has few columns, small blocks hold less
// that is never used.
struct Shares {
  Blocks blocks;
  std::int64_t n_pairs;
  bool by_pairs;
  std::int64_t at_once;  // groups that are under way: each has sums of its own

  static Shares of(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads, bool symmetric) {
    constexpr std::int64_t kMostTiles = 32, kTasksPerThread = 8;
    constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
    const std::int64_t n_groups = checked::ceil_div(depth, kGroupRows);
    const std::int64_t enough = threads == 1 ? 1 : kTasksPerThread * threads;
    const std::int64_t all_tiles = checked::ceil_div(std::max(a_width, b_width), kTile);
    const std::int64_t least_tiles = checked::ceil_div(std::min(a_width, b_width), kTile);
    const bool wide = least_tiles > kMostTiles;
    // A decomposition needs twice the result afterwards: so much is there.
    const std::int64_t most_bytes = std::max(kMostBytes, checked::mul(16, checked::mul(a_width, b_width)));
    const bool lopsided = !wide && (all_tiles > kMostTiles || least_tiles < kSmallBlocks.tiles);
    for (std::int64_t n_blocks = 1;; ++n_blocks) {
      const std::int64_t tiles = lopsided ? 0 : checked::ceil_div(all_tiles, n_blocks);
      const Blocks blocks{std::max(tiles, kSmallBlocks.tiles)};
      const bool small = blocks.tiles == kSmallBlocks.tiles;
      const std::int64_t a_blocks = blocks.of(a_width), b_blocks = blocks.of(b_width);
      const std::int64_t n_pairs = symmetric ? a_blocks * (a_blocks + 1) / 2 : checked::mul(a_blocks, b_blocks);
      const std::int64_t tasks = (small ? 4 : 2) * std::int64_t{threads};
      const std::int64_t at_once = std::clamp<std::int64_t>(
          checked::ceil_div(tasks, std::max<std::int64_t>(n_pairs, 1)), 1, std::max<std::int64_t>(n_groups, 1));
      if (small) return {blocks, n_pairs, n_pairs >= kTasksPerThread * threads, at_once};
      const std::int64_t levels = wide ? SumTree::most_levels(n_groups) : 0;
      const bool by_pairs = wide && n_pairs >= kTasksPerThread * threads;
      const std::int64_t held = by_pairs ? threads * (levels + 1) : checked::mul(at_once + levels, n_pairs);
      const std::int64_t packed = wide ? 2 * threads * blocks.tiles * kLeafOfTile : 0;
      if (checked::mul(8, checked::add(checked::mul(held, blocks.size()), packed)) > most_bytes) continue;
      if (by_pairs || n_pairs * n_groups >= enough) return {blocks, n_pairs, by_pairs, at_once};
    }
  }

  // Besides the result.
  std::int64_t bytes(std::int64_t depth, int threads) const {
    const std::int64_t levels = SumTree::most_levels(checked::ceil_div(depth, kGroupRows));
    const std::int64_t held = by_pairs ? checked::mul(threads, levels + 1) : checked::mul(at_once + levels, n_pairs);
    return checked::mul(8, checked::add(checked::mul(held, blocks.size()),
                                        checked::mul(2 * std::int64_t{threads}, blocks.tiles * kLeafOfTile)));
  }
};

void mirror(double* c, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    for (std::int64_t j = 0; j < i; ++j) c[i * width + j] = c[j * width + i];
  }
}

}  // namespace

std::int64_t cross_product_bytes(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads) {
  const std::int64_t any = Shares::of(a_width, b_width, depth, threads, false).bytes(depth, threads);
  if (a_width != b_width) return any;
  return std::max(any, Shares::of(a_width, b_width, depth, threads, true).bytes(depth, threads));
}

namespace {

// Threads share the rows: a task is one group of rows of one pair.
void sum_by_groups(const PanelSource& a, const PanelSource& b, std::int64_t depth, const Shares& shares,
                   const std::vector<Pair>& pairs, ThreadPool& pool, const CancelToken& cancel,
                   const std::function<void(Pair, const double*)>& store, PhaseProgress* progress) {
  const Blocks blocks = shares.blocks;
  const auto n_pairs = std::ssize(pairs);
  const std::int64_t n_groups = checked::ceil_div(depth, kGroupRows), at_once = shares.at_once;
  std::vector<Scratch> scratch;
  scratch.reserve(static_cast<std::size_t>(pool.size()));
  for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(blocks);
  Buffer<double> sums(checked::mul(checked::mul(at_once, n_pairs), blocks.size()));
  std::fill(sums.begin(), sums.end(), 0.0);  // also what lies beyond a last block
  // Trees of some tiles of rows of a pair each, so that threads share the additions.
  constexpr std::int64_t kRowsOfTree = 4 * kTile;
  const std::int64_t trees_of_pair = checked::ceil_div(blocks.side(), kRowsOfTree);
  const auto part = [&](std::int64_t t) { return t % trees_of_pair * kRowsOfTree * blocks.side(); };
  std::vector<SumTree> trees;
  trees.reserve(static_cast<std::size_t>(n_pairs * trees_of_pair));
  for (const Pair& pair : pairs) {
    const std::int64_t rows = std::min(blocks.side(), a.width() - pair.a * blocks.side());
    for (std::int64_t first = 0; first < blocks.side(); first += kRowsOfTree) {
      trees.emplace_back(std::clamp<std::int64_t>(rows - first, 0, kRowsOfTree) * blocks.side());
    }
  }
  for (std::int64_t round = 0; round < n_groups; round += at_once) {
    const std::int64_t n_here = std::min(at_once, n_groups - round);
    pool.parallel_for(n_here * n_pairs, cancel, [&](std::int64_t task, int worker) {
      const std::int64_t begin = (round + task / n_pairs) * kGroupRows;
      group_sum(a, b, blocks, pairs[static_cast<std::size_t>(task % n_pairs)], begin,
                std::min(begin + kGroupRows, depth), scratch[static_cast<std::size_t>(worker)],
                sums.data() + task * blocks.size());
    });
    pool.parallel_for(std::ssize(trees), cancel, [&](std::int64_t t, int) {
      const double* const first = sums.data() + t / trees_of_pair * blocks.size() + part(t);
      for (std::int64_t g = 0; g < n_here; ++g) {
        trees[static_cast<std::size_t>(t)].push(first + g * n_pairs * blocks.size());
      }
    });
    if (progress != nullptr) progress->add(std::min(n_here * kGroupRows, depth - round * kGroupRows));
  }
  // Once the trees are done, there is room for their sums.
  pool.parallel_for(n_pairs, cancel, [&](std::int64_t p, int) {
    double* const whole = sums.data() + p * blocks.size();
    for (std::int64_t t = p * trees_of_pair; t < (p + 1) * trees_of_pair; ++t) {
      SumTree& tree = trees[static_cast<std::size_t>(t)];
      std::copy_n(tree.finish(), tree.size(), whole + part(t));
    }
    store(pairs[static_cast<std::size_t>(p)], whole);
  });
}

// Threads share the pairs: a task is one pair down all rows.
void sum_by_pairs(const PanelSource& a, const PanelSource& b, std::int64_t depth, Blocks blocks,
                  const std::vector<Pair>& pairs, ThreadPool& pool, const CancelToken& cancel,
                  const std::function<void(Pair, const double*)>& store, PhaseProgress* progress) {
  const auto n_pairs = static_cast<std::int64_t>(pairs.size());
  std::vector<BlockScratch> scratch = block_scratch(pool, blocks);
  const auto rows_done = [&](std::int64_t n) {  // as if the rows were done in turn
    return static_cast<std::int64_t>(static_cast<double>(depth) * static_cast<double>(n) /
                                     static_cast<double>(n_pairs));
  };
  pool.parallel_for(
      n_pairs, cancel,
      [&](std::int64_t task, int worker) {
        const Pair pair = pairs[static_cast<std::size_t>(task)];
        store(pair, block_sum(a, b, pair, depth, cancel, scratch[static_cast<std::size_t>(worker)]));
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
  const Shares shares = Shares::of(a_width, b_width, depth, pool.size(), symmetric);
  const std::int64_t side = shares.blocks.side();
  const std::vector<Pair> pairs = block_pairs(shares.blocks.of(a_width), shares.blocks.of(b_width), symmetric);
  const auto store = [&](Pair pair, const double* from) {
    const std::int64_t rows = std::min(side, a_width - pair.a * side);
    const std::int64_t columns = std::min(side, b_width - pair.b * side);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::copy_n(from + i * side, columns, c + (pair.a * side + i) * b_width + pair.b * side);
    }
  };
  if (shares.by_pairs) {
    sum_by_pairs(a, b, depth, shares.blocks, pairs, pool, cancel, store, progress);
  } else {
    sum_by_groups(a, b, depth, shares, pairs, pool, cancel, store, progress);
  }
  if (symmetric) mirror(c, a_width);
}

void for_each_block(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                    const CancelToken& cancel, const std::function<void(const ProductBlock&)>& store,
                    PhaseProgress* progress) {
  const std::int64_t a_width = a.width(), b_width = b.width();
  const std::int64_t b_blocks = kSmallBlocks.of(b_width);
  std::vector<BlockScratch> scratch = block_scratch(pool, kSmallBlocks);
  pool.parallel_for(
      kSmallBlocks.of(a_width) * b_blocks, cancel,
      [&](std::int64_t task, int worker) {
        BlockScratch& own = scratch[static_cast<std::size_t>(worker)];
        const std::int64_t a_block = task / b_blocks, b_block = task % b_blocks;
        store({a_block * kBlock, std::min(kBlock, a_width - a_block * kBlock), b_block * kBlock,
               std::min(kBlock, b_width - b_block * kBlock), block_sum(a, b, {a_block, b_block}, depth, cancel, own)});
        // A block of rows is done when its last block of columns is.
        if (progress != nullptr && b_block + 1 == b_blocks) progress->add(std::min(kBlock, a_width - a_block * kBlock));
      },
      progress);
}

}  // namespace stope::gram
