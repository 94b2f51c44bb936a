// What sorting and searching long columns takes of a GPU's memory (discretize/cuda/long_sorter.hpp, long_level.hpp),
// for those who must know before.
#pragma once

#include <cstdint>

namespace stope::discretize {

/// A block's tile in shared memory. An item, a key and its row, has twice the bytes of the value.
inline constexpr std::int64_t kSortTileBytes = std::int64_t{48} << 10;

/// What passes count, a pass for every byte of a value: tiles taken, digits of columns, and of tiles.
constexpr std::int64_t sort_state_words(std::int64_t n_rows, std::int64_t n_columns, std::int64_t value_bytes) {
  const std::int64_t tile_rows = kSortTileBytes / (2 * value_bytes), n_tiles = (n_rows + tile_rows - 1) / tile_rows;
  return value_bytes * (1 + n_columns * 256 * (1 + n_tiles));
}

/// All of it: items twice, and those counts. Values of 4 or 8 bytes.
constexpr std::int64_t sort_bytes(std::int64_t n_rows, std::int64_t n_columns, std::int64_t value_bytes) {
  return 4 * value_bytes * n_rows * n_columns + 4 * sort_state_words(n_rows, n_columns, value_bytes);
}

/// A warp searches so many positions of a column.
inline constexpr std::int64_t kPieceRows = 1024;

/// Counts of classes, and whether they begin anew, of every piece.
constexpr std::int64_t search_bytes(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_classes) {
  return (n_rows + kPieceRows - 1) / kPieceRows * n_columns * (4 * n_classes + 1);
}

}  // namespace stope::discretize
