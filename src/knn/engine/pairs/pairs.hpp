// Distances of many pairs, computed across pairs: every lane of a register holds the sum of one pair, and the columns
// are added in their order. So the bits are those of the formula (docs/adr/0004-reference-arithmetic.md). Compiled for
// every instruction set: avx2.cpp, avx512.cpp, scalar.cpp.
#pragma once

#include <cstdint>

#include "knn/measure/kernel.hpp"

namespace stope::knn {

/// Training rows as the kernels read them: column by column, and as many as fill the lanes. None lacks a value.
struct RowGroup {
  const double* by_column;  ///< [column * PairKernels::n_rows + row]
  std::int64_t n;           ///< rows whose distances are wanted: at most PairKernels::n_rows
  std::int64_t width;
};

/// Queries of finite numbers and where their results go: out[i * ld + row]. With `negated` these are the similarities.
struct PairQueries {
  const double* rows;  ///< row-major, as wide as the group
  std::int64_t n;
  double* out;
  std::int64_t ld;
  bool negated;
};

struct PairKernels {
  std::int64_t n_rows;  ///< of a group
  /// Writes n rows (row-major) column by column, the last one again behind them until the group is full.
  void (*transpose)(const double* rows, std::int64_t n, std::int64_t width, double* by_column);
  /// Computes the results of every query and every row of the group.
  void (*compute)(const PlainForm& form, const RowGroup& group, const PairQueries& queries);
};

namespace scalar {
extern const PairKernels kPairKernels;
}
namespace avx2 {
extern const PairKernels kPairKernels;
}
namespace avx512 {
extern const PairKernels kPairKernels;
}

}  // namespace stope::knn
