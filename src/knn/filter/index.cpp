#include "knn/filter/index.hpp"

namespace stope::knn {

FilterIndex FilterCache::get(const Fitted& fitted, const FilterForm& form, BlockOrder order, ScanKind kind,
                             const RunOptions& run) {
  const std::scoped_lock lock(mutex_);
  FilterIndex& made = made_[order == BlockOrder::near ? 1 : 0];
  if (made.images == nullptr) {
    const std::shared_ptr<const ImageMap>& map = locked_map(fitted, form);
    made.images = std::make_shared<const TrainImages>(make_train_images(*map, fitted, order, run));
    made.map = map;
  }
  const std::int64_t n_columns = made.map->n_columns();
  FilterIndex index = made;
  index.kind = fits_products(*made.map) && !made.images->missing ? kind : ScanKind::differences;
  if (index.kind == ScanKind::products && made.floats == nullptr) {
    made.floats = std::make_shared<const FloatProducts>(make_float_products(*made.images, n_columns));
  }
  if (index.kind == ScanKind::byte_products && made.bytes == nullptr) {
    ThreadPool pool(run.threads);
    made.bytes = std::make_shared<const ByteProducts>(make_byte_products(*made.images, n_columns, pool, run.cancel));
  }
  index.floats = made.floats;
  index.bytes = made.bytes;
  return index;
}

const std::shared_ptr<const ImageMap>& FilterCache::locked_map(const Fitted& fitted, const FilterForm& form) {
  if (map_ == nullptr) map_ = std::make_shared<const ImageMap>(fitted, form);
  return map_;
}

std::shared_ptr<const ImageMap> FilterCache::map(const Fitted& fitted, const FilterForm& form) {
  const std::scoped_lock lock(mutex_);
  return locked_map(fitted, form);
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
