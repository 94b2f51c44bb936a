// Makes images, one thread a row, so that a block of threads writes whole lines of its tile's columns.
#include "device/cuda/check.hpp"
#include "knn/cuda/differences/images.hpp"
#include "knn/cuda/differences/register_tile.cuh"
#include "knn/cuda/differences/scan.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kImageThreads = kPairTile;

/// The row of a thread, and whether there is one.
struct ImageRow {
  std::int64_t row;
  bool there;
  const double* values;

  __device__ explicit ImageRow(const ImageJob& job)
      : row(job.first + static_cast<std::int64_t>(blockIdx.x) * kImageThreads + threadIdx.x),
        there(row < job.first + job.n),
        values(job.rows + (row - job.first) * job.width) {}
};

__global__ void __launch_bounds__(kImageThreads) float_image_kernel(const ImageJob job, float* images) {
  const ImageRow row(job);
  if (row.row >= job.n_padded) return;
  const std::int64_t n_columns = job.form.n_numeric + job.form.n_equality;
  const int n_lines = even_lines(static_cast<int>(n_columns));
  float* const image = images + pair_place(row.row, 0, n_lines);
  image[static_cast<std::int64_t>(n_lines - 1) * kPairTile] = 0.0F;
  double residual = kNaN;
  bool gaps = false;
  if (row.there) {
    residual = put_image(job.form, row.values, [&](std::int64_t c, float value) {
      image[c * kPairTile] = value;
      gaps |= value != value;
    });
  }
  if (is_missing(residual)) {  // then no scan looks at the image
    for (std::int64_t c = 0; c < n_columns; ++c) image[c * kPairTile] = 0.0F;
    gaps = false;
  }
  if (gaps) *job.gaps = 1;
  job.residuals[row.row] = is_missing(residual) ? __int_as_float(0x7fffffff) : round_up(residual);
}

/// Writes a byte of the products of a tile's row. `words` are the first words of the products.
template <Side side>
__device__ void put_byte(std::uint32_t* words, int row, int byte, int value) {
  const int word = byte / 4, line = word % 2;
  const int place = side == Side::query ? product_place_of_query(row, line) : product_place_of_row(row, line);
  std::uint32_t* const at = words + static_cast<std::int64_t>(word / 2) * 2 * kPairTile + place;
  reinterpret_cast<std::int8_t*>(at)[byte % 4] = static_cast<std::int8_t>(value);
}

/// Rounds a number to whole steps and adds to `residual` what rounding moved. Beyond 127 steps the number is clamped,
/// which the residual includes.
__device__ int in_steps(double value, double steps, double& residual) {
  const double scaled = value * steps;
  const double whole = rint(smaller(larger(scaled, -127.0), 127.0));
  residual += absolute(scaled - whole) + kImageRounding * absolute(scaled);
  return static_cast<int>(whole);
}

/// Writes the image of row `at` of a tile whose lines begin at `products`. Returns its residual in steps, or NaN.
template <Side side>
__device__ double put_bytes(const ImageJob& job, const ByteLayout& layout, const double* row, int at,
                            std::uint32_t* products, bool& gaps) {
  std::uint32_t* const parts = products + static_cast<std::int64_t>(layout.product_words) * kPairTile;
  std::uint32_t* const differences = parts + static_cast<std::int64_t>(layout.divisor_words) * kPairTile + at;
  const bool divides = layout.divisor_words > 0;
  double residual = 0.0;
  std::uint32_t word = 0;
  for (int c = 0; c < job.form.n_numeric; ++c) {
    const NumericColumn& column = job.form.numeric[c];
    const ByteColumn& how = layout.columns[c];
    const double number = row[column.source];
    const bool missing = is_missing(number);
    gaps |= missing;
    const double value = (number - column.centre) * column.scale;
    if (!missing && !bounds_number(job.form, column, number, value)) return kNaN;
    const int step = missing ? 0 : in_steps(value, layout.steps, residual);
    word |= static_cast<std::uint32_t>(step + 128) << (c % 4 * 8);
    if (c % 4 == 3 || c + 1 == job.form.n_numeric) {
      differences[static_cast<std::int64_t>(c / 4) * kPairTile] = word;
      word = 0;
    }
    if (how.products >= 0) {
      const int size = step < 0 ? -step : step;
      put_byte<side>(products, at, how.products, side == Side::query ? size : missing ? -1 : 0);
      put_byte<side>(products, at, how.products + 1, side == Side::query ? (missing ? 1 : 0) : -size);
    }
    if (divides && !missing) put_byte<side>(parts, at, c, side == Side::query ? how.part : 1);
  }
  for (int e = 0; e < job.form.n_equality; ++e) {
    const int c = static_cast<int>(job.form.n_numeric) + e;
    const std::int64_t source = job.form.equality[e];
    const float value = equality_image(row[source], job.form.attributes[source].nominal);
    if (value != value) {
      gaps = true;
      continue;
    }
    const ByteColumn& how = layout.columns[c];
    const int bucket = static_cast<int>(static_cast<std::int64_t>(fabsf(value)) % how.buckets);
    put_byte<side>(products, at, how.products + bucket, side == Side::query ? -how.weight : how.factor);
    put_byte<side>(products, at, how.products + how.buckets, side == Side::query ? how.weight : how.factor);
    if (divides) put_byte<side>(parts, at, c, side == Side::query ? how.part : 1);
  }
  return residual * (1.0 + 1e-6);
}

template <Side side>
__global__ void __launch_bounds__(kImageThreads)
    byte_image_kernel(const ImageJob job, const ByteLayout layout, std::uint32_t* images) {
  const ImageRow row(job);
  if (row.row >= job.n_padded) return;
  const auto at = static_cast<int>(row.row % kPairTile);
  std::uint32_t* const tile = images + pair_place(row.row - at, 0, layout.words());
  const auto clear = [&] {
    for (int w = 0; w < layout.words(); ++w) {
      const int line = w % 2;
      const int place = side == Side::query ? product_place_of_query(at, line) : product_place_of_row(at, line);
      const bool product = w < layout.product_words + layout.divisor_words;
      tile[static_cast<std::int64_t>(product ? w - line : w) * kPairTile + (product ? place : at)] = 0;
    }
  };
  clear();
  double residual = kNaN;
  bool gaps = false;
  if (row.there) residual = put_bytes<side>(job, layout, row.values, at, tile, gaps);
  if (is_missing(residual)) {
    clear();
    gaps = false;
  }
  if (gaps) *job.gaps = 1;
  job.residuals[row.row] = is_missing(residual) ? __int_as_float(0x7fffffff) : round_up(residual);
}

unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>((n + kImageThreads - 1) / kImageThreads);
}

__global__ void __launch_bounds__(kImageThreads) always_kernel(const AlwaysJob job) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kImageThreads + threadIdx.x;
  if (row >= job.n_padded) return;
  const bool seen = row < job.n && job.residuals[row] <= job.most_residual;
  if (job.starts != nullptr) job.starts[row] = seen ? 0.0F : __int_as_float(0x7f800000);
  if (job.byte_starts != nullptr) job.byte_starts[row] = seen ? 0 : kByteNever;
  if (seen || row >= job.n) return;
  const std::int32_t at = atomicAdd(job.n_always, 1);
  if (at < job.most) job.always[at] = static_cast<std::int32_t>(row);
}

}  // namespace

void launch_float_images(const ImageJob& job, float* images, cudaStream_t stream) {
  if (job.n_padded <= job.first) return;
  float_image_kernel<<<blocks_for(job.n_padded - job.first), kImageThreads, 0, stream>>>(job, images);
  stope::cuda::check_launch("making images");
}

void launch_byte_images(const ImageJob& job, const ByteLayout& layout, Side side, std::uint32_t* images,
                        cudaStream_t stream) {
  if (job.n_padded <= job.first) return;
  const unsigned blocks = blocks_for(job.n_padded - job.first);
  if (side == Side::query) {
    byte_image_kernel<Side::query><<<blocks, kImageThreads, 0, stream>>>(job, layout, images);
  } else {
    byte_image_kernel<Side::train><<<blocks, kImageThreads, 0, stream>>>(job, layout, images);
  }
  stope::cuda::check_launch("making images");
}

void launch_always(const AlwaysJob& job, cudaStream_t stream) {
  always_kernel<<<blocks_for(job.n_padded), kImageThreads, 0, stream>>>(job);
  stope::cuda::check_launch("finding rows that are always listed");
}

}  // namespace stope::knn::cuda
