// The choices of a filter: how it compares images, and in which order rows lie in blocks. The scans compiled for each
// instruction set read these enumerations (knn/filter/scan/scan.hpp), so they use no standard library.
#pragma once

namespace stope::knn {

/// How images are compared. `differences`, in floats, takes any form. Products take squares of numbers where none is
/// missing: of floats, of nibbles (two columns a byte) or of bytes. Byte differences take absolute terms: numbers and
/// mismatches. `byte_differences` is for tables where nothing is missing; `byte_differences_present` compares only what
/// both rows have. `byte_products_present` are products of bytes over the columns that both rows have. Without VNNI,
/// products of bytes are added in pairs, in 16 bits, and a query's bytes are limited so that they fit.
enum class ScanKind {
  differences,
  products,
  nibble_products,
  byte_products,
  byte_pair_products,
  byte_differences,
  byte_differences_present,
  byte_products_present
};
inline constexpr int kScanKinds = 8;

/// Whether images are whole numbers in bytes, one or two in each.
constexpr bool in_bytes(ScanKind kind) {
  return kind >= ScanKind::nibble_products;
}

/// Whether it takes products of whole numbers in which no value is missing.
constexpr bool whole_products(ScanKind kind) {
  return kind == ScanKind::nibble_products || kind == ScanKind::byte_products || kind == ScanKind::byte_pair_products;
}

/// How rows are ordered in blocks: as in the table (RapidMiner's heap must see them so), or so that near rows share a
/// block.
enum class BlockOrder { table, near };

/// How queries find near blocks. The queries of a tile go together: a block is read once for all of them, and
/// everything within reach of one of them is looked at. Or each query goes its own way through the boxes, and reads
/// only what it needs itself.
enum class Visit { tiles, queries };

}  // namespace stope::knn
