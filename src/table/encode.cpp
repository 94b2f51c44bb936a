#include "table/encode.hpp"

#include <algorithm>
#include <limits>

#include "table/check_table.hpp"

namespace stope {
namespace {

double encode(double value, const std::vector<std::int32_t>&) {
  return value;
}
double encode(float value, const std::vector<std::int32_t>&) {
  return static_cast<double>(value);
}
double encode(std::int32_t code, const std::vector<std::int32_t>& codes) {
  const std::int32_t mapped = code < 0 || codes.empty() ? code : codes[static_cast<std::size_t>(code)];
  return mapped == kMissingCode ? std::numeric_limits<double>::quiet_NaN() : mapped;
}

// Columns encoded at a time: one cache line of a row.
constexpr std::int64_t kTogether = 8;

// Encodes columns [0, kTogether), all of one type, rows [begin, end).
template <class T>
void encode_together(const MatchedColumn* columns, std::int64_t begin, std::int64_t end, std::int64_t width,
                     double* out) {
  const T* from[kTogether];
  for (std::int64_t c = 0; c < kTogether; ++c) from[c] = std::get<Buffer<T>>(columns[c].column->data).data() + begin;
  for (std::int64_t row = 0; row < end - begin; ++row, out += width) {
    for (std::int64_t c = 0; c < kTogether; ++c) out[c] = static_cast<double>(from[c][row]);
  }
}

// Whether columns [0, n) all hold values of type T.
template <class T>
bool all_hold(const MatchedColumn* columns, std::int64_t n) {
  return std::all_of(columns, columns + n, [](const MatchedColumn& matched) {
    return std::holds_alternative<Buffer<T>>(matched.column->data);
  });
}

}  // namespace

void encode_rows(const std::vector<MatchedColumn>& columns, std::int64_t begin, std::int64_t end, double* out) {
  // Rows are encoded in strips, so that a strip of output stays in the cache, and a strip is encoded column by column.
  // Numbers take eight columns at a time: where a row's length is a power of two, the cache lines that one column
  // writes share few places in the cache.
  constexpr std::int64_t kStrip = 128;
  const auto width = static_cast<std::int64_t>(columns.size());
  for (std::int64_t strip = begin; strip < end; strip += kStrip) {
    const std::int64_t strip_end = std::min(strip + kStrip, end);
    double* const to = out + (strip - begin) * width;
    for (std::int64_t c = 0; c < width; ++c) {
      const MatchedColumn& matched = columns[static_cast<std::size_t>(c)];
      if (c + kTogether <= width && all_hold<float>(&matched, kTogether)) {
        encode_together<float>(&matched, strip, strip_end, width, to + c);
        c += kTogether - 1;
        continue;
      }
      if (c + kTogether <= width && all_hold<double>(&matched, kTogether)) {
        encode_together<double>(&matched, strip, strip_end, width, to + c);
        c += kTogether - 1;
        continue;
      }
      if (matched.column->nominal()) check_codes(*matched.column, strip, strip_end);
      std::visit(
          [&](const auto& data) {
            for (std::int64_t row = strip; row < strip_end; ++row) {
              out[(row - begin) * width + c] = encode(data[row], matched.codes);
            }
          },
          matched.column->data);
    }
  }
}

}  // namespace stope
