#include "gram/cross_product.hpp"

#include <algorithm>
#include <vector>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
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

// An operand, all of whose tiles may be packed for some leaves: then no pair of blocks packs them again.
class Operand {
 public:
  explicit Operand(const PanelSource& source) : source_(source), n_tiles_(checked::ceil_div(source.width(), kTile)) {}
  const PanelSource& source() const { return source_; }

  /// Packs the leaves of rows [begin, end), which begin with a group.
  void pack(std::int64_t begin, std::int64_t end, ThreadPool& pool, const CancelToken& cancel) {
    const std::int64_t n_leaves = checked::ceil_div(end - begin, kLeafRows);
    const std::int64_t size = checked::mul(n_leaves, n_tiles_) * kLeafOfTile;
    if (packed_.size() < size) {
      packed_ = Buffer<double>(size);
      prefer_huge_pages(packed_.data(), static_cast<std::size_t>(size) * sizeof(double));
    }
    first_ = begin;
    constexpr std::int64_t kTogether = 64;  // tiles
    const std::int64_t n_parts = checked::ceil_div(n_tiles_, kTogether);
    pool.parallel_for(n_leaves * n_parts, cancel, [&](std::int64_t task, int) {
      const std::int64_t leaf = task / n_parts, tile = task % n_parts * kTogether, row = begin + leaf * kLeafRows;
      source_.pack_tiles(tile, std::min(kTogether, n_tiles_ - tile), row, std::min(row + kLeafRows, end),
                         packed_.data() + (leaf * n_tiles_ + tile) * kLeafOfTile, kLeafOfTile);
    });
  }
  /// The packed tiles of a block in the rows of a leaf. They are in `scratch` unless pack() has packed them.
  const double* tiles(Blocks blocks, std::int64_t block, std::int64_t begin, std::int64_t end, double* scratch) const {
    const std::int64_t first = block * blocks.tiles;
    if (!packed_.empty()) return packed_.data() + ((begin - first_) / kLeafRows * n_tiles_ + first) * kLeafOfTile;
    source_.pack_tiles(first, blocks.tiles_in(source_, block), begin, end, scratch, kLeafOfTile);
    return scratch;
  }

 private:
  const PanelSource& source_;
  const std::int64_t n_tiles_;
  Buffer<double> packed_;
  std::int64_t first_ = 0;
};

// Both operands; they may be one.
struct Operands {
  Operand& a;
  Operand& b;
  bool are_one() const { return &a == &b; }
  void pack(std::int64_t begin, std::int64_t end, ThreadPool& pool, const CancelToken& cancel) {
    a.pack(begin, end, pool, cancel);
    if (!are_one()) b.pack(begin, end, pool, cancel);
  }
};

// A block that is computed: any, or one on or above the diagonal.
struct Pair {
  std::int64_t a, b;
};

// out (a block) = the sum of one group of rows.
void group_sum(const Operands& operands, Blocks blocks, Pair pair, std::int64_t begin, std::int64_t end,
               Scratch& scratch, double* out) {
  const TileProduct product = tile_product();
  const PanelSource &a = operands.a.source(), &b = operands.b.source();
  const bool same = operands.are_one() && pair.a == pair.b;
  const std::int64_t a_tiles = blocks.tiles_in(a, pair.a), b_tiles = blocks.tiles_in(b, pair.b);
  const auto left = [](const PanelSource& source, std::int64_t tile) { return source.width() - tile * kTile; };
  for (std::int64_t r = 0; r < a_tiles * kTile; ++r) std::fill_n(out + r * blocks.side(), b_tiles * kTile, 0.0);
  for (std::int64_t leaf = begin; leaf < end; leaf += kLeafRows) {
    const std::int64_t leaf_end = std::min(leaf + kLeafRows, end);
    const double* const left_tiles = operands.a.tiles(blocks, pair.a, leaf, leaf_end, scratch.a.data());
    const double* const right_tiles =
        same ? left_tiles : operands.b.tiles(blocks, pair.b, leaf, leaf_end, scratch.b.data());
    // A tile of b stays in the first-level cache for some tiles of a, and these in the second-level cache for all of b.
    constexpr std::int64_t kTogether = 8;
    for (std::int64_t first = 0; first < a_tiles; first += kTogether) {
      for (std::int64_t j = same ? first : 0; j < b_tiles; ++j) {
        const std::int64_t last = std::min(first + kTogether, same ? j + 1 : a_tiles);
        for (std::int64_t i = first; i < std::min(last, a_tiles); ++i) {
          const TileShape shape{std::min(kTile, left(a, pair.a * blocks.tiles + i)),
                                std::min(kTile, left(b, pair.b * blocks.tiles + j)), same && i == j};
          product(left_tiles + i * kLeafOfTile, right_tiles + j * kLeafOfTile, leaf_end - leaf, shape,
                  out + i * kTile * blocks.side() + j * kTile, blocks.side());
        }
      }
    }
  }
}

// Returns the sum of all rows, which is in `own` until it is used again.
const double* block_sum(const Operands& operands, Pair pair, std::int64_t depth, const CancelToken& cancel,
                        BlockScratch& own) {
  if (depth <= kGroupRows) {  // a group is its own tree
    cancel.check();
    group_sum(operands, own.blocks, pair, 0, depth, own.packed, own.group.data());
    return own.group.data();
  }
  own.tree.clear();
  std::fill(own.group.begin(), own.group.end(), 0.0);
  for (std::int64_t begin = 0; begin < depth; begin += kGroupRows) {
    cancel.check();
    group_sum(operands, own.blocks, pair, begin, std::min(begin + kGroupRows, depth), own.packed, own.group.data());
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
  std::int64_t at_once;     // groups that are under way: each has sums of its own
  bool packs_once = false;  // all tiles of the rows under way are packed before the pairs are summed up

  // Where several pairs read a block, it is packed once if the memory that is there for sums holds it.
  static Shares of(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads, bool symmetric) {
    Shares shares = without_packing(a_width, b_width, depth, threads, symmetric);
    shares.packed = shares.packed_size(a_width, b_width, depth, symmetric);
    constexpr std::int64_t kMostPacked = (std::int64_t{64} << 20) / 8;
    shares.packs_once = shares.n_pairs > 1 && shares.packed <= kMostPacked;
    if (!shares.packs_once) shares.packed = 0;
    return shares;
  }
  std::int64_t packed = 0;  // numbers

  std::int64_t packed_size(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, bool symmetric) const {
    const std::int64_t rows = by_pairs ? depth : std::min(depth, at_once * kGroupRows);
    const std::int64_t tiles = checked::ceil_div(a_width, kTile) + (symmetric ? 0 : checked::ceil_div(b_width, kTile));
    return checked::mul(checked::mul(checked::ceil_div(rows, kLeafRows), tiles), kLeafOfTile);
  }

  static Shares without_packing(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads,
                                bool symmetric) {
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
    const std::int64_t scratch =
        packs_once ? packed : checked::mul(2 * std::int64_t{threads}, blocks.tiles * kLeafOfTile);
    return checked::mul(8, checked::add(checked::mul(held, blocks.size()), scratch));
  }
};

// Copies the upper half to the lower one, by squares that the first-level cache holds.
void mirror(double* c, std::int64_t width, ThreadPool& pool, const CancelToken& cancel) {
  constexpr std::int64_t kSide = 32, kThreadsPay = 512;
  const std::int64_t n_strips = checked::ceil_div(width, kSide);
  const auto strip = [&](std::int64_t task) {
    const std::int64_t begin = task * kSide, end = std::min(begin + kSide, width);
    for (std::int64_t first = 0; first < end; first += kSide) {
      for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t j = first; j < std::min(first + kSide, i); ++j) c[i * width + j] = c[j * width + i];
      }
    }
  };
  if (width >= kThreadsPay) return pool.parallel_for(n_strips, cancel, [&](std::int64_t task, int) { strip(task); });
  for (std::int64_t task = 0; task < n_strips; ++task) strip(task);
}

}  // namespace

std::int64_t cross_product_bytes(std::int64_t a_width, std::int64_t b_width, std::int64_t depth, int threads) {
  const std::int64_t any = Shares::of(a_width, b_width, depth, threads, false).bytes(depth, threads);
  if (a_width != b_width) return any;
  return std::max(any, Shares::of(a_width, b_width, depth, threads, true).bytes(depth, threads));
}

namespace {

// Threads share the rows: a task is one group of rows of one pair.
void sum_by_groups(Operands operands, std::int64_t depth, const Shares& shares, const std::vector<Pair>& pairs,
                   ThreadPool& pool, const CancelToken& cancel, const std::function<void(Pair, const double*)>& store,
                   PhaseProgress* progress) {
  const Blocks blocks = shares.blocks;
  const auto n_pairs = std::ssize(pairs);
  const std::int64_t n_groups = checked::ceil_div(depth, kGroupRows), at_once = shares.at_once;
  std::vector<Scratch> scratch;
  scratch.reserve(static_cast<std::size_t>(pool.size()));
  for (int i = 0; i < pool.size(); ++i) scratch.emplace_back(shares.packs_once ? Blocks{0} : blocks);
  Buffer<double> sums(checked::mul(checked::mul(at_once, n_pairs), blocks.size()));
  prefer_huge_pages(sums.data(), static_cast<std::size_t>(sums.size()) * sizeof(double));
  std::fill(sums.begin(), sums.end(), 0.0);  // also what lies beyond a last block
  // Trees of some tiles of rows of a pair each, so that threads share the additions.
  constexpr std::int64_t kRowsOfTree = 4 * kTile;
  const std::int64_t trees_of_pair = checked::ceil_div(blocks.side(), kRowsOfTree);
  const auto part = [&](std::int64_t t) { return t % trees_of_pair * kRowsOfTree * blocks.side(); };
  std::vector<SumTree> trees;
  trees.reserve(static_cast<std::size_t>(n_pairs * trees_of_pair));
  for (const Pair& pair : pairs) {
    const std::int64_t rows = std::min(blocks.side(), operands.a.source().width() - pair.a * blocks.side());
    for (std::int64_t first = 0; first < blocks.side(); first += kRowsOfTree) {
      trees.emplace_back(std::clamp<std::int64_t>(rows - first, 0, kRowsOfTree) * blocks.side());
    }
  }
  for (std::int64_t round = 0; round < n_groups; round += at_once) {
    const std::int64_t n_here = std::min(at_once, n_groups - round);
    if (shares.packs_once) {
      operands.pack(round * kGroupRows, std::min((round + n_here) * kGroupRows, depth), pool, cancel);
    }
    pool.parallel_for(n_here * n_pairs, cancel, [&](std::int64_t task, int worker) {
      const std::int64_t begin = (round + task / n_pairs) * kGroupRows;
      group_sum(operands, blocks, pairs[static_cast<std::size_t>(task % n_pairs)], begin,
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
void sum_by_pairs(Operands operands, std::int64_t depth, const Shares& shares, const std::vector<Pair>& pairs,
                  ThreadPool& pool, const CancelToken& cancel, const std::function<void(Pair, const double*)>& store,
                  PhaseProgress* progress) {
  const auto n_pairs = static_cast<std::int64_t>(pairs.size());
  std::vector<BlockScratch> scratch = block_scratch(pool, shares.blocks);
  if (shares.packs_once) operands.pack(0, depth, pool, cancel);
  const auto rows_done = [&](std::int64_t n) {  // as if the rows were done in turn
    return static_cast<std::int64_t>(static_cast<double>(depth) * static_cast<double>(n) /
                                     static_cast<double>(n_pairs));
  };
  pool.parallel_for(
      n_pairs, cancel,
      [&](std::int64_t task, int worker) {
        const Pair pair = pairs[static_cast<std::size_t>(task)];
        store(pair, block_sum(operands, pair, depth, cancel, scratch[static_cast<std::size_t>(worker)]));
        if (progress != nullptr) progress->add(rows_done(task + 1) - rows_done(task));
      },
      progress);
}

}  // namespace

void cross_product(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                   const CancelToken& cancel, double* c, PhaseProgress* progress) {
  const std::int64_t a_width = a.width(), b_width = b.width();
  const bool symmetric = &a == &b;
  if (depth == 0) {
    std::fill_n(c, checked::mul(a_width, b_width), 0.0);
    return;
  }
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
  Operand left(a), right(b);
  const Operands operands{left, symmetric ? left : right};
  if (shares.by_pairs) {
    sum_by_pairs(operands, depth, shares, pairs, pool, cancel, store, progress);
  } else {
    sum_by_groups(operands, depth, shares, pairs, pool, cancel, store, progress);
  }
  if (symmetric) mirror(c, a_width, pool, cancel);
}

void for_each_block(const PanelSource& a, const PanelSource& b, std::int64_t depth, ThreadPool& pool,
                    const CancelToken& cancel, const std::function<void(const ProductBlock&)>& store,
                    PhaseProgress* progress) {
  const std::int64_t a_width = a.width(), b_width = b.width();
  const std::int64_t b_blocks = kSmallBlocks.of(b_width);
  std::vector<BlockScratch> scratch = block_scratch(pool, kSmallBlocks);
  Operand left(a), right(b);
  const Operands operands{left, &a == &b ? left : right};
  pool.parallel_for(
      kSmallBlocks.of(a_width) * b_blocks, cancel,
      [&](std::int64_t task, int worker) {
        BlockScratch& own = scratch[static_cast<std::size_t>(worker)];
        const std::int64_t a_block = task / b_blocks, b_block = task % b_blocks;
        store({a_block * kBlock, std::min(kBlock, a_width - a_block * kBlock), b_block * kBlock,
               std::min(kBlock, b_width - b_block * kBlock),
               block_sum(operands, {a_block, b_block}, depth, cancel, own)});
        // A block of rows is done when its last block of columns is.
        if (progress != nullptr && b_block + 1 == b_blocks) progress->add(std::min(kBlock, a_width - a_block * kBlock));
      },
      progress);
}

}  // namespace stope::gram
