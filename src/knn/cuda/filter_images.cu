// Rows in double precision become images in half precision, a few rows a warp.
#include "device/cuda/check.hpp"
#include "knn/cuda/filter_place.cuh"

namespace stope::knn::cuda {
namespace {

using cuda_abi::FilterColumn;
using cuda_abi::ImagePart;

constexpr int kEncodeThreads = 256;
constexpr int kRows = 4;  // of a warp at once: they share the look at what a column is
// Relative rounding of a subtraction and a multiplication in double.
constexpr double kDoubleRounding = 0x1p-50;
// Beyond this a half, or its square, is near the largest value; a row with such a number has no bound anyway.
constexpr double kMostImage = 200.0;

__device__ double warp_sum(double value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0U, value, offset);
  return value;
}

/// What a lane has gathered of a row.
struct Gathered {
  double errors = 0.0;   // squared: how far rounding moved the numbers
  double squares = 0.0;  // of numbers that are not masked
  double masked = 0.0;   // of those that are
  double missing = 0.0;  // attributes
  bool bounded = true;
};

__device__ __half number_part(const FilterColumn& column, double value, double factor, Gathered& gathered) {
  if (isnan(value)) {
    gathered.missing += 1.0;
    gathered.bounded &= column.masked != 0;
    return __half(0.0F);
  }
  const double exact = (value - column.centre) * column.scale * factor;
  if (!(fabs(exact) <= kMostImage)) {
    gathered.bounded = false;
    return __half(0.0F);
  }
  const __half image = __double2half(exact);
  const double rounded = static_cast<double>(__half2float(image));
  const double error = fabs(exact - rounded) + kDoubleRounding * fabs(exact);
  gathered.errors += error * error;
  (column.masked != 0 ? gathered.masked : gathered.squares) += rounded * rounded;
  return image;
}

__device__ __half square_part(const FilterColumn& column, double value, bool low) {
  const double image = static_cast<double>(__half2float(__double2half((value - column.centre) * column.scale)));
  if (!(fabs(image) <= kMostImage)) return __half(0.0F);  // missing, or out of bounds
  const double square = -0.5 * image * image;
  const __half high = __double2half(square);
  return low ? __double2half(square - static_cast<double>(__half2float(high))) : high;
}

__device__ __half value_part(const FilterColumn& column, double code, float factor, Gathered& gathered) {
  if (isnan(code)) {
    gathered.bounded &= column.masked != 0;
    return __half(0.0F);
  }
  // A value that the table did not have differs from every one it has.
  if (!(code >= 0.0 && code < column.n_values)) return __half(0.0F);
  return __float2half(static_cast<std::int64_t>(code) % column.n_buckets == column.value ? factor : 0.0F);
}

template <bool kTrain>
__device__ __half image_of(const FilterColumn& column, double value, double row_factor, Gathered& gathered) {
  const float factor = kTrain ? column.train_factor : column.query_factor;
  switch (kTrain ? column.train : column.query) {
    case ImagePart::zero: break;
    case ImagePart::constant: return __float2half(factor);
    case ImagePart::number: return number_part(column, value, row_factor, gathered);
    case ImagePart::square_high: return square_part(column, value, false);
    case ImagePart::square_low: return square_part(column, value, true);
    case ImagePart::value: {
      if (kTrain && !(value >= 0.0) && !isnan(value)) gathered.bounded = false;
      return value_part(column, value, factor, gathered);
    }
    case ImagePart::present: {
      // One column an attribute says that it is missing: a number's own, or this one of a nominal one.
      if (isnan(value) && column.query == column.train) gathered.missing += 1.0;
      return __float2half(isnan(value) ? 0.0F : factor);
    }
  }
  return __half(0.0F);
}

/// 1 / the length of a row. Where squares can overflow or vanish the reference does not compute a cosine: no bound; nor
/// is there one for a row of zeros, which is at distance 1 from all by definition.
__device__ double unit_factor(const EncodeJob& job, const double* values, Gathered& gathered) {
  double squares = 0.0;
  bool bounded = true;
  for (int c = static_cast<int>(threadIdx.x) % 32; c < job.n_columns; c += 32) {
    const FilterColumn& column = job.columns[c];
    if (column.train != ImagePart::number) continue;
    const double value = values[column.source], scaled = value * column.scale;
    bounded &= fabs(value) < 1e100;  // of a NaN false
    squares += scaled * scaled;
  }
  squares = warp_sum(squares);
  bounded = __all_sync(~0U, bounded);
  // Norms of 1e-90 and more have a value above 1e-100 for any weights that a filter takes.
  if (!bounded || !(squares < 1e250 && squares > 1e-120)) {
    gathered.bounded = false;
    return 0.0;
  }
  // A rounding a column, relative to the row's length of 1.
  const double error = static_cast<double>(job.n_columns) * 0x1p-52;
  if (threadIdx.x % 32 == 0) gathered.errors += error * error;
  return 1.0 / sqrt(squares);
}

template <bool kTrain>
__device__ void write_summary(const EncodeJob& job, std::int64_t row, Gathered gathered) {
  gathered.errors = warp_sum(gathered.errors);
  gathered.squares = warp_sum(gathered.squares);
  gathered.masked = warp_sum(gathered.masked);
  gathered.missing = warp_sum(gathered.missing);
  bool bounded = __all_sync(~0U, gathered.bounded);
  if (threadIdx.x % 32 != 0) return;
  // A query and a training row that have more than n attributes between them share one.
  if (job.n_to_share > 0.0) {
    bounded &= kTrain ? 2.0 * gathered.missing < job.n_to_share : 2.0 * gathered.missing <= job.n_to_share;
  }
  const float norm = __double2float_ru((gathered.squares + gathered.masked) * (1.0 + 1e-9));
  bounded &= norm <= (kTrain ? kMostTrainNorm : kMostQueryNorm);
  job.squares[row] = gathered.squares;
  job.norms[row] = norm;
  job.residuals[row] = bounded ? __double2float_ru(sqrt(gathered.errors) * (1.0 + 1e-6)) : __int_as_float(0x7fffffff);
}

template <bool kTrain>
__global__ void __launch_bounds__(kEncodeThreads) encode_kernel(const EncodeJob job) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (kEncodeThreads / 32);
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * (kEncodeThreads / 32) + threadIdx.x / 32;
  for (std::int64_t row = job.first + warp * kRows; row < job.n_padded; row += warps * kRows) {
    Gathered gathered[kRows];
    double factors[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      factors[r] = 1.0;
      if (job.unit_rows && row + r < job.first + job.n) {
        factors[r] = unit_factor(job, job.rows + (row + r - job.first) * job.row_width, gathered[r]);
      }
    }
    for (int c = lane; c < job.width; c += 32) {
      FilterColumn column{};
      if (c < job.n_columns) column = job.columns[c];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (row + r >= job.n_padded) break;
        __half image(0.0F);
        if (row + r < job.first + job.n) {
          const double value = job.rows[(row + r - job.first) * job.row_width + column.source];
          image = image_of<kTrain>(column, value, factors[r], gathered[r]);
        }
        if (!kTrain) job.images[(row + r) * job.width + c] = image;
        if (job.tiles != nullptr) job.tiles[tile_place(row + r, c, job.width)] = image;
      }
    }
    for (int r = 0; r < kRows; ++r) {
      if (row + r < job.n_padded) write_summary<kTrain>(job, row + r, gathered[r]);
    }
  }
}

template <bool kTrain>
void launch_encode(const EncodeJob& job, cudaStream_t stream) {
  const std::int64_t rows = job.n_padded - job.first;
  if (rows <= 0) return;
  constexpr std::int64_t kMostBlocks = 2048, kRowsOfBlock = kEncodeThreads / 32 * kRows;
  const std::int64_t blocks = (rows + kRowsOfBlock - 1) / kRowsOfBlock;
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  encode_kernel<kTrain><<<grid, kEncodeThreads, 0, stream>>>(job);
  stope::cuda::check_launch("making images");
}

__global__ void __launch_bounds__(kEncodeThreads) starts_kernel(const StartJob job) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kEncodeThreads;
  float largest = 0.0F;
  unsigned always = 0;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kEncodeThreads + threadIdx.x; row < job.n_padded;
       row += step) {
    const bool bounded = row < job.n && job.residuals[row] <= job.most_residual;  // of a NaN false
    const double start = bounded ? -0.5 * job.squares[row] : 0.0;
    if (bounded) largest = fmaxf(largest, job.norms[row]);
    if (row < job.n && !bounded) ++always;
    if (job.column < 0) {
      job.starts[row] = bounded ? static_cast<float>(start) : row < job.n ? kAlways : kNever;
      continue;
    }
    __half high = __double2half(start), low = __double2half(start - static_cast<double>(__half2float(high)));
    if (!bounded) {
      high = __ushort_as_half(row < job.n ? 0x7c00 : 0xfc00);  // infinities
      low = __half(0.0F);
    }
    job.tiles[tile_place(row, job.column, job.width)] = high;
    job.tiles[tile_place(row, job.column + 1, job.width)] = low;
  }
  // Norms are not negative: their bits are ordered as they are.
  atomicMax(job.largest_norm, __float_as_uint(largest));
  if (always > 0) atomicAdd(job.n_always, static_cast<unsigned long long>(always));
}

/// At least the value, and one of few: the starts of all rows need not be shifted again for every batch of queries.
__device__ float few_bits(float value) {
  constexpr unsigned kDropped = (1U << 21) - 1;  // two bits of the mantissa are left: a quarter more at most
  return __uint_as_float((__float_as_uint(value) + kDropped) & ~kDropped);
}

__global__ void __launch_bounds__(1024) largest_shift_kernel(const ShiftJob job) {
  __shared__ float largest_of_warps[32];
  float largest = 0.0F;
  for (std::int64_t i = threadIdx.x; i < job.n_queries; i += 1024) {
    if (job.query_residuals[i] >= 0.0F) largest = fmaxf(largest, job.query_norms[i]);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, offset));
  if (threadIdx.x % 32 == 0) largest_of_warps[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const float other : largest_of_warps) largest = fmaxf(largest, other);
  const double query = static_cast<double>(largest), train = job.largest_train_norm;
  const double least = sqrt(query * train) + 0.5 * train + (job.masks ? 0.5 * query + job.nominal : 0.0);
  // Above all rounding, and a half.
  float shift = __half2float(__float2half_ru(__double2float_ru(least * (1.0 + 1e-3) + 1e-6)));
  if (job.column < 0) shift = few_bits(shift);
  job.shift[1] = static_cast<double>(shift) != job.shift[0] ? 1.0 : 0.0;
  job.shift[0] = static_cast<double>(shift);
}

__global__ void __launch_bounds__(kEncodeThreads) shift_starts_kernel(const ShiftJob job) {
  if (job.shift[1] == 0.0) return;  // they are as they have to be
  const double shift = *job.shift;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kEncodeThreads;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kEncodeThreads + threadIdx.x; row < job.n;
       row += step) {
    const float start = job.starts[row];
    job.shifted_starts[row] = fabsf(start) < 0.5F * kAlways ? static_cast<float>(start + shift) : start;
  }
}

__global__ void __launch_bounds__(kEncodeThreads) shift_queries_kernel(const ShiftJob job) {
  const __half shift = __double2half(*job.shift);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kEncodeThreads + threadIdx.x;
  if (row >= job.n_queries) return;
  job.images[row * job.width + job.column] = shift;
  if (job.tiles != nullptr) job.tiles[tile_place(row, job.column, job.width)] = shift;
}

}  // namespace

void launch_shift(const ShiftJob& job, cudaStream_t stream) {
  largest_shift_kernel<<<1, 1024, 0, stream>>>(job);
  if (job.column < 0) {
    shift_starts_kernel<<<512, kEncodeThreads, 0, stream>>>(job);
  } else if (job.n_queries > 0) {
    const auto blocks = static_cast<unsigned>((job.n_queries + kEncodeThreads - 1) / kEncodeThreads);
    shift_queries_kernel<<<blocks, kEncodeThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("preparing the scan");
}

void launch_encode_train(const EncodeJob& job, cudaStream_t stream) {
  launch_encode<true>(job, stream);
}

void launch_encode_queries(const EncodeJob& job, cudaStream_t stream) {
  launch_encode<false>(job, stream);
}

void launch_starts(const StartJob& job, cudaStream_t stream) {
  starts_kernel<<<1024, kEncodeThreads, 0, stream>>>(job);
  stope::cuda::check_launch("preparing the scan");
}

}  // namespace stope::knn::cuda
