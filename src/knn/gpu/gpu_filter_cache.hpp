// The filters of a fitted index on GPUs, made when a search first needs them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "knn/engine/pipeline.hpp"
#include "knn/gpu/gpu_voters.hpp"

namespace stope::knn {

class TensorFilter;      // knn/gpu/tensor/resident_table.hpp
class PlannedClusters;   // knn/gpu/tensor/planned_clusters.hpp
struct PartsHeld;        // knn/gpu/tensor/parts.cpp
class DifferenceFilter;  // knn/gpu/differences/difference_filter.cpp

/// What a difference filter compares queries with.
enum class DifferenceForm { floats, bytes, boxes };

/// The filters of one fitted table. Safe from several threads at once.
class GpuFilterCache {
 public:
  GpuFilterCache();
  ~GpuFilterCache();
  GpuFilterCache(const GpuFilterCache&) = delete;
  GpuFilterCache& operator=(const GpuFilterCache&) = delete;

  /// Returns what `make` returned for a GPU, and keeps it for the next search. `make` gets the filter that exists, to
  /// keep or to replace. Several GPUs may get the table at once; one GPU gets it once.
  std::shared_ptr<TensorFilter> tensor_filter(
      int gpu, const std::function<std::shared_ptr<TensorFilter>(const std::shared_ptr<TensorFilter>&)>& make);
  bool has_tensor_filter(int gpu);
  /// Does the same for the difference filter: there may be one of each form.
  std::shared_ptr<DifferenceFilter> difference_filter(
      int gpu, DifferenceForm form,
      const std::function<std::shared_ptr<DifferenceFilter>(const std::shared_ptr<DifferenceFilter>&)>& make);
  bool has_difference_filter(int gpu, DifferenceForm form);

  /// Returns what the last search of the table in parts left on the GPUs; null if there is nothing. One search at a
  /// time.
  std::shared_ptr<PartsHeld> take_parts();
  void keep_parts(std::shared_ptr<PartsHeld> parts);

  /// Whether the table is in clusters on the GPUs.
  PlannedClusters& clusters() { return *clusters_; }

  /// What the predictors on this table vote with.
  GpuVotersCache& voters() { return voters_; }

  /// Drops everything. What searches under way use goes when they end.
  void release();

  /// Drops the tensor filters and parts, because their images do not meet the need. Those made from now on do.
  void require_images(ImageNeed need);
  bool requires_images(ImageNeed need);

 private:
  struct OnGpu {
    std::mutex mutex;
    std::shared_ptr<TensorFilter> filter;
  };
  OnGpu& on_gpu(int gpu);
  void drop_tensor_filters();

  std::mutex mutex_;
  std::map<int, OnGpu> tensor_;  // per GPU; an element of a map does not move
  std::unique_ptr<PlannedClusters> clusters_;
  std::map<std::pair<int, DifferenceForm>, std::shared_ptr<DifferenceFilter>> differences_;
  std::shared_ptr<PartsHeld> parts_;
  bool required_[2] = {};  // per ImageNeed
  GpuVotersCache voters_;
};

}  // namespace stope::knn
