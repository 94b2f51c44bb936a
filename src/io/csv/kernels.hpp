// The inner loops of the CSV reader, compiled once per instruction set (kernels.inl) and chosen at run time. Their text
// must be readable for kPadding bytes past its end.
#pragma once

#include <cstdint>
#include <string_view>

namespace stope::io::csv {

/// Bytes that must be readable after any segment: one block of 64, and 16 for loading a key. A number loads 32.
inline constexpr std::int64_t kPadding = 80;

/// Record ends in a range of bytes, under both guesses about its first byte: [0] outside quotes, [1] inside.
struct EndCount {
  std::int64_t ends[2] = {0, 0};
  std::int64_t empty[2] = {0, 0};        ///< how many of them end an empty line
  std::int64_t first_end[2] = {-1, -1};  ///< offset of the last byte of the first end
  bool first_is_empty[2] = {false, false};
  bool odd_quotes = false;  ///< the guess flips for the next range
};

/// Fields, of some records or within one. `ends[i]` is the offset of the byte after field i; field i + 1 begins one
/// byte later.
struct FieldIndex {
  std::int64_t n_fields = 0;
  std::int64_t n_newlines = 0;  ///< fields that end a record
  bool irregular = false;       ///< rarer parts of the grammar occur, so record.hpp must decide
  bool suspicious = false;      ///< a byte above 127 or a NUL occurs
};

/// One column of a batch of records: field r lies between begins[r * stride] + skip and ends[r * stride].
struct ColumnSlice {
  const char* base = nullptr;
  const std::uint32_t* begins = nullptr;
  const std::uint32_t* ends = nullptr;
  std::uint32_t skip = 0;
  std::int64_t stride = 0;
  std::int64_t n_rows = 0;
  bool last = false;  ///< the last column: the CR of a CR LF is not part of the field

  std::string_view field(std::int64_t r) const {
    const std::uint32_t begin = begins[r * stride] + skip;
    std::uint32_t end = ends[r * stride];
    if (last && end > begin && base[end - 1] == '\r') --end;
    return {base + begin, end - begin};
  }
};

/// What Kernels::plain_numbers met.
struct PlainNumbers {
  std::int64_t n_rest = 0;
  std::int64_t n_empty = 0;
  bool points = false;         ///< some number has a decimal mark
  bool leading_zeros = false;  ///< some whole number begins with a zero and goes on
};

struct Kernels {
  const char* name;

  /// Counts in text[begin, end), part of a text of n bytes. `line_start`: a line is known to begin at `begin`.
  EndCount (*count_ends)(const char* text, std::int64_t begin, std::int64_t end, std::int64_t n, bool line_start);

  /// Indexes the fields from `text` on, the start of a field, until it has `max_fields` of them or has read `size`
  /// bytes, which end with a field. Offsets count from `origin` bytes before `text`. Writes up to max_fields + 64
  /// entries.
  FieldIndex (*index_fields)(const char* text, std::int64_t size, char separator, std::int64_t max_fields,
                             std::uint32_t origin, std::uint32_t* ends);

  /// Reads the plain decimals of a column, correctly rounded: [-]digits[.digits] with at most 16 characters after the
  /// sign, whose digits are a number below 2^53. A level may also read most of those with a point and up to 17 digits.
  /// An empty field becomes NaN. Rows with anything else go to `rest`.
  PlainNumbers (*plain_numbers)(const ColumnSlice& column, char decimal, double* out, std::uint32_t* rest);
};

/// All kernels that this CPU can run, the best last; the first is portable.
const Kernels* const* available_kernels(int* n);
/// The best kernels that this CPU can run.
const Kernels& best_kernels();

namespace scalar {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

}  // namespace stope::io::csv
