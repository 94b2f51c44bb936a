// Copies of short training rows, encoded, in the order of their positions. Near rows then share cache lines and pages
// when their distances are computed.
#pragma once

#include "knn/filter/image_map.hpp"

namespace stope::knn {

/// Row by row, for distances of some rows.
struct NearRows {
  static constexpr std::int64_t kMostColumns = 8;
  Buffer<double> rows;
};
NearRows make_near_rows(const TrainImages& images, const TrainPart& part, std::int64_t width, ThreadPool& pool,
                        const CancelToken& cancel);

/// In blocks, column by column: values[(block * width + column) * kScanBlockRows + row]. The distances of all rows of a
/// block are computed at once, in vectors. Behind the last row, values are infinite.
struct ValueBlocks {
  static constexpr std::int64_t kMostColumns = 6;
  Buffer<double> values;
};
ValueBlocks make_value_blocks(const TrainImages& images, const TrainPart& part, std::int64_t width, ThreadPool& pool,
                              const CancelToken& cancel);

}  // namespace stope::knn
