#include "knn/filter/inner_products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "knn/filter/byte_steps.hpp"

namespace stope::knn {
namespace {

constexpr double kNibbleCentre = 7.5;

// Relative rounding of a double sum of products, and of what is computed from it.
double share_of(std::int64_t n_columns) {
  return (static_cast<double>(n_columns) + 16.0) * 0x1p-51;
}

double largest_step(const ByteImages& images) {
  return images.nibbles() ? kNibbleCentre : kLargestStep;
}

// Returns how many steps a unit of a query's image may have so that none is cut off. Pairs share 128
// (derived_images.cpp), and rounding adds up to one.
double most_steps(const float* image, const ByteImages& train) {
  double largest = 0.0;
  for (std::int64_t c = 0; c < train.n_columns; ++c) {
    double size = std::fabs(static_cast<double>(image[c]));
    if (train.pairs() && (c ^ 1) < train.n_columns) size += std::fabs(static_cast<double>(image[c ^ 1]));
    largest = std::max(largest, size);
  }
  constexpr double kLeast = 1e-30;
  return kLargestStep / std::max(largest, kLeast);
}

}  // namespace

double ProductReach::least(double distance) const {
  constexpr double kAny = -std::numeric_limits<double>::infinity();
  const double product = -distance * per_unit;
  const double least = product - shift - share * (std::fabs(product) + std::fabs(shift)) - lost;
  return per_unit > 0.0 && !std::isnan(least) ? least : kAny;
}

ProductReach product_reach(const ImageMap& map, const double* query) {
  constexpr double kUnderflow = 1e-320, kMostNumber = 1e30, kMostProduct = 1e300, kMostScale = 1e290;
  const RowForm form = map.row_form();
  double squares = 0.0, centre = 0.0, product = 0.0, least_weight = 1.0;
  bool centred = false;
  for (std::int64_t c = 0; c < form.n_numeric; ++c) {
    const NumericColumn& column = form.numeric[c];
    const double weight = form.attributes[column.source].weight, q = query[column.source];
    squares += weight * q * q;
    centre += weight * column.centre * column.centre;
    centred |= column.centre != 0.0;
    product += weight * q * column.centre;
    least_weight = std::min(least_weight, weight);
  }
  const double norm = std::sqrt(squares), columns = static_cast<double>(form.n_numeric);
  ProductReach reach;
  reach.per_unit = map.unit() / norm;
  reach.shift = product * reach.per_unit;
  reach.share = share_of(form.n_numeric);
  reach.lost =
      reach.share * map.unit() * std::sqrt(centre) + columns * (1.0 + map.total_weight()) * kUnderflow * reach.per_unit;
  // No sum or product of the formula may overflow: not with the longest row that has an image.
  const double longest_row = std::sqrt(centre) + std::sqrt(columns) * kMostNumber / map.unit();
  const bool sound = squares > 1e-240 && squares < 1e240 && norm * longest_row / least_weight < kMostProduct &&
                     reach.per_unit > 1.0 / kMostScale && reach.per_unit < kMostScale && centre < kMostProduct &&
                     (!centred || centre > 1e-240);
  if (!sound) reach.per_unit = 0.0;
  return reach;
}

float product_start(double square, double residual, std::int64_t n_columns) {
  const double norm = std::sqrt(square), columns = static_cast<double>(n_columns);
  const double share = (columns + 8.0) * 0x1p-23;
  const double start = (residual + norm * (share + 0x1p-22)) * (1.0 + 2.0 * share) * (1.0 + 1e-6);
  return round_up(start + (columns + 1.0) * 1e-37);
}

// Longer queries are finer, and rows are bounded as if all were that long: the middle one of a sample.
void choose_query_norm(const ImageSource& source, ByteImages& images) {
  constexpr std::int64_t kSample = 64;
  const std::int64_t n = std::min(kSample, source.part.n);
  const ImageMap& map = *source.map().query_map();
  std::vector<float> image(static_cast<std::size_t>(images.n_columns));
  std::vector<double> steps;
  for (std::int64_t i = 0; i < n; ++i) {
    const double residual = map.map(source.part.rows + i * source.part.n / n * source.width, image.data());
    if (residual <= kMostUnitResidual) steps.push_back(most_steps(image.data(), images));
  }
  images.query_norm = kLargestStep;
  const double columns = static_cast<double>(images.n_columns);
  if (!steps.empty()) {
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    images.query_norm = std::clamp(*middle, 1.0, kLargestStep * std::sqrt(columns));
  }
  // Evenly distributed errors have this norm, and rarely 0.4 more.
  images.query_rounding = std::sqrt(columns / 12.0) + 0.4;
}

std::uint64_t put_product_starts(const ByteImages& images, double image_residual, const std::int32_t* squares,
                                 const float* errors, std::int32_t* starts) {
  constexpr double kMostStart = 0x1p30;  // and products below 2^30 fit in 32 bits
  const double columns = static_cast<double>(images.n_columns), share = share_of(images.n_columns);
  std::uint64_t always = 0;
  for (int row = 0; row < kScanBlockRows; ++row) {
    // The kernel of nibbles adds n (n - 15).
    const double square = squares[row] + (images.nibbles() ? kNibbleCentre * kNibbleCentre * columns : 0.0);
    const double norm = std::sqrt(std::max(square, 0.0));
    const double residual = norm_of_errors(errors[row], images.n_columns) + image_residual * images.steps;
    const double start =
        (images.query_norm * (residual + share * (norm + residual)) + images.query_rounding * norm) * (1.0 + 1e-9);
    const bool bounded = start < kMostStart;
    if (!bounded) always |= std::uint64_t{1} << row;
    starts[row] = bounded ? static_cast<std::int32_t>(start) + 1 : 0;
  }
  return always;
}

ByteImage make_unit_image(const float* image, double residual, const ByteImages& train, std::uint8_t* bytes) {
  std::fill(bytes, bytes + train.query_bytes(), std::uint8_t{0});
  ByteImage result;
  if (std::isnan(residual)) return result;
  const double added = train.nibbles() ? kNibbleCentre : 128.0;
  result.steps = std::min(train.query_norm, most_steps(image, train));
  double errors = 0.0;
  for (std::int64_t c = 0; c < train.n_columns; ++c) {
    const double exact = static_cast<double>(image[c]) * result.steps, whole = std::nearbyint(exact);
    errors += (exact - whole) * (exact - whole);
    result.offset += added * whole;
    bytes[train.place(c)] = static_cast<std::uint8_t>(static_cast<std::int32_t>(whole));
  }
  result.residual = (std::sqrt(errors) + residual * result.steps) * (1.0 + 1e-9);
  return result;
}

double longest(const ByteImages& images) {
  return largest_step(images) * std::sqrt(static_cast<double>(images.n_columns));
}

}  // namespace stope::knn
