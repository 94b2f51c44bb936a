// Raw little-endian arrays: rows of n_features numbers of one type, nothing else (docs/FORMATS.md).
#include <string>

#include "base/checked.hpp"
#include "io/raw_columns.hpp"
#include "io/readers.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

ArrayType dtype_of(const std::string& name) {
  if (name == "float32") return ArrayType::float32;
  if (name == "float64") return ArrayType::float64;
  if (name == "int32") return ArrayType::int32;
  if (name == "int64") return ArrayType::int64;
  if (name == "uint8") return ArrayType::uint8;
  throw Error(ErrorCode::invalid_argument, "unknown dtype '" + name + "', use float32, float64, int32, int64 or uint8" +
                                               did_you_mean(name, {"float32", "float64", "int32", "int64", "uint8"}));
}

}  // namespace

Table read_raw(const Bytes& bytes, const ReadOptions& options, const RunOptions& run) {
  const ArrayType type = dtype_of(options.dtype);
  if (options.n_features <= 0) {
    throw Error(ErrorCode::invalid_argument, bytes.name +
                                                 ": a raw file needs its number of columns (n_features), got " +
                                                 std::to_string(options.n_features));
  }
  const auto size = static_cast<std::int64_t>(bytes.view.size());
  const std::int64_t row_bytes = checked::mul(options.n_features, bytes_of(type));
  if (size % row_bytes != 0) {
    throw Error(ErrorCode::invalid_file, bytes.name + ": " + std::to_string(size) +
                                             " bytes are not a whole number of rows of " +
                                             std::to_string(options.n_features) + " x " + options.dtype + " (" +
                                             std::to_string(row_bytes) + " bytes each)");
  }
  const ArrayView array{bytes.view.data(), type, size / row_bytes, options.n_features, row_bytes, bytes_of(type)};
  return table_of(array, bytes, run);
}

}  // namespace stope::io
