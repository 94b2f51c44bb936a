// Makes images in vectors: along a row from doubles to floats, then down the columns of a block from floats to bytes.
// The sources of this folder compile it once per instruction set (base/simd/target_region.hpp). Nothing here may use
// the standard library (encode.hpp).

namespace {

#include "base/simd/prelude.inl"

STOPE_INLINE Doubles size_of(Doubles v) {
  return __builtin_bit_cast(Doubles, __builtin_bit_cast(Longs, v) & 0x7fffffffffffffff);
}
// Return the larger one; a NaN in the first is left out.
STOPE_INLINE Doubles larger_of(Doubles a, Doubles b) {
  return a > b ? a : b;
}
// Adds halves of the lanes, then quarters, and so on: rows are short, and their lanes are added up for each of them.
STOPE_INLINE double add_lanes(Doubles v) {
  double lanes[kDoubleLanes];
  __builtin_memcpy(lanes, &v, sizeof lanes);
  for (int half = kDoubleLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}
STOPE_INLINE double largest_lane(Doubles v) {
  double most = v[0];
  for (int lane = 1; lane < kDoubleLanes; ++lane) most = v[lane] > most ? v[lane] : most;
  return most;
}

// Loads the first n < kDoubleLanes elements, then zeros. What follows them may not be readable.
STOPE_INLINE Doubles load_first(const double* p, int n) {
#if defined(STOPE_AVX512)
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1 << n) - 1), p);
#else
  Doubles v = {};
  for (int lane = 0; lane < kDoubleLanes - 1; ++lane) {
    if (lane < n) v[lane] = p[lane];
  }
  return v;
#endif
}

// Up to a register of numbers; the last ones of a row are followed by zeros.
struct Numbers {
  Doubles x, centre, scale;

  STOPE_INLINE static Numbers whole(const NumberRun& run, const double* row, std::int64_t c) {
    return {doubles_at(row + c), doubles_at(run.centres + c), doubles_at(run.scales + c)};
  }
  STOPE_INLINE static Numbers rest(const NumberRun& run, const double* row, std::int64_t c) {
    const int n = static_cast<int>(run.n - c);
    return {load_first(row + c, n), load_first(run.centres + c, n), load_first(run.scales + c, n)};
  }
};

// The same steps as in put_numbers() and add_residual() (row_image.hpp). Only the order of the sum differs.
template <Term term, bool skips_missing>
struct Residual {
  Doubles sum = {};

  STOPE_INLINE HalfFloats add(const Numbers& numbers, Doubles factor) {
    const Doubles value = (numbers.x - numbers.centre) * numbers.scale * factor;
    const HalfFloats image = __builtin_convertvector(value, HalfFloats);
    const Doubles size = size_of(value);
    Doubles error = size_of(value - __builtin_convertvector(image, Doubles)) + all(0x1p-50) * size;
    if constexpr (skips_missing) error = larger_of(error, Doubles{});
    error = size > kMost ? all(__builtin_inf()) : error;
    if constexpr (term == Term::square) {
      sum += error * error;
    } else if constexpr (term == Term::absolute) {
      sum += error;
    } else {
      sum = larger_of(error, sum);
    }
    return image;
  }
  STOPE_INLINE double result() const {
    const double residual = term == Term::maximum ? largest_lane(sum) : add_lanes(sum);
    return residual < __builtin_inf() ? residual : __builtin_nan("");
  }

  static constexpr double kMost = 1e30;  // bounds_number()
};

// Rows lie one after the other, and are read once. Where the CPU does not see that itself (virtual machines), an early
// request doubles the speed: 100,000 x 768, one core, AVX-512: 1.09 -> 0.55 ns a value, which is what memory gives.
constexpr std::int64_t kAhead = 256;

template <Term term, bool skips_missing>
double numbers(const NumberRun& run, const double* row, float* images) {
  const Doubles factor = all(run.factor);
  Residual<term, skips_missing> residual;
  std::int64_t c = 0;
  for (; c + kDoubleLanes <= run.n; c += kDoubleLanes) {
    __builtin_prefetch(row + c + kAhead);
    store(images + c, residual.add(Numbers::whole(run, row, c), factor));
  }
  if (c < run.n) {
    const HalfFloats last = residual.add(Numbers::rest(run, row, c), factor);
    for (int lane = 0; c + lane < run.n; ++lane) images[c + lane] = last[lane];
  }
  return residual.result();
}

// A lane has a row. Its numbers are added up in their order, as put_numbers() does.
template <Term term, bool skips_missing>
void columns_of_rows(const NumberRun& run, const double* rows, std::int64_t n, float* images, std::int64_t stride,
                     double* residuals) {
  for (std::int64_t first = 0; first < n; first += kDoubleLanes) {
    const int lanes = n - first < kDoubleLanes ? static_cast<int>(n - first) : kDoubleLanes;
    Residual<term, skips_missing> residual;
    for (std::int64_t c = 0; c < run.n; ++c) {
      const double* const numbers = rows + first * run.n + c;
      Doubles x = {};
      if (lanes == kDoubleLanes) {
        for (int lane = 0; lane < kDoubleLanes; ++lane) x[lane] = numbers[lane * run.n];
      } else {
        for (int lane = 0; lane < lanes; ++lane) x[lane] = numbers[lane * run.n];
      }
      store(images + c * stride + first, residual.add({x, all(run.centres[c]), all(run.scales[c])}, all(1.0)));
    }
    for (int lane = 0; lane < lanes; ++lane) residuals[first + lane] = residual.sum[lane];
  }
}

void few_numbers(const NumberRun& run, const double* rows, std::int64_t n, float* images, std::int64_t stride,
                 double* residuals) {
  switch (run.sum) {
    case ResidualSum::squares: return columns_of_rows<Term::square, true>(run, rows, n, images, stride, residuals);
    case ResidualSum::squares_of_all:
      return columns_of_rows<Term::square, false>(run, rows, n, images, stride, residuals);
    case ResidualSum::absolutes: return columns_of_rows<Term::absolute, true>(run, rows, n, images, stride, residuals);
    case ResidualSum::maximum: return columns_of_rows<Term::maximum, true>(run, rows, n, images, stride, residuals);
    case ResidualSum::none: break;
  }
}

double any_numbers(const NumberRun& run, const double* row, float* images) {
  switch (run.sum) {
    case ResidualSum::squares: return numbers<Term::square, true>(run, row, images);
    case ResidualSum::squares_of_all: return numbers<Term::square, false>(run, row, images);
    case ResidualSum::absolutes: return numbers<Term::absolute, true>(run, row, images);
    case ResidualSum::maximum: return numbers<Term::maximum, true>(run, row, images);
    case ResidualSum::none: break;
  }
  return __builtin_nan("");
}

// See put_unit_row() (row_image.hpp).
double unit_factor(const NumberRun& run, const double* row) {
  Doubles largest = {}, squares = {};
  const auto add = [&](const Numbers& numbers) __attribute__((always_inline)) {
    const Doubles value = numbers.x * numbers.scale;
    largest = larger_of(size_of(numbers.x), largest);
    squares += value * value;
  };
  std::int64_t c = 0;
  for (; c + kDoubleLanes <= run.n; c += kDoubleLanes) add(Numbers::whole(run, row, c));
  if (c < run.n) add(Numbers::rest(run, row, c));
  const double most = largest_lane(largest), sum = add_lanes(squares);
  if (sum != sum || (most > 0.0 && !(most < 1e100 && most > 1e-100))) return __builtin_nan("");
  if (sum > 0.0 && !(sum < 1e250 && sum > 1e-250)) return __builtin_nan("");
  return sum > 0.0 ? 1.0 / __builtin_sqrt(sum) : 0.0;
}

// Four rows by four columns at a time: every CPU has registers of that size, and the memory is the limit.
typedef float Four __attribute__((vector_size(16)));

STOPE_INLINE void transpose_four(const float* from, std::int64_t stride, float* to) {
  const Four a = load<Four>(from), b = load<Four>(from + stride), c = load<Four>(from + 2 * stride),
             d = load<Four>(from + 3 * stride);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store(to + kScanBlockRows, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store(to + 2 * kScanBlockRows, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store(to + 3 * kScanBlockRows, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

void transpose(const float* images, std::int64_t n_columns, float* columns) {
  std::int64_t c = 0;
  for (; c + 4 <= n_columns; c += 4) {
    for (int row = 0; row < kTransposedRows; row += 4) {
      transpose_four(images + row * n_columns + c, n_columns, columns + c * kScanBlockRows + row);
    }
  }
  for (; c < n_columns; ++c) {
    for (int row = 0; row < kTransposedRows; ++row) columns[c * kScanBlockRows + row] = images[row * n_columns + c];
  }
}

// A group of columns becomes a word of four bytes a row: a byte has a column, or two in nibbles, the first four low.
template <bool nibbles>
struct Steps {
  static constexpr int kGroup = nibbles ? 8 : 4;
  static constexpr int kVectors = kScanBlockRows / kFloatLanes < 4 ? kScanBlockRows / kFloatLanes : 4;
  static constexpr float kRound = 12582912.0F;  // see whole_number(); the sum's low bits are the whole number

  Floats errors[kVectors] = {};
  Ints squares[kVectors] = {};

  STOPE_INLINE Ints add(const float* column, int n, int v, const Rounding& rounding) {
    Ints word = {};
    Floats products = {};
#pragma GCC unroll 8
    for (int j = 0; j < n; ++j) {
      Floats value = load<Floats>(column + j * kScanBlockRows);
      value = value == value ? value : Floats{};
      const Floats scaled = nibbles ? value * rounding.steps + rounding.centre : value * rounding.steps;
      Floats inside = scaled > rounding.least ? scaled : all(rounding.least);
      inside = inside < rounding.most ? inside : all(rounding.most);
      const Floats sum = inside + kRound, whole = sum - kRound, error = scaled - whole;
      errors[v] += error * error;
      products += nibbles ? whole * (whole - 15.0F) : whole * whole;
      const Ints number = __builtin_bit_cast(Ints, sum) & (nibbles ? 15 : 255);
      word |= number << (nibbles ? j % 4 * 8 + j / 4 * 4 : j * 8);
    }
    squares[v] += __builtin_convertvector(products, Ints);
    return nibbles ? word : word ^ static_cast<std::int32_t>(0x80808080);
  }
};

template <bool nibbles>
void steps(const float* block, std::int64_t n_columns, const Rounding& rounding, std::uint8_t* bytes,
           std::int32_t* squares, float* errors) {
  using Rows = Steps<nibbles>;
  constexpr int kGroup = Rows::kGroup, kRows = Rows::kVectors * kFloatLanes;
  for (int first = 0; first < kScanBlockRows; first += kRows) {
    Rows rows;
    for (std::int64_t c = 0; c < n_columns; c += kGroup) {
      const int n = n_columns - c < kGroup ? static_cast<int>(n_columns - c) : kGroup;
      const float* column = block + c * kScanBlockRows + first;
      std::uint8_t* word = bytes + (c / kGroup * kScanBlockRows + first) * 4;
      for (int v = 0; v < Rows::kVectors; ++v, column += kFloatLanes, word += sizeof(Ints)) {
        store(word, n == kGroup ? rows.add(column, kGroup, v, rounding) : rows.add(column, n, v, rounding));
      }
    }
    for (int v = 0; v < Rows::kVectors; ++v) {
      store(squares + first + v * kFloatLanes, rows.squares[v]);
      store(errors + first + v * kFloatLanes, rows.errors[v]);
    }
  }
}

// Rounds up to four columns of a register of rows for differences.
STOPE_INLINE Ints difference_word(const float* column, std::int64_t n, const Rounding& rounding, Floats& errors) {
  constexpr float kRound = 12582912.0F;
  Ints word = {};
  for (int j = 0; j < 4; ++j) {
    if (j >= n) {
      word |= Ints{} + static_cast<std::int32_t>(std::uint32_t{128} << (j * 8));
      continue;
    }
    const Floats value = load<Floats>(column + j * kScanBlockRows);
    const Ints present = value == value;
    const Floats scaled = (value == value ? value : Floats{}) * rounding.steps;
    Floats inside = scaled > rounding.least ? scaled : all(rounding.least);
    inside = inside < rounding.most ? inside : all(rounding.most);
    const Floats sum = inside + kRound, error = scaled - (sum - kRound);
    errors += error < Floats{} ? -error : error;
    word |= (((__builtin_bit_cast(Ints, sum) & 255) ^ 128) & present) << (j * 8);
  }
  return word;
}

void difference_steps(const float* block, std::int64_t n_columns, const Rounding& rounding, std::uint8_t* bytes,
                      float* errors) {
  constexpr std::int64_t kGroup = 8;
  for (int first = 0; first < kScanBlockRows; first += kFloatLanes) {
    Floats sums = {};
    for (std::int64_t c = 0; c < n_columns; c += kGroup) {
      std::int32_t low[kFloatLanes], high[kFloatLanes], both[2 * kFloatLanes];
      const float* const column = block + c * kScanBlockRows + first;
      store(low, difference_word(column, n_columns - c, rounding, sums));
      store(high, difference_word(column + 4 * kScanBlockRows, n_columns - c - 4, rounding, sums));
      for (int row = 0; row < kFloatLanes; ++row) both[2 * row] = low[row], both[2 * row + 1] = high[row];
      __builtin_memcpy(bytes + (c / kGroup * kScanBlockRows + first) * kGroup, both, sizeof both);
    }
    store(errors + first, sums);
  }
}

// Measured on rows of 1 to 32 numbers. Adding up the lanes of a row costs as much as a few numbers.
constexpr std::int64_t kLeastNumbers = STOPE_VECTOR_BYTES == 16 ? 16 : 8;

}  // namespace

const EncodeKernels kEncodeKernels = {kLeastNumbers, any_numbers,  few_numbers, unit_factor,
                                      transpose,     steps<false>, steps<true>, difference_steps};
