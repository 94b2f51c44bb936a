// The queries of one tile as a scan compares them: their images, in bytes as well where the scan wants them, and the
// cuts that follow from the distances found so far.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/filter/filter_cache.hpp"
#include "knn/filter/inner_products.hpp"
#include "knn/filter/tile_box.hpp"

namespace stope::knn {

class TileQueries {
 public:
  /// Makes room for kScanTileQueries queries.
  explicit TileQueries(const FilterIndex& index);

  /// Takes queries which[0] ... which[n - 1] of a block. Only queries that visit blocks together have a box().
  /// `present_bytes`: there is a scan of bytes with missing values.
  void load(const FilterIndex& index, const RowImages& block, const std::int64_t* which, std::int64_t n, Visit visit,
            bool present_bytes);
  /// After load(), for Term::product: what their rows (of a block, `width` numbers each) say about products.
  void load_reaches(const double* rows, std::int64_t width, const std::int64_t* which, std::int64_t n);

  /// Returns the scan that the values of queries and training rows allow.
  ScanKind kind() const { return kind_; }
  TileBox& box() { return box_; }
  const float* image(std::int64_t i) const { return images_.data() + i * n_columns_; }
  /// Returns what images have to meet where a row may be at most `distance` from query i.
  Cut cut(std::int64_t i, double distance) const;
  /// Fills in what a scan reads about the form and n queries from query `first` on.
  void describe(Scan& scan, std::int64_t first, std::int64_t n) const;

 private:
  void put_box(const RowImages& block, const std::int64_t* which, std::int64_t n);
  void put_byte_images(std::int64_t n);
  Cut inner_cut(std::int64_t i, double distance) const;
  void add_product_cut(std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const;
  void add_present_cut(std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const;
  void add_byte_cut(std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const;

  std::int64_t n_columns_;
  const FilterIndex* index_ = nullptr;  // from the last load()
  ScanKind kind_ = ScanKind::differences;
  TileBox box_;
  std::vector<double> residuals_;
  std::vector<ProductReach> reaches_;  // Term::product
  Buffer<float> images_;               // row-major
  Buffer<float> by_column_;            // [column * kScanTileQueries + query]
  std::vector<double> norms_;          // squares of the images
  Buffer<std::uint8_t> bytes_;         // the byte images
  std::vector<ByteImage> byte_images_;
  std::vector<PresentImage> present_images_;  // byte_products_present, in place of the byte images
  Buffer<std::int32_t> gaps_;
};

}  // namespace stope::knn
