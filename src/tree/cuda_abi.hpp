// What the CUDA plug-in does for trees (device/cuda_abi.hpp says what may cross this border): it grows one by
// discernibility, of rows that weigh 1.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"

namespace stope::tree::cuda_abi {

using stope::cuda_abi::Failure;

/// Of a column's values; codes are not negative.
enum class Type : std::int32_t { float32, float64, code };

/// The root may be split: of its classes, two or more, every one has rows. Fewer than 2^30 rows.
struct Problem {
  const std::uint8_t* classes;  ///< of each row
  const std::int64_t* totals;   ///< rows of each class
  std::int64_t n_rows, n_attributes;
  std::int64_t n_columns;  ///< how many of the attributes this session gets
  std::int32_t n_classes;
  std::int64_t max_depth;         ///< nodes of this depth are leaves; the root has depth 0
  std::int64_t min_samples_leaf;  ///< rows of a child
  std::int64_t min_w;             ///< of a split; 1 or more
};

/// What became of a node that might be split.
struct Split {
  std::int64_t w;
  std::int64_t n_right;    ///< rows
  std::int64_t low, high;  ///< rows next to the cut, left and right of it; of codes: `low` has the code that goes right
  std::int32_t attribute;  ///< -1: it is a leaf, and nothing else here means anything
  std::int32_t open;       ///< bit 0: the left child might be split; bit 1: the right one
};

/// All splits of a tree: first the root's, then those of each next level's open nodes, in the order of their parents,
/// left before right.
struct Splits {
  const Split* splits;
  const std::uint32_t* right_counts;  ///< [split][class]: rows of the right child
  std::int64_t n;
  double sort_seconds, grow_seconds;  ///< of the GPU's work, copies left out
};

inline constexpr int kSlots = 2;

/// First every attribute comes, in pieces: while one is copied and sorted, the next is filled in. Then the tree grows.
/// Of tables of more than kShortRows rows, several sessions can grow one tree: each has some of the attributes, and
/// every level is made by look, mark and move instead of grow.
struct Session;

inline constexpr std::int64_t kShortRows = 1024;

struct Functions {
  /// Columns are sorted in batches of up to so many bytes, of one type each.
  int (*create)(std::int32_t gpu, const Problem* problem, std::int64_t piece_bytes, std::int64_t batch_bytes,
                Session** session, Failure* failure);
  void (*destroy)(Session* session);
  /// Where the columns of the next piece are put: [column][row]. Waits until the slot is free.
  int (*columns)(Session* session, int slot, void** memory, Failure* failure);
  /// `attributes`: their numbers, each comes once.
  int (*submit)(Session* session, int slot, Type type, const std::int64_t* attributes, std::int64_t n_columns,
                Failure* failure);
  /// Grows by some levels. `open_rows`: those of nodes that might be split still; 0: the tree is done.
  int (*grow)(Session* session, std::int64_t* open_rows, Failure* failure);
  /// The best split of every open node by this session's attributes, attribute -1 where there is none of min_w or more;
  /// n_right and open are not known yet. The memory is the session's, until it is called again.
  int (*look)(Session* session, const Split** best, std::int64_t* n, Failure* failure);
  /// Of the nodes that `is_mine` says are split as this session found: a bit for every row of the table, whether it
  /// goes right, and the class counts of right children. The memory is the session's.
  int (*mark)(Session* session, const std::uint8_t* is_mine, const std::uint32_t** sides,
              const std::uint32_t** right_counts, Failure* failure);
  /// The level is done: the splits of all its nodes, class counts and sides of all sessions together.
  int (*move)(Session* session, const Split* splits, const std::uint32_t* right_counts, const std::uint32_t* sides,
              std::int64_t* open_rows, Failure* failure);
  /// Of a tree that is done; the memory is the session's.
  int (*splits)(Session* session, Splits* splits, Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.tree,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::tree::cuda_abi
