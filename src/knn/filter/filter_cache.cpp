#include "knn/filter/filter_cache.hpp"

namespace stope::knn {

void add_missing_images(FilterIndex& index, const std::shared_ptr<const ImageMap>& map, const TrainPart& part,
                        std::int64_t width, BlockOrder order, ScanKind kind, const PresentScans& present,
                        ThreadPool& pool, const CancelToken& cancel) {
  if (index.images == nullptr) {
    index.map = map;
    index.images = std::make_shared<const TrainImages>(make_train_images(*map, part, width, order, pool, cancel));
  }
  const std::int64_t n_columns = map->n_columns();
  const bool products = kind == ScanKind::byte_products || kind == ScanKind::nibble_products;
  if (products && index.images->missing && present.products) kind = ScanKind::byte_products_present;
  if (kind == ScanKind::byte_products_present && !present.products) kind = ScanKind::differences;
  const bool takes_missing =
      kind == ScanKind::byte_products_present || (kind == ScanKind::byte_differences && present.differences);
  index.kind = fits(*map, kind) && (takes_missing || !index.images->missing) ? kind : ScanKind::differences;
  if (index.kind == ScanKind::products && index.floats == nullptr) {
    index.floats = std::make_shared<const FloatProducts>(make_float_products(*index.images, n_columns, pool, cancel));
  }
  if (index.kind == ScanKind::byte_products_present && index.present == nullptr) {
    index.present = std::make_shared<const PresentProducts>(make_present_products(*index.images, *map, pool, cancel));
  }
  if (!in_bytes(index.kind) || index.kind == ScanKind::byte_products_present) return;
  std::shared_ptr<const ByteImages>& made = index.kind == ScanKind::nibble_products ? index.nibbles : index.bytes;
  if (made == nullptr) {
    made = std::make_shared<const ByteImages>(make_byte_images(*index.images, *map, kind, pool, cancel));
  }
}

FilterIndex FilterCache::whole(const std::shared_ptr<const ImageMap>& map, const Fitted& fitted, BlockOrder order,
                               ScanKind kind, const PresentScans& present, ThreadPool& pool,
                               const CancelToken& cancel) {
  const std::scoped_lock lock(mutex_);
  FilterIndex& made = made_[order == BlockOrder::near ? 1 : 0];
  const TrainPart all{0, fitted.n_rows(), fitted.rows()};
  if (made.images == nullptr) {
    FilterIndex fresh;
    add_missing_images(fresh, map, all, fitted.width(), order, kind, present, pool, cancel);
    fitted.check_rows(pool.size(), cancel);
    made = std::move(fresh);
  } else {
    add_missing_images(made, map, all, fitted.width(), order, kind, present, pool, cancel);
  }
  return made;
}

std::shared_ptr<const ImageMap> FilterCache::map(const Fitted& fitted, const FilterForm& form) {
  const std::scoped_lock lock(mutex_);
  if (map_ == nullptr) map_ = std::make_shared<const ImageMap>(fitted, form);
  return map_;
}

}  // namespace stope::knn
