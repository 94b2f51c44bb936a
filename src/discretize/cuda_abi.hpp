// What the CUDA plug-in does for discretisation (device/cuda_abi.hpp says what may cross this border): the best cut of
// every numeric column, by discernibility.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"

namespace stope::discretize::cuda_abi {

using stope::cuda_abi::Failure;

enum class Type : std::int32_t { float32, float64 };

/// What all columns share. Every class has rows; there are two or more, at most 256.
struct Decisions {
  const std::uint8_t* classes;  ///< of each row
  const std::int64_t* totals;   ///< rows of each class
  std::int64_t n_rows;          ///< fewer than 2^30
  std::int32_t n_classes;
  Type type;  ///< of the columns' values
};

/// The lowest of the best cuts of a column.
struct Cut {
  std::int64_t w;    ///< its W; 0: no cut separates anything; kUndecided
  double low, high;  ///< the neighbouring values that it lies between; NaN: missing
};
/// Of a short column, the values take too many bits together with the class: the processor must look.
inline constexpr std::int64_t kUndecided = -1;

inline constexpr int kSlots = 2;

/// Columns of up to so many rows are sorted by a warp each.
inline constexpr std::int64_t kShortRows = 1024;

/// Pieces of up to so many columns: while one is computed, the next is copied.
struct Session;

struct Functions {
  int (*create)(std::int32_t gpu, const Decisions* decisions, std::int64_t most_columns, Session** session,
                Failure* failure);
  void (*destroy)(Session* session);
  /// Where the columns of a free slot's piece are put: [column][row].
  void* (*columns)(Session* session, int slot);
  int (*submit)(Session* session, int slot, std::int64_t n_columns, Failure* failure);
  /// Waits for a slot's piece. `gpu_seconds`: what finding its cuts took, copies left out.
  int (*collect)(Session* session, int slot, Cut* cuts, double* gpu_seconds, Failure* failure);
};
static_assert(stope::cuda_abi::kFunctionsIn<Functions> == stope::cuda_abi::kTableSizes.discretize,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::discretize::cuda_abi
