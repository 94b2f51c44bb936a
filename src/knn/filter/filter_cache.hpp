// The CPU filter's part of a fitted index: the map from rows to images, and the images, made when a search first needs
// them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <tuple>

#include "knn/filter/derived_images.hpp"
#include "knn/filter/image_map.hpp"
#include "knn/filter/present_products.hpp"
#include "knn/filter/row_copies.hpp"

namespace stope::knn {

struct FilterIndex {
  std::shared_ptr<const ImageMap> map;
  std::shared_ptr<const TrainImages> images;
  ScanKind kind = ScanKind::differences;
  std::shared_ptr<const FloatBlocks> floats;       // scans in floats
  std::shared_ptr<const NearRows> near_rows;       // where they pay
  std::shared_ptr<const ValueBlocks> values;       // WantedImages::values
  std::shared_ptr<const FloatProducts> products;   // kind products
  std::shared_ptr<const ByteImages> nibbles;       // kind nibble_products
  std::shared_ptr<const ByteImages> bytes;         // the last one asked for of the other kinds in bytes
  std::shared_ptr<const PresentProducts> present;  // kind byte_products_present

  /// The images of another kind in bytes.
  const ByteImages& whole_numbers() const { return kind == ScanKind::nibble_products ? *nibbles : *bytes; }
  /// Everything that was made from rows.
  auto made() const { return std::tie(images, floats, near_rows, values, products, nibbles, bytes, present); }
};

/// The images that a search wants, for the scans that its instruction set has.
struct WantedImages {
  BlockOrder order = BlockOrder::table;
  ScanKind kind = ScanKind::differences;
  const SplitKernels* splits = nullptr;
  bool near_rows = false;  ///< copies of short rows in that order
  bool values = false;     ///< blocks of values instead of images in floats
  bool queries_lack_values = false;
  bool has_present_differences = false, has_present_products = false;  ///< scans in bytes that take missing values
};

/// Adds to an index what it lacks. A kind that the rows do not fit becomes `differences`. Where values are missing,
/// byte differences need a scan that takes them; products become byte_products_present, if there is that. Queries that
/// lack values are compared in floats where the scan in bytes does not take them.
void add_missing_images(FilterIndex& index, const RowMapper& mapper, const TrainPart& part, std::int64_t width,
                        const WantedImages& wanted, ThreadPool& pool, const CancelToken& cancel);

class TileSearch;  // knn/filter/tile_search.hpp

/// The filter indices of one fitted table. Safe from several threads at once.
class FilterCache {
 public:
  FilterCache();
  ~FilterCache();
  FilterCache(const FilterCache&) = delete;
  FilterCache& operator=(const FilterCache&) = delete;

  /// Returns the index of the whole table, kept for the next search. A failure leaves no half-made part of it; rows in
  /// lent memory that have changed since the fit are one.
  FilterIndex whole(const RowMapper& mapper, const Fitted& fitted, const WantedImages& wanted, ThreadPool& pool,
                    const CancelToken& cancel);

  std::shared_ptr<const ImageMap> map(const Fitted& fitted, const FilterForm& form);
  /// Whether the whole table's rows stand in an order of near rows.
  bool has_order() const { return has_order_.load(std::memory_order_relaxed); }

  /// A work space that a search of few queries in blocks of values has left, or null. To make one takes as long as such
  /// a query.
  std::unique_ptr<TileSearch> take_space();
  void keep_space(std::unique_ptr<TileSearch> space);

 private:
  std::mutex mutex_;
  std::shared_ptr<const ImageMap> map_;
  FilterIndex made_[2];  // one per order of rows, with every kind asked for so far
  std::atomic<bool> has_order_ = false;
  std::unique_ptr<TileSearch> space_;
};

}  // namespace stope::knn
