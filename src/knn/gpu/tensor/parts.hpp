// The tensor filter for training tables that do not fit a GPU. It searches them part by part.
#pragma once

#include <memory>

#include "knn/engine/pipeline.hpp"
#include "knn/gpu/tensor/resident_table.hpp"

namespace stope::knn {

class ImageMap;

/// A GPU holds the part that it searches and the one after.
inline constexpr int kHeldParts = cuda_abi::kTensorBuffers;

struct PartSizes {
  std::int64_t rows = 0;   ///< rows of a part; 0 if only parts fit that are too short to be worth copying
  std::int64_t batch = 0;  ///< queries at once
  ListRoom lists = ListRoom::usual;
  ImageElement element = ImageElement::halves;
};

/// Returns sizes such that two parts and a batch of queries fit every GPU of the choice. The less a batch needs, the
/// longer are the parts. The environment variable STOPE_DEVICE_ROWS shortens them (for tests).
PartSizes plan_part_sizes(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                          const device::BackendChoice& backend, const RunOptions& run);

/// Returns what the plug-in is told about such parts.
TensorFilterSpec parts_spec(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                            const PartSizes& sizes);

/// Whether an earlier search left parts on the GPUs that serve this one. Frees them if they do not.
bool parts_are_held(const Fitted& fitted, std::int64_t k, std::int64_t n_queries, const device::BackendChoice& backend);

std::unique_ptr<SearchPipeline> make_tensor_filter_parts(const Fitted& fitted, const Plan& plan,
                                                         const Selection& selection, std::int64_t n_queries,
                                                         const RunOptions& run);

}  // namespace stope::knn
