// The kernels that go through rows: their parameters and their launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gram/cuda_abi.hpp"
#include "gram/shape.hpp"

namespace stope::gram::cuda {

using cuda_abi::kMostNarrowColumns;
using cuda_abi::kStripColumns;
using cuda_abi::sum_columns;

/// Rows [first, first + n) of the matrix, in the GPU's memory, and the vectors they are multiplied with.
struct RowsJob {
  const void* rows;
  std::int64_t row_stride;  ///< elements
  std::int64_t first, n;
  std::int64_t n_columns;
  GroupRows groups;          ///< of the whole matrix
  std::int64_t first_group;  ///< the group whose sums stand first in `sums`
  std::int64_t first_y;      ///< the row whose number stands first in `y`
  const double* shift;       ///< vectors along the columns have room for whole leaves, and zeros there
  const double* x;
  double* y;     ///< input or output
  double* sums;  ///< [group][sum_columns()]; a group that began before `first` continues its sums

  /// The groups that the rows belong to: the first, and how many.
  std::int64_t begin_group() const { return groups.group_of(first); }
  std::int64_t n_own_groups() const { return groups.group_of(first + n - 1) + 1 - begin_group(); }
};

/// Shared memory that the kernels hold besides the ring or the rows.
inline constexpr int kReservedBytes = 10 * 1024;

/// How a GPU is used, within its shared memory.
struct Layout {
  int block_leaves;  ///< warps of a block, with one leaf each: a power of two, at most 16
  int ring;          ///< batches of rows in shared memory, 2 or 3
  int multiprocessors;
  int major;                  ///< of the compute capability
  std::int64_t shared_bytes;  ///< most that a block may have
};

/// Bytes that a warp holds of a batch: two leaves of float32, one of float64, or narrow rows.
inline constexpr int kBatchBytes = 4096;

Layout layout_of(int gpu);

/// Blocks of threads that one row is divided among.
std::int64_t n_parts(const Layout& layout, std::int64_t n_columns);

/// Computes z of every group of the rows: A^T (A x) where a row fits a block, A^T y for any width.
void launch_gram_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, cudaStream_t stream);
void launch_transposed_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, cudaStream_t stream);
/// Computes y of the rows. `part_sums` has room for n * n_parts() numbers where a row has more than one part.
void launch_multiply_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, double* part_sums,
                          cudaStream_t stream);

/// For small matrices, whose groups are so short that a block of threads holds a whole one.
class ShortGroups {
 public:
  static bool suit(const RowsJob& job, std::int64_t element_bytes, const Layout& layout);
  static void launch(const RowsJob& job, std::int64_t element_bytes, cudaStream_t stream);
};

/// For rows so short that a warp multiplies several at once.
class NarrowRows {
 public:
  static bool suit(const RowsJob& job);
  static void launch(cuda_abi::Mode mode, const RowsJob& job, std::int64_t element_bytes, const Layout& layout,
                     cudaStream_t stream);
};

/// For rows that take several blocks. The blocks work on a row together, and exchange their parts of its product.
class Teams {
 public:
  /// Whether all blocks that a row takes can run at the same time.
  static bool fit(std::int64_t n_columns, std::int64_t element_bytes, const Layout& layout);
  static std::int64_t exchange_bytes();
  /// `exchange` points to exchange_bytes() on the GPU; what is used of it is cleared here.
  static void launch(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, void* exchange,
                     cudaStream_t stream);
};

/// Adds `factor` groups at a time (a power of two up to 256): to[block][column] from from[group][column].
void launch_add_groups(const double* from, std::int64_t n_groups, std::int64_t n_columns, int factor,
                       const Layout& layout, double* to, cudaStream_t stream);

}  // namespace stope::gram::cuda
