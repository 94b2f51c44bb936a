// What the CUDA plug-in does for trees: it grows one by any criterion, from rows that each weigh 1.
// device/cuda_abi.hpp says what may cross this border.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"
#include "discretize/cuda_abi.hpp"

namespace stope::tree::cuda_abi {

using discretize::cuda_abi::Score;
using stope::cuda_abi::Failure;

/// Type of a column's values. Codes are not negative.
enum class Type : std::int32_t { float32, float64, code };

/// A root that may be split: it has two or more classes, and each of them has rows. There are fewer than 2^30 rows.
struct Problem {
  const std::uint8_t* classes;  ///< per row
  const std::int64_t* totals;   ///< rows of each class
  std::int64_t n_rows, n_attributes;
  std::int64_t n_columns;  ///< how many of the attributes this session is given
  std::int32_t n_classes;
  std::int64_t max_depth;         ///< nodes of this depth are leaves; the root has depth 0
  std::int64_t min_samples_leaf;  ///< least number of rows of a child
  std::int64_t min_w;             ///< least W, or bits of the least gain, of a split; 1 or more
  Score score;
};

/// What became of a node that might be split.
struct Split {
  std::int64_t w;          ///< its W, or the bits of its gain (discretize/cuda_abi.hpp)
  std::int64_t n_right;    ///< rows of the right child
  std::int64_t low, high;  ///< rows next to the cut, left and right of it; for codes, `low` has the code that goes
                           ///< right
  std::int32_t attribute;  ///< -1: the node is a leaf, and the other members mean nothing
  std::int32_t open;       ///< bit 0: the left child might be split; bit 1: the right one
};

/// All splits of a tree: first the root's, then level by level those of the open nodes, in the order of their parents,
/// left before right.
struct Splits {
  const Split* splits;
  const std::uint32_t* right_counts;  ///< [split][class]: rows of the right child
  std::int64_t n;
  double sort_seconds, grow_seconds;  ///< how long the GPU worked, without copies
};

inline constexpr int kSlots = 2;

/// First every attribute comes, in pieces: while one is copied and sorted, the next is filled. Then the tree grows.
/// Several sessions can grow one tree unless it is short. Each then has some of the attributes,
/// and the calls look, mark and move make every level, instead of grow.
struct Session;

inline constexpr std::int64_t kShortRows = 1024;
constexpr bool is_short(std::int64_t n_rows, Score score) {
  return n_rows <= kShortRows && score == Score::pairs;
}

struct Functions {
  /// Columns are sorted in batches of at most `batch_bytes` bytes, each of one type.
  int (*create)(std::int32_t gpu, const Problem* problem, std::int64_t piece_bytes, std::int64_t batch_bytes,
                Session** session, Failure* failure);
  void (*destroy)(Session* session);
  /// Finds where the caller puts the columns of the next piece: [column][row]. Waits until the slot is free.
  int (*columns)(Session* session, int slot, void** memory, Failure* failure);
  /// `attributes` holds their numbers; each comes once.
  int (*submit)(Session* session, int slot, Type type, const std::int64_t* attributes, std::int64_t n_columns,
                Failure* failure);
  /// Grows some levels. `open_rows` gets the rows of nodes that might still be split; 0: the tree is done.
  int (*grow)(Session* session, std::int64_t* open_rows, Failure* failure);
  /// Finds the best split of every open node by this session's attributes; its attribute is -1 if none has min_w or
  /// more. n_right and open are not known yet. The memory is the session's and valid until the next call of look.
  int (*look)(Session* session, const Split** best, std::int64_t* n, Failure* failure);
  /// Marks the rows of the nodes that are split as this session found; `is_mine` says which nodes. `sides` has a bit
  /// for every row of the table: whether it goes right. `right_counts` has the class counts of right children. The
  /// memory is the session's.
  int (*mark)(Session* session, const std::uint8_t* is_mine, const std::uint32_t** sides,
              const std::uint32_t** right_counts, Failure* failure);
  /// Ends a level: takes the splits of all its nodes, and the class counts and sides of all sessions together.
  int (*move)(Session* session, const Split* splits, const std::uint32_t* right_counts, const std::uint32_t* sides,
              std::int64_t* open_rows, Failure* failure);
  /// Returns the splits of a finished tree. The memory is the session's.
  int (*splits)(Session* session, Splits* splits, Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.tree,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::tree::cuda_abi
