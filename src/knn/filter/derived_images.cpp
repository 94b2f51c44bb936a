#include "knn/filter/derived_images.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/byte_steps.hpp"
#include "knn/filter/inner_products.hpp"
#include "knn/filter/present_products.hpp"

namespace stope::knn {
namespace {

constexpr double kNibbleCentre = 7.5;  // 0 lies between nibbles 7 and 8

Rounding choose_rounding(const TrainImages& images, const ImageMap& map, ScanKind kind) {
  // The outermost nibbles stand for values up to half a step beyond them.
  if (kind == ScanKind::nibble_products) return {choose_steps(images, map, kNibbleCentre + 0.5), kNibbleCentre, 0, 15};
  return {choose_steps(images, map, kLargestStep), 0.0F, -kLargestStep, kLargestStep};
}

// Returns the byte of a value that is only compared for equality. Different bytes come from different values.
std::uint8_t equality_byte(float value) {
  if (value != value) return kMissingByte;
  return static_cast<std::uint8_t>(1 + static_cast<std::int64_t>(std::fabs(value)) % 255);
}

// Rounds the term of a mismatch down, and an attribute's share of the divisor up. Both make the filter drop fewer rows.
void set_mismatches(const ImageMap& map, ByteImages& images) {
  images.mismatch.assign(static_cast<std::size_t>(images.query_bytes()), 0);
  images.weight = images.mismatch;
  const float* const weight = map.weight();
  images.weight_steps = 255.0 / static_cast<double>(*std::max_element(weight, weight + map.n_columns()));
  for (std::int64_t c = 0; c < map.n_columns(); ++c) {
    const auto at = static_cast<std::size_t>(images.place(c));
    const double mismatch = static_cast<double>(map.mismatch()[c]) * images.steps * (1.0 - 1e-12);
    images.mismatch[at] = static_cast<std::uint8_t>(std::clamp(std::floor(mismatch), 0.0, 255.0));
    const double part = static_cast<double>(weight[c]) * images.weight_steps * (1.0 - 1e-12);
    images.weight[at] = static_cast<std::uint8_t>(std::clamp(std::ceil(part), 1.0, 255.0));
  }
  // This allows for what rounding `part` may have lost.
  images.weight_steps *= 1.0 - 1e-11;
}

}  // namespace

bool fits(const ImageMap& map, ScanKind kind) {
  if (kind == ScanKind::differences) return true;
  if (kind == ScanKind::byte_products_present) return fits_present_products(map);
  constexpr std::int64_t kMostColumns = 16384;  // byte products of so many terms fit in 32 bits
  const FilterForm& form = map.form();
  if (form.missing == Missing::mismatch || map.n_columns() > kMostColumns) return false;
  if (kind >= ScanKind::byte_differences) return form.term == Term::absolute && form.divisor != Divisor::total;
  return in_squares(form.term) && form.divisor == Divisor::none && map.n_columns() == map.n_numeric();
}

FloatProducts make_float_products(const ImageSource& source, const FloatBlocks& floats, ThreadPool& pool,
                                  const CancelToken& cancel) {
  const std::int64_t n_blocks = source.images.n_blocks, n_columns = source.map().n_columns();
  FloatProducts products;
  const bool inner = source.map().form().term == Term::product;
  products.starts = Buffer<float>(source.n_slots());
  std::vector<double> largest(static_cast<std::size_t>(n_blocks), 0.0);
  pool.parallel_for(n_blocks, cancel, [&](std::int64_t number, int) {
    const float* block = floats.blocks.data() + number * kScanBlockRows * n_columns;
    double norms[kScanBlockRows] = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
      for (int row = 0; row < kScanBlockRows; ++row) {
        const auto value = static_cast<double>(block[c * kScanBlockRows + row]);
        norms[row] += value * value;
      }
    }
    for (int row = 0; row < kScanBlockRows; ++row) {
      const std::int64_t position = number * kScanBlockRows + row;
      products.starts[position] =
          inner ? product_start(norms[row], source.images.residual, n_columns) : static_cast<float>(-0.5 * norms[row]);
      double& most = largest[static_cast<std::size_t>(number)];
      if (position < source.images.n_rows && !listed(floats.always, position)) most = std::max(most, norms[row]);
    }
  });
  products.largest_norm = std::sqrt(*std::max_element(largest.begin(), largest.end()));
  return products;
}

namespace {

// Rounds blocks for products.
class ProductEncoder {
 public:
  ProductEncoder(const EncodeKernels& kernels, const Rounding& rounding, double image_residual, ByteImages& result,
                 Buffer<float>& residuals)
      : kernels_(kernels),
        rounding_(rounding),
        image_residual_(image_residual),
        result_(result),
        residuals_(residuals) {}

  void encode(std::int64_t number, const float* block) const {
    std::int32_t squares[kScanBlockRows];
    (result_.nibbles() ? kernels_.nibble_steps : kernels_.byte_steps)(
        block, result_.n_columns, rounding_, result_.bytes.data() + number * kScanBlockRows * result_.row_bytes(),
        squares, residuals_.data() + number * kScanBlockRows);
    std::int32_t* const starts = result_.starts.data() + number * kScanBlockRows;
    if (result_.query_norm > 0.0) {
      const float* const errors = residuals_.data() + number * kScanBlockRows;
      result_.always[static_cast<std::size_t>(number)] |=
          put_product_starts(result_, image_residual_, squares, errors, starts);
      return;
    }
    // In units of a product, a row's square counts query_steps / 2 times. What that rounds away makes a sum larger. A
    // nibble has 16 steps of a query: 8 n (n - 15) is half of the square of n - 7.5, less a constant, which is in the
    // query's offset.
    const std::int32_t divisor = result_.query_steps == 1.0 ? 2 : 4;
    for (int row = 0; row < kScanBlockRows; ++row) {
      starts[row] = result_.nibbles() ? -8 * squares[row] : -(squares[row] / divisor);
    }
  }

 private:
  const EncodeKernels& kernels_;
  const Rounding& rounding_;
  double image_residual_;
  ByteImages& result_;
  Buffer<float>& residuals_;
};

// Rounds blocks for differences: first the numbers, then the values that are compared for equality.
class DifferenceEncoder {
 public:
  DifferenceEncoder(const EncodeKernels& kernels, const Rounding& rounding, ByteImages& result,
                    Buffer<float>& residuals, Buffer<std::int32_t>& divisors)
      : kernels_(kernels), rounding_(rounding), result_(result), residuals_(residuals), divisors_(divisors) {}

  void encode(std::int64_t number, const float* block) const {
    const std::int64_t group_size = result_.group_size(), group_bytes = kScanBlockRows * group_size;
    std::uint8_t* const bytes = result_.bytes.data() + number * kScanBlockRows * result_.row_bytes();
    kernels_.difference_steps(block, result_.n_numeric, rounding_, bytes, residuals_.data() + number * kScanBlockRows);
    std::fill(bytes + result_.n_numeric_groups * group_bytes, bytes + result_.n_groups * group_bytes,
              std::uint8_t{128});
    std::int32_t by[kScanBlockRows] = {};
    for (std::int64_t c = 0; c < result_.n_columns; ++c) {
      const std::int64_t at = result_.place(c);
      const float* column = block + c * kScanBlockRows;
      const std::int32_t weight = result_.weight[static_cast<std::size_t>(at)];
      for (int row = 0; row < kScanBlockRows; ++row) by[row] += column[row] == column[row] ? weight : 0;
      if (c < result_.n_numeric) continue;
      std::uint8_t* const out = bytes + at / group_size * group_bytes + at % group_size;
      for (int row = 0; row < kScanBlockRows; ++row) out[row * group_size] = equality_byte(column[row]);
    }
    std::copy_n(by, kScanBlockRows, divisors_.data() + number * kScanBlockRows);
  }

 private:
  const EncodeKernels& kernels_;
  const Rounding& rounding_;
  ByteImages& result_;
  Buffer<float>& residuals_;
  Buffer<std::int32_t>& divisors_;
};

// Chooses the steps of a query for pair products: as fine as those of the rows, unless pairs then have to be cut off so
// often that steps twice as coarse lose less. Some rows stand for the queries.
double choose_query_steps(const ImageSource& source, ByteImages images) {
  constexpr std::int64_t kSample = 64;
  const std::int64_t n = std::min(kSample, source.part.n);
  std::vector<float> image(static_cast<std::size_t>(images.n_columns));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(images.query_bytes()));
  double fine = 0.0, coarse = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double residual = source.mapper.map(source.part.rows + i * source.part.n / n * source.width, image.data());
    if (!(residual <= source.images.residual)) continue;
    images.query_steps = 1.0;
    fine += make_byte_image(image.data(), images, bytes.data()).residual;
    images.query_steps = 0.5;
    coarse += make_byte_image(image.data(), images, bytes.data()).residual;
  }
  return fine <= coarse ? 1.0 : 0.5;
}

}  // namespace

ByteImages make_byte_images(const ImageSource& source, ScanKind kind, ThreadPool& pool, const CancelToken& cancel) {
  const ImageMap& map = source.map();
  ByteImages result;
  result.kind = kind;
  result.n_columns = map.n_columns();
  result.n_numeric = map.n_numeric();
  const Rounding rounding = choose_rounding(source.images, map, kind);
  result.steps = static_cast<double>(rounding.steps);
  result.n_numeric_groups = checked::ceil_div(result.n_numeric, result.group_size());
  result.n_groups =
      result.n_numeric_groups + checked::ceil_div(result.n_columns - result.n_numeric, result.group_size());
  if (result.nibbles()) result.query_steps = 16.0;
  const bool inner = map.form().term == Term::product;
  if (inner) {
    choose_query_norm(source, result);
  } else if (result.pairs()) {
    result.query_steps = choose_query_steps(source, result);
  }
  result.bytes = Buffer<std::uint8_t>(checked::mul(source.n_slots(), result.row_bytes()));
  prefer_huge_pages(result.bytes.data(), static_cast<std::size_t>(result.bytes.size()));
  result.always.assign(static_cast<std::size_t>(source.images.n_blocks), 0);
  Buffer<float> residuals(source.n_slots());
  const auto encode = [&](const auto& encoder) {
    for_each_block(source, pool, cancel, [&](std::int64_t number, const float* block, std::uint64_t always) {
      result.always[static_cast<std::size_t>(number)] = always;
      encoder.encode(number, block);
    });
    return inner ? 0.0F : list_outliers(source.images.n_rows, residuals, result.always);
  };
  if (result.products()) {
    result.starts = Buffer<std::int32_t>(source.n_slots());
    const float largest =
        encode(ProductEncoder(source.mapper.kernels(), rounding, source.images.residual, result, residuals));
    if (!inner) result.residual = norm_of_errors(largest, result.n_columns);
    return result;
  }
  set_mismatches(map, result);
  Buffer<std::int32_t> divisors(source.n_slots());
  const float largest = encode(DifferenceEncoder(source.mapper.kernels(), rounding, result, residuals, divisors));
  result.least_by = std::accumulate(result.weight.begin(), result.weight.end(), std::int64_t{0});
  for (std::int64_t position = 0; position < source.images.n_rows; ++position) {
    if (!listed(result.always, position)) result.least_by = std::min<std::int64_t>(result.least_by, divisors[position]);
  }
  // The same as norm_of_errors() for sums of absolute errors.
  const auto columns = static_cast<double>(result.n_columns);
  result.residual = static_cast<double>(largest) * (1.0 + (columns + 8.0) * 0x1p-23) + columns * kLargestStep * 0x1p-22;
  return result;
}

namespace {

// 16 bits hold the sum of two products with training bytes, which are 255 at most, if the sizes of the two whole
// numbers add up to 128 at most. Cuts both off alike; none is above 127.
void cut_pair(double& a, double& b) {
  constexpr double kMost = 128.0;
  const double excess = std::fabs(a) + std::fabs(b) - kMost;
  if (excess <= 0.0) return;
  const double size_of_a = std::fabs(a) - std::floor(0.5 * excess);
  a = std::copysign(size_of_a, a);
  b = std::copysign(kMost - size_of_a, b);
}

}  // namespace

ByteImage make_byte_image(const float* image, const ByteImages& train, std::uint8_t* bytes) {
  const bool products = train.products();
  const double added = train.nibbles() ? kNibbleCentre : 128.0, fine = train.query_steps;
  ByteImage result;
  double errors = 0.0;
  result.least_by = train.least_by;  // less what the query lacks
  std::fill(bytes, bytes + train.query_bytes(), static_cast<std::uint8_t>(products ? 0 : 128));
  const auto steps_of = [&](std::int64_t c) { return static_cast<double>(image[c]) * train.steps * fine; };
  const auto rounded = [&](std::int64_t c) {
    return std::nearbyint(std::clamp(steps_of(c), -kLargestStep, kLargestStep));
  };
  for (std::int64_t c = 0; c < train.n_columns; ++c) {
    std::uint8_t& byte = bytes[train.place(c)];
    if (image[c] != image[c]) {
      if (!products) result.least_by -= train.weight[static_cast<std::size_t>(train.place(c))];
      byte = kMissingByte;
      continue;
    }
    if (c >= train.n_numeric) {
      byte = equality_byte(image[c]);
      continue;
    }
    double whole = rounded(c);
    if (train.pairs() && (c ^ 1) < train.n_columns) {
      double other = rounded(c ^ 1);
      c % 2 == 0 ? cut_pair(whole, other) : cut_pair(other, whole);
    }
    const double error = std::fabs(steps_of(c) - whole) / fine;
    errors += products ? error * error : error;
    result.norm += whole * whole / fine;
    result.offset += added * whole;
    byte = static_cast<std::uint8_t>(static_cast<std::int32_t>(products ? whole : whole + 128.0));
  }
  if (train.nibbles()) {  // half of the square of the centre, see starts
    result.offset += 0.5 * fine * kNibbleCentre * kNibbleCentre * static_cast<double>(train.n_columns);
  }
  result.least_by = std::max<std::int64_t>(result.least_by, 1);
  result.residual = (products ? std::sqrt(errors) : errors) * (1.0 + 1e-9);
  return result;
}

}  // namespace stope::knn
