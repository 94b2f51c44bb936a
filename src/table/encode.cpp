#include "table/encode.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace

void encode_rows(const std::vector<MatchedColumn>& columns, std::int64_t begin, std::int64_t end, double* out) {
  // Column by column in strips of rows: each column is read in order and the strip of output stays in the cache.
  constexpr std::int64_t kStrip = 256;
  const auto width = static_cast<std::int64_t>(columns.size());
  for (std::int64_t strip = begin; strip < end; strip += kStrip) {
    const std::int64_t strip_end = std::min(strip + kStrip, end);
    for (std::int64_t c = 0; c < width; ++c) {
      const MatchedColumn& matched = columns[static_cast<std::size_t>(c)];
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
