#include "knn/filter/tile_queries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stope::knn {
namespace {

std::int64_t bytes_of_query(const FilterIndex& index) {
  if (!in_bytes(index.kind)) return 0;
  return index.kind == ScanKind::byte_products_present ? index.present->row_bytes()
                                                       : index.whole_numbers().query_bytes();
}

}  // namespace

TileQueries::TileQueries(const FilterIndex& index)
    : n_columns_(index.map->n_columns()),
      box_(n_columns_),
      residuals_(kScanTileQueries),
      reaches_(index.map->form().term == Term::product ? kScanTileQueries : 0),
      images_(n_columns_ * kScanTileQueries),
      by_column_(n_columns_ * kScanTileQueries),
      norms_(kScanTileQueries),
      bytes_(bytes_of_query(index) * kScanTileQueries),
      byte_images_(kScanTileQueries),
      present_images_(kScanTileQueries),
      gaps_(index.kind == ScanKind::byte_products_present ? gap_numbers(index.present->n_groups) * kScanTileQueries
                                                          : 0) {}

void TileQueries::load(const FilterIndex& index, const RowImages& block, const std::int64_t* which, std::int64_t n,
                       Visit visit, bool present_bytes) {
  index_ = &index;
  kind_ = index.kind;
  if (visit == Visit::tiles) put_box(block, which, n);
  bool missing = index.images->missing;
  for (std::int64_t i = 0; i < n; ++i) {
    const float* image = block.rows.data() + which[i] * n_columns_;
    const double residual = residuals_[static_cast<std::size_t>(i)] = block.residuals[which[i]];
    // Without a bound nothing is dropped, whatever the scan makes of an image that is not there.
    const bool bounded = !std::isnan(residual);
    std::copy_n(image, n_columns_, images_.data() + i * n_columns_);
    // Scores that are no numbers have no order, and floats are all that products are compared in.
    if (!bounded && !reaches_.empty()) std::fill_n(images_.data() + i * n_columns_, n_columns_, 0.0F);
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      missing |= bounded && std::isnan(image[c]);
    }
    if (index.kind != ScanKind::products || !reaches_.empty()) continue;
    double norm = 0.0;
    for (std::int64_t c = 0; c < n_columns_; ++c) norm += static_cast<double>(image[c]) * static_cast<double>(image[c]);
    norms_[static_cast<std::size_t>(i)] = norm;
    // Beyond the range of a float a product is no bound: -|t|^2 / 2 would be -infinity, and its row would be dropped.
    const double largest = index.products->largest_norm;
    if (!(norm + largest * largest < 1e37)) kind_ = ScanKind::differences;
  }
  if (kind_ == ScanKind::byte_products_present) {
    const PresentProducts& train = *index.present;
    for (std::int64_t i = 0; i < n; ++i) {
      present_images_[static_cast<std::size_t>(i)] =
          make_present_image(images_.data() + i * n_columns_, train, bytes_.data() + i * train.row_bytes(),
                             gaps_.data() + i * gap_numbers(train.n_groups));
    }
    return;
  }
  if (missing) {
    const bool bytes = kind_ == ScanKind::byte_differences && present_bytes;
    kind_ = bytes ? ScanKind::byte_differences_present : ScanKind::differences;
  }
  if (in_bytes(kind_)) put_byte_images(n);
}

void TileQueries::put_byte_images(std::int64_t n) {
  const ByteImages& train = index_->whole_numbers();
  for (std::int64_t i = 0; i < n; ++i) {
    const float* const from = images_.data() + i * n_columns_;
    std::uint8_t* const to = bytes_.data() + i * train.query_bytes();
    const auto at = static_cast<std::size_t>(i);
    byte_images_[at] =
        reaches_.empty() ? make_byte_image(from, train, to) : make_unit_image(from, residuals_[at], train, to);
  }
}

void TileQueries::load_reaches(const double* rows, std::int64_t width, const std::int64_t* which, std::int64_t n) {
  for (std::int64_t i = 0; i < n && !reaches_.empty(); ++i) {
    reaches_[static_cast<std::size_t>(i)] = product_reach(*index_->map, rows + which[i] * width);
  }
}

// A row is kept if its product with the query's image of length 1 may be at least `least`. Starts hold what rounding
// may have taken from it, whatever the query.
Cut TileQueries::inner_cut(std::int64_t i, double distance) const {
  constexpr double kMost = 1e30;
  const auto at = static_cast<std::size_t>(i);
  Cut cut = kDropNothing;
  // Scores are compared with those of later cuts: every cut of a query has the same norm.
  if (in_bytes(kind_)) cut.norm = static_cast<float>(2.0 * byte_images_[at].offset);
  const double residual = residuals_[at], least = std::min(reaches_[at].least(distance), kMost);
  if (!(residual <= kMostUnitResidual) || !(least > -kMost)) return cut;
  if (!in_bytes(kind_)) {
    cut.least = -round_up(-least);
    cut.score = -2.0F * cut.least;
    return cut;
  }
  const ByteImages& train = index_->whole_numbers();
  const ByteImage& image = byte_images_[at];
  const double bound = least * image.steps * train.steps;
  const double lost = std::fabs(bound) * 1e-12 + std::max(0.0, image.residual - train.query_rounding) * longest(train);
  const double whole = std::clamp(std::floor(bound - lost + image.offset) - 1.0, -2147483648.0, 2147483647.0);
  cut.least_bytes = static_cast<std::int32_t>(whole);
  // Scores are floats, each with three roundings of 2^-24.
  cut.score = round_up(2.0 * (image.offset - whole) + (std::fabs(image.offset) + std::fabs(whole)) * 0x1p-20 + 1.0);
  return cut;
}

void TileQueries::put_box(const RowImages& block, const std::int64_t* which, std::int64_t n) {
  box_.clear();
  std::fill(by_column_.begin(), by_column_.end(), std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t i = 0; i < n; ++i) {
    const float* image = block.rows.data() + which[i] * n_columns_;
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      by_column_[c * kScanTileQueries + i] = image[c];
      box_.widen(c, image[c]);
    }
  }
}

void TileQueries::describe(Scan& scan, std::int64_t first, std::int64_t n) const {
  const ImageMap& map = *index_->map;
  scan.n_numeric = map.n_numeric();
  scan.n_equality = n_columns_ - scan.n_numeric;
  scan.mismatch = map.mismatch();
  scan.weight = map.weight();
  scan.queries = image(first);
  scan.n_queries = n;
  scan.by_column = by_column_.data() + first;
  if (in_bytes(kind_)) scan.query_bytes = bytes_.data() + first * bytes_of_query(*index_);
  scan.gaps = gaps_.data();
  if (kind_ == ScanKind::byte_products_present) scan.gaps += first * gap_numbers(index_->present->n_groups);
}

Cut TileQueries::cut(std::int64_t i, double distance) const {
  if (!reaches_.empty()) return inner_cut(i, distance);
  const ImageMap& map = *index_->map;
  const double residual = residuals_[static_cast<std::size_t>(i)] + index_->images->residual;
  Cut cut = map.cut(distance, residual);
  if (kind_ == ScanKind::products) add_product_cut(i, map.limit(distance, residual), cut);
  if (kind_ == ScanKind::byte_products_present) {
    const PresentProducts& train = *index_->present;
    const double rounding = (present_images_[static_cast<std::size_t>(i)].residual + train.residual) / train.steps;
    add_present_cut(i, map.limit(distance, residual + rounding), cut);
  } else if (in_bytes(kind_)) {
    const ByteImages& train = index_->whole_numbers();
    const double rounding = (byte_images_[static_cast<std::size_t>(i)].residual + train.residual) / train.steps;
    add_byte_cut(i, map.limit(distance, residual + rounding), cut);
  }
  return cut;
}

// |q-t|^2 <= beta is s = <q,t> - |t|^2/2 >= (|q|^2 - beta) / 2; the float sum of s is off by less than `error`.
void TileQueries::add_product_cut(std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const {
  const double norm = norms_[static_cast<std::size_t>(i)], largest = index_->products->largest_norm;
  const double error =
      (static_cast<double>(n_columns_) + 8.0) * 0x1p-23 * (std::sqrt(norm) * largest + largest * largest) +
      (static_cast<double>(n_columns_) + 1.0) * 1e-37;
  cut.norm = static_cast<float>(norm);
  if (!(cut.beta < kNoLimit)) return;
  cut.least = -round_up(-(0.5 * (norm - limit.beta) - error));
  cut.score = round_up(limit.beta + 2.0 * error + (norm + largest * largest) * 0x1p-21);
}

// Does this over what both rows have. In steps, |q-t|^2 <= alpha w + beta, w at most the smaller of the rows' weights,
// is s >= (|q|^2 - beta) / 2 - alpha w / 2: the sum s of the scan is never too small. The two terms are rounded to
// floats and subtracted in floats, so that `least` is lowered by more than that may lose. The sum itself becomes a
// float, which keeps its order.
void TileQueries::add_present_cut(std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const {
  const PresentProducts& train = *index_->present;
  const PresentImage& image = present_images_[static_cast<std::size_t>(i)];
  cut.norm = static_cast<float>(image.norm + 2.0 * image.offset);
  cut.weight = round_up(image.weight);
  cut.floor = round_up(std::min(train.least_weight, image.weight));
  cut.lacking = -round_up(-image.lacking);
  cut.least_weight = round_up(image.least);
  if (!(cut.beta < kNoLimit)) return;
  const double unit = train.steps * train.steps * (1.0 + 1e-12);
  const double alpha = limit.alpha * unit, beta = limit.beta * unit;
  const double base = 0.5 * (image.norm - beta) + image.offset;
  const double lost = (std::fabs(base) + 0.5 * alpha * image.weight) * 0x1p-21 + 1.0;
  cut.least = -round_up(lost - base);
  cut.half_alpha = round_up(0.5 * alpha * (1.0 + 1e-6));
  // A score is (|q|^2 - 2 s) / w in floats, w at least the least weight of a row or that of the query.
  const double rounding =
      (image.norm + std::fabs(2.0 * image.offset) + std::fabs(base) + 256.0 * static_cast<double>(train.n_columns)) *
          0x1p-20 +
      2.0;
  cut.score = round_up((alpha + (beta + rounding) / std::min(train.least_weight, image.weight)) * (1.0 + 1e-5));
}

// Does this in whole steps, where products are exact but for the half that bytes lose in |t|^2 / 2. Sums of differences
// are exact.
void TileQueries::add_byte_cut(std::int64_t i, const ImageMap::Limit& limit, Cut& cut) const {
  const ByteImages& train = index_->whole_numbers();
  const ByteImage& image = byte_images_[static_cast<std::size_t>(i)];
  cut.norm = static_cast<float>(image.norm + 2.0 * image.offset);
  if (!(cut.beta < kNoLimit)) return;
  if (kind_ == ScanKind::byte_differences) {
    const double reach = limit.alpha * index_->map->total_weight() + limit.beta;
    const double most = std::floor(reach * train.steps * (1.0 + 1e-12)) + 1.0;
    cut.most_bytes = most < 2e9 ? static_cast<std::int32_t>(most) : INT32_MAX;
    cut.score = round_up(most);  // sums below 2^24 are exact floats
    return;
  }
  if (kind_ == ScanKind::byte_differences_present) {
    cut.alpha_bytes = limit.alpha * train.steps / train.weight_steps * (1.0 + 1e-12);
    cut.beta_bytes = limit.beta * train.steps * (1.0 + 1e-12) + 1.0;
    // A score is divided by the weight compared only where the form has that divisor.
    const bool quotient = index_->map->form().divisor == Divisor::present_weight;
    const double least = quotient ? static_cast<double>(image.least_by) : 1.0;
    cut.score = round_up((cut.alpha_bytes + cut.beta_bytes / least) * (1.0 + 1e-6));
    return;
  }
  const double beta = limit.beta * train.steps * train.steps * train.query_steps * (1.0 + 1e-12);
  const double least = std::floor(0.5 * (image.norm - beta) + image.offset) - 1.0;
  cut.least_bytes = least > -2e9 ? static_cast<std::int32_t>(least) : INT32_MIN;
  // Scores are floats, each with three roundings of 2^-24.
  cut.score = round_up(beta + (image.norm + std::fabs(2.0 * image.offset) + std::fabs(least)) * 0x1p-21 + 1.0);
}

}  // namespace stope::knn
