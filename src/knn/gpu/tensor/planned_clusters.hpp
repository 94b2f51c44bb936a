// The clusters of one fitted table on the GPUs that hold it. STOPE_BLOCK_ORDER says whether there are any, and where it
// is not set, the plan does (cluster_plan.hpp). Searches leave tiles out in clusters; their answers are the same.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "knn/gpu/tensor/cluster_centres.hpp"
#include "knn/gpu/tensor/cluster_plan.hpp"

namespace stope::knn {

class TensorFilter;       // knn/gpu/tensor/resident_table.hpp
struct TensorFilterSpec;  // knn/gpu/tensor/resident_table.hpp

/// Safe from several threads at once.
class PlannedClusters {
 public:
  using Filters = std::vector<std::shared_ptr<TensorFilter>>;  // per GPU

  struct Search {
    std::int64_t n_queries;
    bool may_leave_tiles_out;  ///< it wants the k nearest rows, few enough
    int threads;
  };
  /// Call it before the first batch of a search: makes clusters, or drops them.
  void begin(const Filters& filters, const TensorFilterSpec& spec, const Fitted& fitted, const Search& search,
             const RunOptions& run);
  /// Call it between blocks of queries: drops clusters that leave out too little, by the answers that have come so far.
  void review(const Filters& filters);
  /// What the clusters take on each GPU now.
  static std::int64_t bytes(const Filters& filters, const TensorFilterSpec& spec);
  /// One clause for --explain, after begin(). Empty where images of this kind have no clusters.
  std::string reason(const Filters& filters) const;

 private:
  enum class Order { planned, table, near };
  static Order order();
  void follow(ClusterPlan& plan, const Filters& filters, const TensorFilterSpec& spec, const Fitted& fitted,
              int threads, const RunOptions& run);
  bool look(const Fitted& fitted, bool forced, int threads, const RunOptions& run);
  bool make(const Filters& filters, const RunOptions& run) const;

  mutable std::mutex mutex_;
  std::optional<ClusterPlan> plan_;
  ClusterCentres centres_;
};

}  // namespace stope::knn
