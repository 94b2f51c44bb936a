// What a session needs from the kernels for one kind of table: they sort rows and grow levels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stope/error.hpp"
#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

/// A column's attribute, and whether it holds codes.
struct ColumnKind {
  std::int32_t attribute;
  bool symbolic;
};

class Grower {
 public:
  Grower() = default;
  virtual ~Grower() = default;
  Grower(const Grower&) = delete;
  Grower& operator=(const Grower&) = delete;

  /// Allocates the memory for sorting that many columns at once.
  virtual void reserve(cuda_abi::Type /*type*/, std::int64_t /*n_columns*/) {}
  /// Queues the sort of columns in the GPU's memory. They become the tree's columns from `first` on. All calls use one
  /// stream.
  virtual void sort(cuda_abi::Type type, const void* values, std::int64_t n_columns, std::int64_t first,
                    cudaStream_t stream) = 0;
  /// Call it once all columns are sorted.
  virtual void begin(const std::vector<ColumnKind>& columns) = 0;
  /// These do what cuda_abi::Functions of the same names do.
  virtual std::int64_t grow() = 0;
  virtual std::span<const cuda_abi::Split> look() { throw no_steps(); }
  virtual void mark(const std::uint8_t* /*is_mine*/, const std::uint32_t** /*sides*/,
                    const std::uint32_t** /*right_counts*/) {
    throw no_steps();
  }
  virtual std::int64_t move(const cuda_abi::Split* /*splits*/, const std::uint32_t* /*right_counts*/,
                            const std::uint32_t* /*sides*/) {
    throw no_steps();
  }
  virtual cuda_abi::Splits splits() = 0;  ///< all but sort_seconds

 private:
  static Error no_steps() { return {ErrorCode::internal, "a short table's tree is one GPU's"}; }
};

/// The first is for tables of up to 1024 rows, by discernibility; the second for others.
std::unique_ptr<Grower> make_short_grower(const cuda_abi::Problem& problem);
std::unique_ptr<Grower> make_long_grower(const cuda_abi::Problem& problem);

}  // namespace stope::tree::cuda
