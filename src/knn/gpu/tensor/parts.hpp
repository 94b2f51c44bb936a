// The tensor filter for training tables that do not fit a GPU: part by part.
#pragma once

#include <memory>

#include "knn/engine/pipeline.hpp"
#include "knn/gpu/tensor/resident_table.hpp"

namespace stope::knn {

class ImageMap;

/// A GPU holds the part that it searches and the one after.
inline constexpr int kHeldParts = cuda_abi::kTensorBuffers;

struct PartSizes {
  std::int64_t rows = 0;   ///< of a part; 0 if only parts so short fit that they are not worth copying
  std::int64_t batch = 0;  ///< queries at once
  ListRoom lists = ListRoom::usual;
  ImageElement element = ImageElement::halves;
};

/// Parts of which two fit every GPU of the choice, beside what a batch of queries needs: the less that is, the longer
/// the parts. The environment variable STOPE_DEVICE_ROWS shortens them (for tests).
PartSizes plan_part_sizes(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                          const device::BackendChoice& backend, const RunOptions& run);

/// What the plug-in is told of such parts.
TensorFilterSpec parts_spec(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                            const PartSizes& sizes);

/// Whether an earlier search left parts on the GPUs that will do for this one; lets go of them if they will not.
bool parts_are_held(const Fitted& fitted, std::int64_t k, std::int64_t n_queries, const device::BackendChoice& backend);

std::unique_ptr<SearchPipeline> make_tensor_filter_parts(const Fitted& fitted, const Plan& plan,
                                                         const Selection& selection, std::int64_t n_queries,
                                                         const RunOptions& run);

}  // namespace stope::knn
