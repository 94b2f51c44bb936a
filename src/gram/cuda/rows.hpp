// The kernels that go through rows: what they are given, and their launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gram/cuda_abi.hpp"
#include "gram/shape.hpp"

namespace stope::gram::cuda {

/// Rows [first, first + n) of the matrix, in the GPU's memory, and what they are multiplied with.
struct RowsJob {
  const void* rows;
  std::int64_t row_stride;  ///< elements
  std::int64_t first, n;
  std::int64_t n_columns;
  GroupRows groups;          ///< of the whole matrix
  std::int64_t first_group;  ///< the one whose sums stand first in `sums`
  std::int64_t first_y;      ///< the row whose number stands first in `y`
  const double* shift;       ///< vectors along the columns have room for whole leaves, and zeros there
  const double* x;
  double* y;     ///< given, or written
  double* sums;  ///< [group][padded column]: taken up where a group began before `first`
};

/// How a GPU is used: what fits its shared memory.
struct Layout {
  int part_leaves;  ///< warps of a block, each with a leaf: a power of two, at most 16
  int ring;         ///< batches of rows in shared memory, 2 or 3
  int multiprocessors;
  int major;                  ///< of the compute capability
  std::int64_t shared_bytes;  ///< that a block may have
};

/// Bytes a warp holds of a batch: two rows of float32, one of float64.
inline constexpr int kBatchBytes = 4096;

Layout layout_of(int gpu);

/// Blocks of threads that are side by side in a row.
std::int64_t n_parts(const Layout& layout, std::int64_t n_columns);

/// z of every group of the rows: A^T (A x) where a row fits a block, A^T y for any width.
void launch_gram_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, cudaStream_t stream);
void launch_transposed_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, cudaStream_t stream);
/// y of the rows; `part_sums` has room for n * n_parts() numbers where that is more than one a row.
void launch_multiply_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, double* part_sums,
                          cudaStream_t stream);

/// Where groups are so short that a block of threads holds a whole one: small matrices.
class ShortGroups {
 public:
  static bool suit(const RowsJob& job, std::int64_t element_bytes, const Layout& layout);
  static void launch(const RowsJob& job, std::int64_t element_bytes, cudaStream_t stream);
};

/// Where a row takes several blocks: they work on it together, and exchange what each has of its product.
class Teams {
 public:
  /// Whether all blocks that a row takes can run at the same time.
  static bool fit(std::int64_t n_columns, std::int64_t element_bytes, const Layout& layout);
  static std::int64_t exchange_bytes(const Layout& layout);
  /// `exchange` has exchange_bytes() on the GPU; it is cleared here.
  static void launch(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, void* exchange,
                     cudaStream_t stream);
};

/// The sums of blocks of `factor` groups (a power of two up to 256): to[block][column] from from[group][column].
void launch_add_groups(const double* from, std::int64_t n_groups, std::int64_t n_columns, int factor,
                       const Layout& layout, double* to, cudaStream_t stream);

}  // namespace stope::gram::cuda
