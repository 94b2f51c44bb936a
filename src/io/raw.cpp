// Raw little-endian arrays: rows of n_features numbers of one type, nothing else (docs/FORMATS.md).
#include <string>

#include "base/checked.hpp"
#include "io/raw_columns.hpp"
#include "io/readers.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

ElementType dtype_of(const std::string& name) {
  if (name == "float32") return ElementType::float32;
  if (name == "float64") return ElementType::float64;
  if (name == "int32") return ElementType::int32;
  if (name == "int64") return ElementType::int64;
  if (name == "uint8") return ElementType::uint8;
  throw Error(ErrorCode::invalid_argument,
              "unknown dtype '" + name + "', use float32, float64, int32, int64 or uint8" +
                  did_you_mean(name, {"float32", "float64", "int32", "int64", "uint8"}),
              {.option = "dtype"});
}

}  // namespace

Table read_raw(const Bytes& bytes, const ReadOptions& options, const RunOptions& run) {
  const ElementType type = dtype_of(options.dtype);
  if (options.n_features <= 0) {
    throw Error(ErrorCode::invalid_argument,
                "a raw file needs its number of columns (n_features), got " + std::to_string(options.n_features),
                {.file = bytes.name, .option = "n_features"});
  }
  const auto size = static_cast<std::int64_t>(bytes.view.size());
  const std::int64_t row_bytes = checked::mul(options.n_features, size_of(type));
  if (size % row_bytes != 0) {
    throw Error(ErrorCode::invalid_data,
                std::to_string(size) + " bytes are not a whole number of rows of " +
                    std::to_string(options.n_features) + " x " + options.dtype + " (" + std::to_string(row_bytes) +
                    " bytes each)",
                {bytes.name});
  }
  const ArrayView array{bytes.view.data(), type, size / row_bytes, options.n_features, options.n_features};
  return table_of(array, bytes, run);
}

}  // namespace stope::io
