// Short columns sorted several at a time, one a vector lane, by one network of comparisons: no branch, no shuffle.
// Compiled once an instruction set (column_network_*.cpp); every level finds the same.
//
// A row of a column becomes a double: its value, whose last bits hold the row's rank among the rows ordered by class.
// Ordered by these doubles, rows are ordered by value, but for values that differ in the bits taken away, infinities,
// missing ones and numbers next to zero, which are drawn together: `inexact` says that a column has any such.
//
// No standard library beyond what has no code in here: a function that is compiled for AVX-512 must never be the one
// the linker keeps for an older processor.
#pragma once

#include <cstdint>

namespace stope::discretize {

inline constexpr std::int64_t kNetworkRows = 1024;  ///< n of a column at most
inline constexpr int kMostLanes = 8;

/// The rank's bits of a sorted word; ranks are below kNetworkRows.
inline constexpr std::uint64_t kRankMask = kNetworkRows - 1;

/// Columns to sort together: as many as there are lanes (a column may stand in several), of doubles or floats.
struct NetworkColumns {
  const void* columns[kMostLanes];
  std::int64_t n;
  const std::uint32_t* ranks;  ///< of each row
};

/// What is known of the columns once they are sorted, a bit a lane.
struct NetworkFlags {
  std::uint32_t inexact;  ///< holds values that the words do not tell apart for sure
  std::uint32_t ties;     ///< neighbours have equal words but for the rank
};

/// Per lane: the highest W of cuts between words that differ before the rank, and the lowest position i (the cut
/// lies between sorted words i and i + 1) that has it; -1 where no W > 0.
struct NetworkBest {
  double w[kMostLanes];
  double position[kMostLanes];
};

/// A column's rows in order under kPermutations permutations of the labels at a time, without weights.
inline constexpr int kPermutations = 64;
inline constexpr std::int64_t kMostPermutedRows = 65535;  ///< W < 2^31
inline constexpr int kMostPermutedClasses = 16;

struct PermutedColumn {
  const std::uint32_t* rows;
  const std::uint8_t* differs;  ///< whether the next row's value is another
  std::int64_t n;
  const std::uint8_t* labels;  ///< of row r under permutation j: labels[r * stride + j]
  std::int64_t stride;
  const std::int32_t* totals;  ///< rows of each class
  int n_classes;
};

struct NetworkKernels {
  const char* name;
  int lanes;
  /// words[n * lanes], aligned to 64: sorted down each lane.
  NetworkFlags (*sort_doubles)(const NetworkColumns& columns, std::uint64_t* words);
  NetworkFlags (*sort_floats)(const NetworkColumns& columns, std::uint64_t* words);
  /// Two classes without weights: ranks below n_first are of the first.
  void (*two_classes)(const std::uint64_t* words, std::int64_t n, std::int64_t n_first, NetworkBest& best);
  /// best[kPermutations]: the highest W of each permutation.
  void (*permuted)(const PermutedColumn& column, std::int32_t* best);
};

namespace scalar {
extern const NetworkKernels kNetworkKernels;
}
namespace avx2 {
extern const NetworkKernels kNetworkKernels;
}
namespace avx512 {
extern const NetworkKernels kNetworkKernels;
}

}  // namespace stope::discretize
