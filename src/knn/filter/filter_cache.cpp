#include "knn/filter/filter_cache.hpp"

#include "base/checked.hpp"

namespace stope::knn {

void add_missing_images(FilterIndex& index, const std::shared_ptr<const ImageMap>& map, const TrainPart& part,
                        std::int64_t width, BlockOrder order, ScanKind kind, bool missing_in_bytes, ThreadPool& pool,
                        const CancelToken& cancel) {
  if (index.images == nullptr) {
    index.map = map;
    index.images = std::make_shared<const TrainImages>(make_train_images(*map, part, width, order, pool, cancel));
  }
  const std::int64_t n_columns = map->n_columns();
  const bool takes_missing = kind == ScanKind::byte_differences && missing_in_bytes;
  index.kind = fits(*map, kind) && (takes_missing || !index.images->missing) ? kind : ScanKind::differences;
  if (index.kind == ScanKind::products && index.floats == nullptr) {
    index.floats = std::make_shared<const FloatProducts>(make_float_products(*index.images, n_columns, pool, cancel));
  }
  if (in_bytes(index.kind) && index.bytes == nullptr) {
    index.bytes = std::make_shared<const ByteImages>(make_byte_images(*index.images, *map, kind, pool, cancel));
  }
}

FilterIndex FilterCache::whole(const std::shared_ptr<const ImageMap>& map, const TrainPart& part, std::int64_t width,
                               BlockOrder order, ScanKind kind, bool missing_in_bytes, ThreadPool& pool,
                               const CancelToken& cancel) {
  const std::scoped_lock lock(mutex_);
  FilterIndex& made = made_[order == BlockOrder::near ? 1 : 0];
  add_missing_images(made, map, part, width, order, kind, missing_in_bytes, pool, cancel);
  return made;
}

std::shared_ptr<const ImageMap> FilterCache::map(const Fitted& fitted, const FilterForm& form) {
  const std::scoped_lock lock(mutex_);
  if (map_ == nullptr) map_ = std::make_shared<const ImageMap>(fitted, form);
  return map_;
}

std::shared_ptr<TensorFilter> FilterCache::tensor_filter(
    int gpu, const std::function<std::shared_ptr<TensorFilter>(const std::shared_ptr<TensorFilter>&)>& make) {
  OnGpu& there = on_gpu(gpu);
  const std::scoped_lock lock(there.mutex);
  there.filter = make(there.filter);
  return there.filter;
}

FilterCache::OnGpu& FilterCache::on_gpu(int gpu) {
  const std::scoped_lock lock(mutex_);
  return cuda_[gpu];
}

bool FilterCache::has_tensor_filter(int gpu) {
  OnGpu& there = on_gpu(gpu);
  const std::scoped_lock lock(there.mutex);
  return there.filter != nullptr;
}

void FilterCache::require_images(ImageNeed need) {
  std::vector<OnGpu*> gpus;
  {
    const std::scoped_lock lock(mutex_);
    expected_[static_cast<int>(need)] = true;
    parts_ = nullptr;
    for (auto& [gpu, there] : cuda_) gpus.push_back(&there);
  }
  for (OnGpu* there : gpus) {
    const std::scoped_lock lock(there->mutex);
    there->filter = nullptr;
  }
}

bool FilterCache::requires_images(ImageNeed need) {
  const std::scoped_lock lock(mutex_);
  return expected_[static_cast<int>(need)];
}

std::shared_ptr<PartsHeld> FilterCache::take_parts() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(parts_, nullptr);
}

void FilterCache::keep_parts(std::shared_ptr<PartsHeld> parts) {
  const std::scoped_lock lock(mutex_);
  parts_ = std::move(parts);
}

std::shared_ptr<DifferenceFilter> FilterCache::difference_filter(
    int gpu, bool in_bytes,
    const std::function<std::shared_ptr<DifferenceFilter>(const std::shared_ptr<DifferenceFilter>&)>& make) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<DifferenceFilter>& filter = cuda_differences_[{gpu, in_bytes}];
  filter = make(filter);
  return filter;
}

bool FilterCache::has_difference_filter(int gpu, bool in_bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = cuda_differences_.find({gpu, in_bytes});
  return found != cuda_differences_.end() && found->second != nullptr;
}

Neighbors FilterCache::take_lists() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(lists_, {});
}

void FilterCache::keep_lists(Neighbors lists) {
  constexpr std::size_t kMost = std::size_t{1} << 22;  // neighbours, 16 bytes each
  const std::scoped_lock lock(mutex_);
  if (lists.indices.capacity() <= kMost && lists.indices.capacity() > lists_.indices.capacity())
    std::swap(lists_, lists);
}

std::int64_t FilterCache::add_queries(std::int64_t n) {
  const std::scoped_lock lock(mutex_);
  n_queries_ = checked::add(n_queries_, n);
  return n_queries_;
}

Method FilterCache::choice(device::Backend backend, bool in_order, const std::function<Method()>& choose) {
  const std::scoped_lock lock(mutex_);
  const auto [found, inserted] = choices_.try_emplace({backend, in_order});
  if (inserted) {
    try {
      found->second = choose();
    } catch (...) {
      choices_.erase(found);
      throw;
    }
  }
  return found->second;
}

}  // namespace stope::knn
