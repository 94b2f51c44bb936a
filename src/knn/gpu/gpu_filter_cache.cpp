#include "knn/gpu/gpu_filter_cache.hpp"

#include <vector>

#include "knn/gpu/tensor/planned_clusters.hpp"

namespace stope::knn {

GpuFilterCache::GpuFilterCache() : clusters_(std::make_unique<PlannedClusters>()) {}
GpuFilterCache::~GpuFilterCache() = default;

std::shared_ptr<TensorFilter> GpuFilterCache::tensor_filter(
    int gpu, const std::function<std::shared_ptr<TensorFilter>(const std::shared_ptr<TensorFilter>&)>& make) {
  OnGpu& there = on_gpu(gpu);
  const std::scoped_lock lock(there.mutex);
  there.filter = make(there.filter);
  return there.filter;
}

GpuFilterCache::OnGpu& GpuFilterCache::on_gpu(int gpu) {
  const std::scoped_lock lock(mutex_);
  return tensor_[gpu];
}

bool GpuFilterCache::has_tensor_filter(int gpu) {
  OnGpu& there = on_gpu(gpu);
  const std::scoped_lock lock(there.mutex);
  return there.filter != nullptr;
}

void GpuFilterCache::require_images(ImageNeed need) {
  {
    const std::scoped_lock lock(mutex_);
    required_[static_cast<int>(need)] = true;
  }
  drop_tensor_filters();
}

void GpuFilterCache::release() {
  drop_tensor_filters();
  voters_.release();
  const std::scoped_lock lock(mutex_);
  differences_.clear();
}

void GpuFilterCache::drop_tensor_filters() {
  std::vector<OnGpu*> gpus;
  {
    const std::scoped_lock lock(mutex_);
    parts_ = nullptr;
    for (auto& [gpu, there] : tensor_) gpus.push_back(&there);
  }
  for (OnGpu* there : gpus) {
    const std::scoped_lock lock(there->mutex);
    there->filter = nullptr;
  }
}

bool GpuFilterCache::requires_images(ImageNeed need) {
  const std::scoped_lock lock(mutex_);
  return required_[static_cast<int>(need)];
}

std::shared_ptr<PartsHeld> GpuFilterCache::take_parts() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(parts_, nullptr);
}

void GpuFilterCache::keep_parts(std::shared_ptr<PartsHeld> parts) {
  const std::scoped_lock lock(mutex_);
  parts_ = std::move(parts);
}

std::shared_ptr<DifferenceFilter> GpuFilterCache::difference_filter(
    int gpu, DifferenceForm form,
    const std::function<std::shared_ptr<DifferenceFilter>(const std::shared_ptr<DifferenceFilter>&)>& make) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<DifferenceFilter>& filter = differences_[{gpu, form}];
  filter = make(filter);
  return filter;
}

bool GpuFilterCache::has_difference_filter(int gpu, DifferenceForm form) {
  const std::scoped_lock lock(mutex_);
  const auto found = differences_.find({gpu, form});
  return found != differences_.end() && found->second != nullptr;
}

}  // namespace stope::knn
