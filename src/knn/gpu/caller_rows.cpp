#include "knn/gpu/caller_rows.hpp"

#include <algorithm>

#include "device/array_abi.hpp"
#include "device/cuda_plugin.hpp"
#include "knn/gpu/call.hpp"
#include "stope/buffer.hpp"
#include "table/array_rows.hpp"

namespace stope::knn {
namespace {

// Bytes of rows copied to the host at once: few calls, little memory.
constexpr std::int64_t kPieceBytes = std::int64_t{16} << 20;

const char* first_of(const ArrayView& array, std::int64_t row) {
  return static_cast<const char*>(array.data) + row * array.row_stride * size_of(array.type);
}

}  // namespace

bool GpuRows::as_they_are() const {
  const bool floating = rows_.type == ElementType::float32 || rows_.type == ElementType::float64;
  return floating && static_cast<std::int64_t>(columns_.size()) == rows_.n_columns;  // they ascend
}

void GpuRows::encode(std::int64_t begin, std::int64_t end, double* out) const {
  if (begin == end) return;
  const std::int64_t value = size_of(rows_.type), row = rows_.n_columns * value;
  const std::int64_t most = std::clamp<std::int64_t>(kPieceBytes / row, 1, end - begin);
  Buffer<char> bytes(most * row);
  for (std::int64_t first = begin; first < end; first += most) {
    const std::int64_t n = std::min(most, end - first);
    const stope::cuda_abi::Rows piece{first_of(rows_, first), n, row, rows_.row_stride * value};
    checked_call([&](cuda_abi::Failure* failure) {
      return device::plugin().arrays->download(rows_.gpu, rows_.stream, &piece, bytes.data(), failure);
    });
    encode_rows({bytes.data(), rows_.type, n, rows_.n_columns, rows_.n_columns}, columns_, 0, n, out, first);
    out += n * static_cast<std::int64_t>(columns_.size());
  }
}

cuda_abi::DeviceRows GpuRows::rows_from(std::int64_t first) const {
  return {first_of(rows_, first), rows_.row_stride, rows_.type == ElementType::float32 ? 1 : 0, 0, rows_.stream};
}

}  // namespace stope::knn
