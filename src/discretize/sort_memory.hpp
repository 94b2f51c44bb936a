// GPU memory that sorting and searching long columns takes (discretize/cuda/long_sorter.hpp, long_level.hpp), for code
// that must know it in advance.
#pragma once

#include <cstdint>

#include "discretize/cuda_abi.hpp"

namespace stope::discretize {

/// A block's tile in shared memory. An item is a key and its row; it has twice the bytes of the value.
inline constexpr std::int64_t kSortTileBytes = std::int64_t{48} << 10;

/// The counters of the passes; a value has one pass per byte. They count tiles taken, digits of columns, and digits of
/// tiles.
constexpr std::int64_t sort_state_words(std::int64_t n_rows, std::int64_t n_columns, std::int64_t value_bytes) {
  const std::int64_t tile_rows = kSortTileBytes / (2 * value_bytes), n_tiles = (n_rows + tile_rows - 1) / tile_rows;
  return value_bytes * (1 + n_columns * 256 * (1 + n_tiles));
}

/// All memory of the sort: items twice, and those counters. Values have 4 or 8 bytes.
constexpr std::int64_t sort_bytes(std::int64_t n_rows, std::int64_t n_columns, std::int64_t value_bytes) {
  return 4 * value_bytes * n_rows * n_columns + 4 * sort_state_words(n_rows, n_columns, value_bytes);
}

/// Columns that stay sorted until they are searched (discretize/cuda/sorted_columns.hpp): their orders, and room for
/// what is found.
constexpr std::int64_t sorted_bytes(std::int64_t n_rows, std::int64_t n_columns) {
  return (n_rows + 31) / 32 * 32 * 9 * n_columns + 32 * (n_columns + 1) +
         cuda_abi::most_set_cuts(n_rows, n_columns) * static_cast<std::int64_t>(sizeof(cuda_abi::SetCut));
}

/// Positions of a column that one warp searches.
inline constexpr std::int64_t kPieceRows = 1024;

/// For every piece: counts of classes, and whether they begin anew.
constexpr std::int64_t search_bytes(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_classes) {
  return (n_rows + kPieceRows - 1) / kPieceRows * n_columns * (4 * n_classes + 1);
}

}  // namespace stope::discretize
