// What the CUDA plug-in does for discretisation: it finds the best cut of every numeric column, and tries permutations
// of the labels on it; or it finds all cuts of every column by MDLP.
// device/cuda_abi.hpp says what may cross this border.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"

namespace stope::discretize::cuda_abi {

using stope::cuda_abi::Failure;

enum class Type : std::int32_t { float32, float64 };

/// What a cut is worth (discretize/score.hpp): its W, or its gain.
enum class Score : std::int32_t { pairs, gini, entropy };

/// What is looked for: the best cut of every column, that of rows with weights, all its cuts by MDLP
/// (discretize/mdlp_price.hpp), or, again and again, the next cut of md-global among all columns
/// (discretize/md_global.cpp).
enum class Wanted : std::int32_t { best_cut, weighted_cut, mdlp, global };

/// What all columns share. There are 2 to 256 classes, and each of them has rows.
struct Decisions {
  const std::uint8_t* classes;  ///< one per row
  const std::int64_t* totals;   ///< rows of each class
  std::int64_t n_rows;          ///< fewer than 2^30
  std::int32_t n_classes;
  Type type;  ///< type of the columns' values
  /// The classes under permutations of the labels: [permutation][row]. They are read while a session is made. With
  /// permutations, rows are at most 65,535, so that W < 2^31, and the score is `pairs`.
  const std::uint8_t* permuted = nullptr;
  std::int64_t n_permutations = 0;  ///< at most kMostPermutations; 0: none
  Score score = Score::pairs;
  Wanted wanted = Wanted::best_cut;  ///< mdlp: the score is `entropy`; global: `pairs`. Only best_cut has permutations
  std::int64_t most_sorted = 0;  ///< but for best_cut: columns that may be sorted before a search, of several pieces
  /// The weight of each row in kWeightUnit, for weighted_cut and perhaps mdlp and global; then `totals` are sums of
  /// weights. They are above 0, and their sum is below 2^62. Null: 1 each.
  const std::int64_t* weights = nullptr;
};

/// The lowest of the best cuts of a column.
struct Cut {
  /// Its W, or the bits of its gain as a double, which are ordered as the gains are. 0 if no cut has a W or a gain
  /// above 0; or kUndecided. A gain may be no more than rounding.
  std::int64_t w;
  double low, high;          ///< the neighbouring values between which it lies; NaN: missing
  std::int64_t as_good = 0;  ///< permutations under which the best cut has W >= w; no meaning if undecided
};
/// The values of a short column, together with the class, take too many bits: the CPU must find the cut.
inline constexpr std::int64_t kUndecided = -1;

/// One of a column's cuts by MDLP: the rows whose values it lies between. Neither value is missing.
struct SetCut {
  std::uint32_t low_row, high_row;
  std::int32_t column;  ///< counted from the first that was sorted; below 0: this is no cut
};
/// A column with more cuts is left to the CPU.
inline constexpr std::int32_t kMostSetCuts = 255;
/// The cuts that sorted columns have room for together: eight a column, or one for every 16 rows. Columns that come
/// when it is full are left to the CPU.
constexpr std::int64_t most_set_cuts(std::int64_t n_rows, std::int64_t most_sorted) {
  constexpr std::int64_t kOfColumn = 8, kLeast = 4096;
  return kLeast + most_sorted * (n_rows / 16 < kOfColumn ? n_rows / 16 : kOfColumn);
}

/// The lowest of the best cuts of a column with weights: what it is worth, and the rows whose values it lies between.
struct WeightedCut {
  std::uint64_t worth;       ///< the bits of its gain, or the low 64 bits of its W; both 0: no cut has one above 0
  std::uint64_t high_worth;  ///< the others of W
  std::uint32_t low_row, high_row;
};

/// Rows, rows with weights, and columns that md-global takes at most.
inline constexpr std::int64_t kMostGlobalRows = std::int64_t{1} << 13, kMostWeightedGlobalRows = std::int64_t{1} << 11,
                              kMostGlobalColumns = std::int64_t{1} << 25;

/// A row in md-global: its block, its cell (the rows of its class in the block), and how many rows of the block are not
/// in the cell.
struct BlockRow {
  std::uint16_t block, cell;
  std::int32_t others;
};
inline constexpr std::uint16_t kNoBlock = 0xffff;
struct RowBlocks {
  const BlockRow* rows;
  std::int32_t n_blocks, n_cells;
  const std::int64_t* others;  ///< with weights: the weight of each row's block that is not in its cell; else null
};
/// The cut that separates most pairs of rows of different classes within blocks, or most weight of pairs; if equal,
/// that of the lowest column, then the lowest. It lies above the value of a row. 0 pairs: there is none.
struct GlobalBest {
  std::uint64_t pairs, high_pairs;  ///< the low 64 bits, and the others
  std::int64_t column, row;
};

inline constexpr int kSlots = 2;

/// Permutations of a session.
inline constexpr std::int64_t kMostPermutations = std::int64_t{1} << 20;

/// A column of at most this many rows is sorted by one warp.
inline constexpr std::int64_t kShortRows = 1024;

/// Takes pieces of at most `most_columns` columns. While one piece is computed, the next is copied.
struct Session;

struct Functions {
  int (*create)(std::int32_t gpu, const Decisions* decisions, std::int64_t most_columns, Session** session,
                Failure* failure);
  void (*destroy)(Session* session);
  /// Returns where the caller puts the columns of a free slot's piece: [column][row].
  void* (*columns)(Session* session, int slot);
  int (*submit)(Session* session, int slot, std::int64_t n_columns, Failure* failure);
  /// Waits for a slot's piece. `gpu_seconds` is the time in which its cuts were found, without copies.
  int (*collect)(Session* session, int slot, Cut* cuts, double* gpu_seconds, Failure* failure);
  /// For each permutation: the highest W of all columns of the pieces so far, which must be collected. Undecided
  /// columns do not count.
  int (*highest)(Session* session, std::int32_t* highest, Failure* failure);
  /// But for Wanted::best_cut, `collect` only waits until a piece is sorted; its `cuts` is null. For mdlp, this
  /// function cuts all columns that were sorted and collected since it was last called. n_cuts[column]: how many cuts
  /// it has, or kUndecided. The cuts of all columns that are not undecided are among cuts[0 .. n), in any order, until
  /// it is called again.
  int (*cut_sorted)(Session* session, std::int32_t* n_cuts, const SetCut** cuts, std::int64_t* n, double* gpu_seconds,
                    Failure* failure);
  /// For Wanted::global: the next cut among all columns that were sorted and collected.
  int (*next_cut)(Session* session, const RowBlocks* blocks, GlobalBest* best, double* gpu_seconds, Failure* failure);
  /// For Wanted::weighted_cut: the best cuts of all columns that were sorted and collected since it was last called.
  int (*weighted_cuts)(Session* session, WeightedCut* cuts, double* gpu_seconds, Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.discretize,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::discretize::cuda_abi
