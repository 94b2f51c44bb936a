// Gives the tensor filter images in bytes where all numbers are small and whole. Scores are then exact, at twice the
// rate of halves (docs/adr/0007-tensor-filter.md).
#pragma once

#include "device/backend.hpp"
#include "knn/filter/byte_grid.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/tensor/image_columns.hpp"

namespace stope::knn {

/// What images have in a column.
enum class ImageElement { halves, bytes };

/// Decides, here alone, what the images of a table consist of on these GPUs. STOPE_CUDA_SCAN may override it. `bytes`
/// means wherever rows and GPUs allow it, even where it does not pay; `halves` or the name of a scan means halves,
/// which all named scans take.
ImageElement choose_image_element(const Fitted& fitted, const ImageMap& map, const device::BackendChoice& backend);

/// Makes one column per attribute of the grid.
ImageColumns make_byte_columns(const ByteGrid& grid);

/// Rows at the start of a block that are compared with the grid.
inline constexpr std::int64_t kGridSample = 64;
/// Whether enough of `n_queries` are off the grid to make images of halves worth it; n of them are at hand.
bool many_off_grid(const ByteGrid& grid, const double* rows, std::int64_t n, std::int64_t n_queries);

}  // namespace stope::knn
