// The inner loops of the additive filter: the interface between the driver and the code compiled for each instruction
// set. It uses plain arrays only, so that nothing of the standard library is compiled with instructions that a machine
// may lack.
#pragma once

#include <cstdint>

#include "knn/engine/scan_kind.hpp"
#include "knn/measure/form.hpp"

namespace stope::knn {

inline constexpr int kScanBlockRows = 64;    ///< training rows of a block: one bit each in a 64-bit mask
inline constexpr int kScanTileQueries = 64;  ///< most query rows in one scan, for the same reason
inline constexpr int kBoxFan = 16;           ///< boxes compared at once (BoxLevel): a vector of floats holds them

/// A training row that the filter could not rule out: row `position % 64` of the visited block `position / 64`.
struct Hit {
  float score;  ///< the filter's sum (or quotient): smaller is likely nearer
  std::int32_t position;
};

inline constexpr std::uint8_t kMissingByte = 0;  ///< of byte differences

/// A row is dropped if a query's sum exceeds alpha * divisor + beta.
struct Cut {
  float alpha;  ///< 0 without a divisor
  float beta;   ///< +infinity drops nothing
  float score;  ///< a hit whose score exceeds this can be dropped later
  float least;  ///< products: a row is dropped below this
  std::int32_t least_bytes;
  std::int32_t most_bytes;  ///< byte differences: a row is dropped above this
  double alpha_bytes;       ///< where values are missing: above alpha_bytes * divisor + beta_bytes
  double beta_bytes;
  float norm;  ///< products: the query's square, in the kind's unit; the score is norm - 2 * product
  float box;   ///< a block is dropped if the sum of the query and the box around it exceeds this
  // Products over what both rows have: a row is dropped below least - half_alpha * w. w is the row's weight, less
  // `lacking`, plus `least_weight` for each column that both lack; but at least `floor`, and at most `weight`.
  float half_alpha, weight, lacking, least_weight, floor;
};

inline constexpr float kNoLimit = __builtin_inff();
inline constexpr Cut kDropNothing = {0.0F, kNoLimit, kNoLimit, -kNoLimit, INT32_MIN, INT32_MAX, 0.0, 1e300,
                                     0.0F, kNoLimit, 0.0F,     1.0F,      0.0F,      0.0F,      1.0F};

/// Images of rows are n_numeric + n_equality floats (NaN = missing). Training images lie in blocks, column by column:
/// blocks[(block * n_columns + column) * 64 + row]. Query images are row-major.
struct Scan {
  std::int64_t n_numeric;
  std::int64_t n_equality;
  const float* mismatch;  ///< per column: the term of a mismatch (numeric, under Missing::mismatch: of a missing value)
  const float* weight;    ///< per column: its share of the divisor
  const float* blocks;
  const float* starts;        ///< products: -|t|^2 / 2 per position
  const std::uint8_t* bytes;  ///< [((block * n_groups + group) * 64 + row) * size + byte] (ByteImages); size: 4 or 8
  const std::int32_t* byte_starts;  ///< products of bytes or nibbles: what `starts` is for floats
  std::int64_t n_groups;
  std::int64_t n_numeric_groups;      ///< byte differences: the columns of all other groups are compared for equality
  const std::uint8_t* byte_mismatch;  ///< byte differences: the term of a mismatch, per byte of a row
  const std::uint8_t* byte_weight;    ///< and its share of the divisor
  std::int64_t n_masked_groups;       ///< byte_products_present: see PresentProducts, also for the next two
  const std::int32_t* gaps;           ///< per query 2 n_groups + 1 numbers (gap_numbers())
  const float* row_weights;           ///< per position
  const std::uint64_t* always;        ///< per block: rows listed whatever their sum
  const float* low;                   ///< boxes around the blocks, as BoxLevel has them; or null
  const float* high;

  const std::int64_t* visit;  ///< numbers of the blocks to scan
  std::int64_t n_visit;
  const float* queries;
  const std::uint8_t* query_bytes;  ///< a group's columns after each other; products: signed; differences: like `bytes`
  std::int64_t n_queries;           ///< at most kScanTileQueries
  const Cut* cuts;
  const float* by_column;  ///< the queries transposed, for the boxes: [column * kScanTileQueries + query], 64-byte
                           ///< aligned
  const float* box_cuts;   ///< kScanTileQueries sums that a box must not exceed, 64-byte aligned

  Hit* hits;  ///< capacity entries per query, enough for every row of the visited blocks
  std::int64_t capacity;
  std::int32_t* n_hits;     ///< per query
  std::int64_t* n_skipped;  ///< sum of the (query, block) pairs that the boxes ruled out
};

using ScanFunction = void (*)(const Scan&);

/// Compares kBoxFan boxes with a point or a box: the sum of the form between the nearest points of the two.
struct BoxScan {
  std::int64_t n_numeric;
  std::int64_t n_equality;
  const float* mismatch;  ///< per column
  const float* from;      ///< per column, the interval of the point (the same as `to`) or box; NaN is at no distance
  const float* to;
  const float* low;  ///< the corners of the boxes, as BoxLevel has them; 64-byte aligned
  const float* high;
  float* sums;  ///< kBoxFan, 64-byte aligned
};

/// Two steps: writes the sums; returns a bit for each of kBoxFan sums that is at most `reach`.
struct BoxFunctions {
  void (*compare)(const BoxScan& scan);
  std::uint32_t (*within)(const float* sums, float reach);
};

/// Compares a query with a block of values (ValueBlocks), in doubles. The sums are those of the formula, bit for bit.
struct ValueFunctions {
  /// Writes the sums of squares of kScanBlockRows rows. Returns a bit for each that is not greater than `cut`.
  std::uint64_t (*squares)(const double* block, const double* query, std::int64_t n_columns, double cut, double* sums);
  /// Returns a bit for each of kScanBlockRows sums that is less than `cut`.
  std::uint64_t (*below)(const double* sums, double cut);
  /// Writes how many of n candidates are nearer than each, by distance and then by row. Behind the last one, for a
  /// register, are infinite distances and INT64_MAX.
  void (*rank)(const double* distances, const std::int64_t* rows, std::int64_t n, std::int32_t* ranks);
};

/// The scan of a form, compiled for one instruction set (<level>.cpp); null where that set has none of the kind. The
/// comparison of boxes for its term.
namespace scalar {
ScanFunction scan(const FilterForm& form, ScanKind kind);
BoxFunctions box_functions(const FilterForm& form);
ValueFunctions value_functions();
}  // namespace scalar
namespace avx2 {
ScanFunction scan(const FilterForm& form, ScanKind kind);
BoxFunctions box_functions(const FilterForm& form);
ValueFunctions value_functions();
}  // namespace avx2
namespace avx512 {
ScanFunction scan(const FilterForm& form, ScanKind kind);
BoxFunctions box_functions(const FilterForm& form);
ValueFunctions value_functions();
}  // namespace avx512
namespace avx512vnni {
ScanFunction scan(const FilterForm& form, ScanKind kind);
BoxFunctions box_functions(const FilterForm& form);
ValueFunctions value_functions();
}  // namespace avx512vnni

}  // namespace stope::knn
