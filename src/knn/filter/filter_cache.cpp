#include "knn/filter/filter_cache.hpp"

#include <utility>

#include "knn/filter/tile_search.hpp"

namespace stope::knn {
namespace {

template <class Images, class Make>
void make_once(std::shared_ptr<const Images>& images, const Make& make) {
  if (images == nullptr) images = std::make_shared<const Images>(make());
}

bool takes_missing(ScanKind kind, const WantedImages& wanted) {
  return (kind == ScanKind::byte_products_present && wanted.has_present_products) ||
         (kind == ScanKind::byte_differences && wanted.has_present_differences);
}

// Returns the kind that the training rows allow.
ScanKind kind_of(const ImageMap& map, const WantedImages& wanted) {
  const bool missing = map.lacks_values();
  ScanKind kind = wanted.kind;
  if (whole_products(kind) && missing && wanted.has_present_products) kind = ScanKind::byte_products_present;
  const bool wants_present = missing || kind == ScanKind::byte_products_present;
  if (!fits(map, kind) || (wants_present && !takes_missing(kind, wanted))) kind = ScanKind::differences;
  return kind == ScanKind::differences && map.form().term == Term::product ? ScanKind::products : kind;
}

}  // namespace

void add_missing_images(FilterIndex& index, const RowMapper& mapper, const TrainPart& part, std::int64_t width,
                        const WantedImages& wanted, ThreadPool& pool, const CancelToken& cancel) {
  FloatBlocks floats;
  make_once(index.images, [&] {
    return make_train_images(mapper, part, width, wanted.order, *wanted.splits, wanted.values ? nullptr : &floats, pool,
                             cancel);
  });
  if (wanted.values) {
    make_once(index.values, [&] { return make_value_blocks(*index.images, part, width, pool, cancel); });
    index.map = mapper.shared_map();
    index.kind = ScanKind::differences;
    return;
  }
  if (wanted.near_rows && index.images->ordered() && width <= NearRows::kMostColumns) {
    make_once(index.near_rows, [&] { return make_near_rows(*index.images, part, width, pool, cancel); });
  }
  const ImageSource source{mapper, part, width, *index.images, floats};
  index.map = mapper.shared_map();
  index.kind = kind_of(source.map(), wanted);
  if (!in_bytes(index.kind) || (wanted.queries_lack_values && !takes_missing(index.kind, wanted))) {
    make_once(index.floats, [&] { return make_float_blocks(source, pool, cancel); });
  }
  if (index.kind == ScanKind::products) {
    make_once(index.products, [&] { return make_float_products(source, *index.floats, pool, cancel); });
  } else if (index.kind == ScanKind::byte_products_present) {
    make_once(index.present, [&] { return make_present_products(source, pool, cancel); });
  } else if (in_bytes(index.kind)) {
    std::shared_ptr<const ByteImages>& made = index.kind == ScanKind::nibble_products ? index.nibbles : index.bytes;
    if (made != nullptr && made->kind != index.kind) made = nullptr;
    make_once(made, [&] { return make_byte_images(source, index.kind, pool, cancel); });
  }
}

FilterCache::FilterCache() = default;
FilterCache::~FilterCache() = default;

FilterIndex FilterCache::whole(const RowMapper& mapper, const Fitted& fitted, const WantedImages& wanted,
                               ThreadPool& pool, const CancelToken& cancel) {
  const std::scoped_lock lock(mutex_);
  FilterIndex& made = made_[wanted.order == BlockOrder::near ? 1 : 0];
  const TrainPart all{0, fitted.n_rows(), fitted.rows()};
  FilterIndex fresh = made;
  add_missing_images(fresh, mapper, all, fitted.width(), wanted, pool, cancel);
  if (!(fresh.made() == made.made())) fitted.check_rows(pool.size(), cancel);
  made = std::move(fresh);
  if (wanted.order == BlockOrder::near) has_order_.store(true, std::memory_order_relaxed);
  return made;
}

std::unique_ptr<TileSearch> FilterCache::take_space() {
  const std::scoped_lock lock(mutex_);
  return std::move(space_);
}

void FilterCache::keep_space(std::unique_ptr<TileSearch> space) {
  const std::scoped_lock lock(mutex_);
  space_ = std::move(space);
}

std::shared_ptr<const ImageMap> FilterCache::map(const Fitted& fitted, const FilterForm& form) {
  const std::scoped_lock lock(mutex_);
  if (map_ == nullptr) map_ = std::make_shared<const ImageMap>(fitted, form);
  return map_;
}

}  // namespace stope::knn
