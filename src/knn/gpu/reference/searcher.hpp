// The reference engine on GPUs: the same formulas and the same bits as on the CPU (knn/engine/reference.hpp).
#pragma once

#include <memory>

#include "knn/engine/distance_matrix.hpp"
#include "knn/engine/searcher.hpp"

namespace stope::knn {

std::unique_ptr<Searcher> make_gpu_reference_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);
std::unique_ptr<DistanceMatrix> make_gpu_reference_matrix(const Fitted& fitted, const Plan& plan,
                                                          const RunOptions& run);

}  // namespace stope::knn
