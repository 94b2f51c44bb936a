// The tensor filter has images in bytes where all numbers are small and whole. Scores are then exact, and come at twice
// the rate of halves (docs/adr/0007-tensor-filter.md).
#pragma once

#include "device/backend.hpp"
#include "knn/filter/byte_grid.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/tensor/image_columns.hpp"

namespace stope::knn {

/// What images have in a column.
enum class ImageElement { halves, bytes };

/// Decides, here alone, what the images of a table have on these GPUs. The environment variable
/// STOPE_CUDA_SCAN may say `bytes` (wherever rows and GPUs allow it, also where it does not pay) or `halves`, or name a
/// scan, which are all of halves.
ImageElement choose_image_element(const Fitted& fitted, const ImageMap& map, const device::BackendChoice& backend);

/// One column per attribute of the grid.
ImageColumns make_byte_columns(const ByteGrid& grid);

/// Rows at the start of a block that are compared with the grid.
inline constexpr std::int64_t kGridSample = 64;
/// Whether so many of `n_queries`, of which n are at hand, are beside the grid that images of halves are worth making.
bool many_off_grid(const ByteGrid& grid, const double* rows, std::int64_t n, std::int64_t n_queries);

}  // namespace stope::knn
