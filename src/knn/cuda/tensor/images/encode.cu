// Rows in double precision become images in halves or bytes; a warp makes those of a few rows at a time.
#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/images/row_sums.cuh"
#include "knn/cuda/tensor/images/tile_layout.cuh"

namespace stope::knn::cuda {
namespace {

using cuda_abi::ImageColumn;
using cuda_abi::ImagePart;

constexpr int kEncodeThreads = 256;

__device__ __half number_part(const ImageColumn& column, double value, double factor, Gathered& gathered) {
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

__device__ __half square_part(const ImageColumn& column, double value, bool low) {
  const double image = static_cast<double>(__half2float(__double2half((value - column.centre) * column.scale)));
  if (!(fabs(image) <= kMostImage)) return __half(0.0F);  // the value is missing, or out of bounds
  const double square = -0.5 * image * image;
  const __half high = __double2half(square);
  return low ? __double2half(square - static_cast<double>(__half2float(high))) : high;
}

__device__ __half value_part(const ImageColumn& column, double code, float factor, Gathered& gathered) {
  if (isnan(code)) {
    gathered.bounded &= column.masked != 0;
    return __half(0.0F);
  }
  // A value that the table did not have differs from every value that it has.
  if (!(code >= 0.0 && code < column.n_values)) return __half(0.0F);
  return __float2half(static_cast<std::int64_t>(code) % column.n_buckets == column.value ? factor : 0.0F);
}

template <bool kTrain>
__device__ __half image_of(const ImageColumn& column, double value, double row_factor, Gathered& gathered) {
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
      // For each attribute one column says that it is missing: a number's own column, or this one of a nominal
      // attribute.
      if (isnan(value) && column.query == column.train) gathered.missing += 1.0;
      return __float2half(isnan(value) ? 0.0F : factor);
    }
  }
  return __half(0.0F);
}

/// Returns 1 / the length of a row. If squares can overflow or vanish, the reference computes no cosine, and the row
/// has no bound. A row of zeros has no bound either: by definition its distance from all rows is 1. `values` is null if
/// there is no row.
template <int kLanes>
__device__ double unit_factor(const EncodeJob& job, const double* values, Gathered& gathered) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  double squares = 0.0, unbounded = 0.0;
  for (int c = lane; c < job.n_columns && values != nullptr; c += kLanes) {
    const ImageColumn& column = job.columns[c];
    if (column.train != ImagePart::number) continue;
    const double value = values[column.source], scaled = value * column.scale;
    unbounded += fabs(value) < 1e100 ? 0.0 : 1.0;  // 1 for NaN, too
    squares += scaled * scaled;
  }
  squares = row_sum<kLanes>(squares);
  unbounded = row_sum<kLanes>(unbounded);
  // A row with a norm of 1e-90 or more has a value above 1e-100, whatever weights a filter takes.
  if (unbounded > 0.0 || !(squares < 1e250 && squares > 1e-120)) {
    gathered.bounded = false;
    return 0.0;
  }
  // One rounding a column, relative to the row's length of 1.
  const double error = static_cast<double>(job.n_columns) * 0x1p-52;
  if (lane == 0) gathered.errors += error * error;
  return 1.0 / sqrt(squares);
}

/// Where the score of a training row starts: at -|t|^2 / 2. A row without a bound starts so high that it reaches any
/// threshold. A row that does not exist starts so low that it reaches none.
struct Start {
  __half high, low;
  float value;
};
enum class RowKind { bounded, unbounded, none };

__device__ Start start_of(const StartPlace& place, double squares, RowKind kind) {
  if (place.bytes) {
    // Half of an odd number is rounded up; product_error allows for that.
    const int start = kind == RowKind::unbounded ? kAlwaysOfBytes
                      : kind == RowKind::none    ? kNeverOfBytes
                                                 : kByteShift - static_cast<int>(ceil(0.5 * squares));
    return {__half(0.0F), __half(0.0F), __int_as_float(start)};
  }
  // These starts are infinities.
  if (kind == RowKind::unbounded) return {__ushort_as_half(0x7c00), __half(0.0F), kAlways};
  if (kind == RowKind::none) return {__ushort_as_half(0xfc00), __half(0.0F), kNever};
  const double start = -0.5 * squares;
  const __half high = __double2half(start);
  return {high, __double2half(start - static_cast<double>(__half2float(high))), static_cast<float>(start)};
}

__device__ void place_start(const StartPlace& to, std::int64_t row, const Start& start) {
  if (to.column < 0) {
    to.starts[row] = start.value;
    return;
  }
  to.tiles[tile_place(row, to.column, to.width)] = start.high;
  to.tiles[tile_place(row, to.column + 1, to.width)] = start.low;
}

/// Writes the results for a row, after the lanes have gathered its parts and added them up.
template <bool kTrain>
__device__ void write_summary(const EncodeJob& job, std::int64_t row, const Gathered& sums) {
  bool bounded = sums.bounded;
  // A query and a training row share an attribute if together they have more than n present values.
  if (job.n_to_share > 0.0) {
    bounded &= kTrain ? 2.0 * sums.missing < job.n_to_share : 2.0 * sums.missing <= job.n_to_share;
  }
  const float norm = __double2float_ru((sums.squares + sums.masked) * (1.0 + 1e-9));
  if (job.bytes.factor == 0) bounded &= norm <= (kTrain ? kMostTrainNorm : kMostQueryNorm);
  if (!kTrain) job.squares[row] = sums.squares;
  job.norms[row] = norm;
  job.residuals[row] = bounded ? __double2float_ru(sqrt(sums.errors) * (1.0 + 1e-6)) : __int_as_float(0x7fffffff);
  if (!kTrain) return;
  const bool exists = row < job.first + job.n;
  const RowKind kind = !exists ? RowKind::none : bounded ? RowKind::bounded : RowKind::unbounded;
  place_start(job.start, row, start_of(job.start, sums.squares, kind));
}

/// What a lane's word of an image holds: two neighbouring columns of halves, or four of bytes.
enum class Images { any, plain, bytes };

__device__ __forceinline__ std::uint32_t word_of(__half2 images) {
  return *reinterpret_cast<const std::uint32_t*>(&images);
}

/// Two neighbouring columns of an image, which a lane keeps for several rows.
struct PlainPair {
  double centre[2], scale[2];
  int source[2];

  __device__ PlainPair(const EncodeJob& job, int column) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      centre[i] = job.plain[column + i].centre;
      scale[i] = job.plain[column + i].scale;
      source[i] = job.plain_sources[column + i];
    }
  }
  __device__ std::uint32_t image(const double* values, double, PlainSums& sums) const {
    __half images[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      images[i] = source[i] < 0 ? __double2half(scale[i]) : sums.add(__ldcs(values + source[i]), centre[i], scale[i]);
    }
    return word_of({images[0], images[1]});
  }
};

/// Four neighbouring columns of bytes, in the place of two halves, `column` and the next.
template <bool kTrain>
struct ByteColumns {
  double centre[4];
  int source[4];
  const ByteSteps& steps;

  __device__ ByteColumns(const EncodeJob& job, int column) : steps(job.bytes) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      centre[i] = job.plain[2 * column + i].centre;
      source[i] = job.plain_sources[2 * column + i];
    }
  }
  __device__ std::uint32_t image(const double* values, double, ByteSums& sums) const {
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int image = source[i] < 0 ? 0 : sums.add(__ldcs(values + source[i]), centre[i], steps);
      word |= (static_cast<std::uint32_t>(kTrain ? image : steps.factor * image) & 255U) << (8 * i);
    }
    return word;
  }
};

template <bool kTrain>
struct AnyPair {
  ImageColumn columns[2];

  __device__ AnyPair(const EncodeJob& job, int column) {
#pragma unroll
    for (int i = 0; i < 2; ++i) columns[i] = column + i < job.n_columns ? job.columns[column + i] : ImageColumn{};
  }
  __device__ std::uint32_t image(const double* values, double factor, Gathered& gathered) const {
    __half images[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) images[i] = image_of<kTrain>(columns[i], values[columns[i].source], factor, gathered);
    return word_of({images[0], images[1]});
  }
};

template <bool kTrain, Images kImages>
struct Words {
  using Columns = AnyPair<kTrain>;
  using Sums = Gathered;
};
template <bool kTrain>
struct Words<kTrain, Images::plain> {
  using Columns = PlainPair;
  using Sums = PlainSums;
};
template <bool kTrain>
struct Words<kTrain, Images::bytes> {
  using Columns = ByteColumns<kTrain>;
  using Sums = ByteSums;
};

/// A warp takes kRowsOfLane rows at a time, or twice as many if images have 32 columns. A lane has one word of each row
/// in a panel, so that a warp reads and writes whole lines.
template <bool kTrain, Images kImages, int kLanes>
__global__ void __launch_bounds__(kEncodeThreads) encode_kernel(const EncodeJob job) {
  constexpr int kRowsAStep = 32 / kLanes, kRows = kRowsOfLane * kRowsAStep;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, side = static_cast<int>(threadIdx.x) % 32 / kLanes;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (kEncodeThreads / 32);
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * (kEncodeThreads / 32) + threadIdx.x / 32;
  const std::int64_t end = job.first + job.n;
  for (std::int64_t group = job.first + warp * kRows; group < job.n_padded; group += warps * kRows) {
    const std::int64_t first = group + side;  // the lane's first row; its next row is kRowsAStep further
    const double* const values = job.rows + (first - job.first) * job.row_width;
    typename Words<kTrain, kImages>::Sums gathered[kRowsOfLane];
    double factors[kRowsOfLane];
#pragma unroll
    for (int s = 0; s < kRowsOfLane; ++s) {
      const std::int64_t row = first + s * kRowsAStep;
      factors[s] = 1.0;
      if constexpr (kImages == Images::any) {
        if (!job.unit_rows) continue;
        const double* const own = row < end ? values + s * kRowsAStep * job.row_width : nullptr;
        factors[s] = unit_factor<kLanes>(job, own, gathered[s]);
        if (own == nullptr) gathered[s] = {};
      }
    }
    for (int c = 2 * lane; c < job.width; c += 2 * kLanes) {
      const typename Words<kTrain, kImages>::Columns columns(job, c);
      std::uint32_t images[kRowsOfLane];
#pragma unroll
      for (int s = 0; s < kRowsOfLane; ++s) {
        const std::int64_t row = first + s * kRowsAStep;
        images[s] = 0;
        if (row < end) images[s] = columns.image(values + s * kRowsAStep * job.row_width, factors[s], gathered[s]);
      }
#pragma unroll
      for (int s = 0; s < kRowsOfLane; ++s) {
        const std::int64_t row = first + s * kRowsAStep;
        if (row >= job.n_padded) continue;
        const auto store = [&](__half* to) { *reinterpret_cast<std::uint32_t*>(to) = images[s]; };
        if (!kTrain) store(job.images + row * job.width + c);
        if (job.tiles != nullptr) store(job.tiles + tile_place(row, c, job.width));
      }
    }
    Gathered sums = add_up<kLanes>(gathered);
    if constexpr (kImages == Images::bytes) {
      sums.errors *= job.bytes.factor;
      sums.squares *= job.bytes.factor;
    }
    __syncwarp();  // the columns of starts have been zeroed, before the starts are written
    const std::int64_t row = first + step_of_lane<kLanes>() * kRowsAStep;
    if (lane % (kLanes / kRowsOfLane) == 0 && row < job.n_padded) write_summary<kTrain>(job, row, sums);
  }
}

template <bool kTrain, Images kImages, int kLanes>
void launch_lanes(const EncodeJob& job, cudaStream_t stream) {
  constexpr std::int64_t kMostBlocks = 4096, kRowsOfBlock = kEncodeThreads / kLanes * kRowsOfLane;
  const std::int64_t rows = job.n_padded - job.first, blocks = (rows + kRowsOfBlock - 1) / kRowsOfBlock;
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  encode_kernel<kTrain, kImages, kLanes><<<grid, kEncodeThreads, 0, stream>>>(job);
  stope::cuda::check_launch("making images");
}

template <bool kTrain>
void launch_encode(const EncodeJob& job, cudaStream_t stream) {
  if (job.n_padded <= job.first) return;
  const bool narrow = job.width == 32;
  if (job.bytes.factor != 0) {
    launch_lanes<kTrain, Images::bytes, 32>(job, stream);
  } else if (job.plain != nullptr) {
    narrow ? launch_lanes<kTrain, Images::plain, 16>(job, stream)
           : launch_lanes<kTrain, Images::plain, 32>(job, stream);
  } else {
    narrow ? launch_lanes<kTrain, Images::any, 16>(job, stream) : launch_lanes<kTrain, Images::any, 32>(job, stream);
  }
}

/// Rows whose residual is far above the usual become rows that are always listed.
__global__ void __launch_bounds__(kEncodeThreads) starts_kernel(const StartJob job) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kEncodeThreads;
  float largest = 0.0F;
  unsigned always = 0;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kEncodeThreads + threadIdx.x; row < job.n;
       row += step) {
    const float residual = job.residuals[row];
    if (residual <= job.most_residual) {  // false for NaN
      largest = fmaxf(largest, job.norms[row]);
      continue;
    }
    ++always;
    if (!isnan(residual)) place_start(job.start, row, start_of(job.start, 0.0, RowKind::unbounded));
  }
  // Norms are not negative, so their bits have the same order.
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, offset));
  if (threadIdx.x % 32 == 0) atomicMax(job.largest_norm, __float_as_uint(largest));
  if (always > 0) atomicAdd(job.n_always, static_cast<unsigned long long>(always));
}

/// Rounds up to one of few values, so that the starts of all rows need not be shifted again for every batch of queries.
__device__ float few_bits(float value) {
  constexpr unsigned kDropped = (1U << 21) - 1;  // leaves two bits of the mantissa: at most a quarter more
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
  __syncthreads();  // all maxima of the warps are written
  if (threadIdx.x != 0) return;
  for (const float other : largest_of_warps) largest = fmaxf(largest, other);
  const double query = static_cast<double>(largest), train = job.largest_train_norm;
  const double least = sqrt(query * train) + 0.5 * train + (job.masks ? 0.5 * query + job.nominal : 0.0);
  // The shift exceeds all rounding, and a half can hold it.
  float shift = __half2float(__float2half_ru(__double2float_ru(least * (1.0 + 1e-3) + 1e-6)));
  if (job.column < 0) shift = few_bits(shift);
  job.shift[1] = static_cast<double>(shift) != job.shift[0] ? 1.0 : 0.0;
  job.shift[0] = static_cast<double>(shift);
}

__global__ void __launch_bounds__(kEncodeThreads) shift_starts_kernel(const ShiftJob job) {
  if (job.shift[1] == 0.0) return;  // the starts already have this shift
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
