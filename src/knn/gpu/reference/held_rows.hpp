// Training rows that something holds on GPUs already, for the reference to read there.
#pragma once

#include <memory>
#include <vector>

#include "knn/cuda_abi.hpp"

namespace stope::knn {

/// The whole encoded table, once per GPU of a plan, in the order of the plan's GPUs; empty: it is not there.
struct HeldRows {
  std::vector<cuda_abi::LentRows> on_gpus;
  std::vector<std::shared_ptr<const void>> owners;  ///< they keep the rows there
};

}  // namespace stope::knn
