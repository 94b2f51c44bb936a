// Centres of clusters among the rows of a table, for a GPU that leaves tiles out (docs/numerics/filter.md, "Tiles that
// are left out"). Whatever centres are chosen, the answers are the same.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {

struct ClusterCentres {
  std::vector<double> rows;  ///< n x width, encoded
  std::int64_t n = 0;        ///< 0: there are no clusters
  double most_radius = 0.0;  ///< a row farther than this from every centre is in no cluster
};

/// Finds centres in a sample of rows such that most rows lie near one, by squared differences with the attributes'
/// weights. Returns none where rows are no nearer to each other than chance makes them. `forced`: returns some centres
/// whatever the rows are.
ClusterCentres find_centres(const Fitted& fitted, bool forced, ThreadPool& pool, const CancelToken& cancel);

}  // namespace stope::knn
