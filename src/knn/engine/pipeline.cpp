#include "knn/engine/pipeline.hpp"

#include "stope/error.hpp"

namespace stope::knn {

std::optional<ImageNeed> SearchPipeline::finish_kept(int, Outcome&) {
  throw Error(ErrorCode::internal, "lists that are not kept");
}

void copy_list(const std::vector<Neighbor>& list, const Selection& selection, std::int64_t query, Neighbors& out) {
  const auto k = static_cast<std::size_t>(selection.ks.front());
  auto at = static_cast<std::size_t>(query) * k;
  if (list.size() != k && selection.train_groups == nullptr) throw Error(ErrorCode::internal, "a list is not full");
  for (std::size_t i = 0; i < k; ++i, ++at) {
    out.indices[at] = i < list.size() ? list[i].row : kNoNeighbor;
    out.distances[at] = i < list.size() ? list[i].distance : 0.0;
  }
}

void drop_empty_entries(Neighbors& neighbors) {
  std::size_t kept = 0, at = 0;
  for (std::size_t i = 1; i < neighbors.offsets.size(); ++i) {
    for (const auto end = static_cast<std::size_t>(neighbors.offsets[i]); at < end; ++at) {
      if (neighbors.indices[at] == kNoNeighbor) continue;
      neighbors.indices[kept] = neighbors.indices[at];
      neighbors.distances[kept++] = neighbors.distances[at];
    }
    neighbors.offsets[i] = static_cast<std::int64_t>(kept);
  }
  neighbors.indices.resize(kept);
  neighbors.distances.resize(kept);
}

}  // namespace stope::knn
