// Images of training rows in blocks, column by column (scan.hpp). Whoever needs them takes them block by block: to keep
// them, or to round them to whole steps while they are in the cache.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "knn/filter/image_map.hpp"
#include "knn/filter/row_mapper.hpp"

namespace stope::knn {

/// The rows of a training table (or a part of it), and how they become images.
struct ImageSource {
  const RowMapper& mapper;
  const TrainPart& part;
  std::int64_t width;
  const TrainImages& images;
  const FloatBlocks& made;  ///< all blocks, or none

  const ImageMap& map() const { return mapper.image_map(); }
  std::int64_t n_slots() const { return images.n_blocks * kScanBlockRows; }
};

/// Calls use(number, block, always) for every block, in parallel. `always`: the rows that are always listed. Behind the
/// last row, images are missing.
using UseBlock = std::function<void(std::int64_t number, const float* block, std::uint64_t always)>;
void for_each_block(const ImageSource& source, ThreadPool& pool, const CancelToken& cancel, const UseBlock& use);

/// Makes all blocks.
FloatBlocks make_float_blocks(const ImageSource& source, ThreadPool& pool, const CancelToken& cancel);

}  // namespace stope::knn
