// The choices a filter has: how it compares images, and in which order rows lie in blocks. Plain enumerations without
// the standard library, because the scans compiled for each instruction set read them too (knn/filter/scan/scan.hpp).
#pragma once

namespace stope::knn {

/// How images are compared. Differences in floats take any form. Inner products take squares of numbers, none missing;
/// byte differences absolute terms, numbers and mismatches: `byte_differences` where nothing is missing,
/// `byte_differences_present` where something is, which compares what both rows have.
enum class ScanKind { differences, products, byte_products, byte_differences, byte_differences_present };
inline constexpr int kScanKinds = 5;

constexpr bool in_bytes(ScanKind kind) {
  return kind >= ScanKind::byte_products;
}

/// How rows are ordered in blocks: as the table has them (RapidMiner's heap must see them so), or such that near rows
/// share a block.
enum class BlockOrder { table, near };

}  // namespace stope::knn
