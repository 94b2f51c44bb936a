// Sorts several short columns at a time, one per vector lane, by one network of comparisons: no branch, no shuffle. It
// is compiled once per instruction set (column_network_*.cpp); all of them find the same.
//
// A row of a column becomes a double: its value, whose last bits are replaced by the row's rank among the rows ordered
// by class. Rows ordered by these doubles are ordered by value. The exceptions are drawn together: values that differ
// only in the replaced bits, infinities, missing values and numbers next to zero. `inexact` says that a column has any
// of them.
//
// This file includes only standard headers without code. Else the linker might keep a function that is compiled for
// AVX-512 for an older CPU.
#pragma once

#include <cstdint>

namespace stope::discretize {

inline constexpr std::int64_t kNetworkRows = 1024;  ///< most rows of a column
inline constexpr int kMostLanes = 8;

/// The bits of a sorted word that hold the rank; ranks are below kNetworkRows.
inline constexpr std::uint64_t kRankMask = kNetworkRows - 1;

/// Columns that are sorted together, of doubles or floats. There is one per lane; a column may stand in several lanes.
struct NetworkColumns {
  const void* columns[kMostLanes];
  std::int64_t n;
  const std::uint32_t* ranks;  ///< rank of each row
};

/// Facts about the sorted columns, one bit per lane.
struct NetworkFlags {
  std::uint32_t inexact;  ///< some values may be different although their words are alike
  std::uint32_t ties;     ///< some neighbours have words that differ only in the rank
};

/// For each lane: the highest W of cuts between words that differ above the rank, and the lowest position i that has
/// it. The cut lies between sorted words i and i + 1. The position is -1 where no W > 0.
struct NetworkBest {
  double w[kMostLanes];
  double position[kMostLanes];
};

/// The rows of a column in order, under kPermutations permutations of the labels at a time, without weights.
inline constexpr int kPermutations = 64;
inline constexpr std::int64_t kMostPermutedRows = 65535;  ///< W < 2^31
inline constexpr int kMostPermutedClasses = 16;

struct PermutedColumn {
  const std::uint32_t* rows;
  const std::uint8_t* differs;  ///< whether the next row has another value
  std::int64_t n;
  const std::uint8_t* labels;  ///< labels[r * stride + j]: the label of row r under permutation j
  std::int64_t stride;
  const std::int32_t* totals;  ///< rows of each class
  int n_classes;
};

struct NetworkKernels {
  const char* name;
  int lanes;
  /// Sorts words[n * lanes], aligned to 64, down each lane.
  NetworkFlags (*sort_doubles)(const NetworkColumns& columns, std::uint64_t* words);
  NetworkFlags (*sort_floats)(const NetworkColumns& columns, std::uint64_t* words);
  /// For two classes without weights: ranks below n_first belong to the first class.
  void (*two_classes)(const std::uint64_t* words, std::int64_t n, std::int64_t n_first, NetworkBest& best);
  /// best[kPermutations] gets the highest W of each permutation.
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
