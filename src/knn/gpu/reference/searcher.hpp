// The reference engine on GPUs: the same formulas and the same bits as on the CPU (knn/engine/reference.hpp).
#pragma once

#include <memory>

#include "knn/engine/distance_matrix.hpp"
#include "knn/engine/searcher.hpp"
#include "knn/gpu/reference/held_rows.hpp"

namespace stope::knn {

/// `held`: all training rows as each GPU of the plan has them already, or nothing. They are not copied again then, and
/// a part's rows may be null.
std::unique_ptr<Searcher> make_gpu_reference_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run,
                                                      HeldRows held = {});
std::unique_ptr<DistanceMatrix> make_gpu_reference_matrix(const Fitted& fitted, const Plan& plan,
                                                          const RunOptions& run);

}  // namespace stope::knn
