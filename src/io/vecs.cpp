// fvecs, bvecs, ivecs (the texmex formats): every row is an int32 length and that many float32, uint8 or int32 values.
#include <string>

#include "base/checked.hpp"
#include "io/raw_columns.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kLengthBytes = sizeof(std::int32_t);  // a multiple of every element

ElementType element_of(Format format) {
  if (format == Format::bvecs) return ElementType::uint8;
  return format == Format::ivecs ? ElementType::int32 : ElementType::float32;
}

[[noreturn]] void fail(const std::string& name, std::int64_t row, std::int64_t offset, const std::string& message) {
  throw Error(ErrorCode::invalid_data,
              "row " + std::to_string(row) + " at byte " + std::to_string(offset) + " " + message, {name});
}

}  // namespace

Table read_vecs(const Bytes& bytes, Format format, const RunOptions& run) {
  const ElementType type = element_of(format);
  const std::int64_t item_bytes = size_of(type);
  ByteReader reader(bytes.view, bytes.name);
  if (reader.remaining() == 0) throw Error(ErrorCode::invalid_data, "the file is empty", {bytes.name});

  // Every row's length is checked before anything is allocated: the number of columns is known only once all rows
  // agree.
  std::int64_t n_columns = 0;
  std::int64_t n_rows = 0;
  for (; reader.remaining() > 0; ++n_rows) {
    const std::int64_t offset = reader.position();
    if (reader.remaining() < kLengthBytes) {
      fail(bytes.name, n_rows, offset, "has " + std::to_string(reader.remaining()) + " bytes, too few for its length");
    }
    const std::int64_t length = reader.read<std::int32_t>("a row's length");
    if (length <= 0) fail(bytes.name, n_rows, offset, "has the impossible length " + std::to_string(length));
    if (n_rows == 0) n_columns = length;
    if (length != n_columns) {
      fail(bytes.name, n_rows, offset,
           "has " + std::to_string(length) + " values, the first row has " + std::to_string(n_columns));
    }
    if (length * item_bytes > reader.remaining()) {
      fail(bytes.name, n_rows, offset,
           "is cut off: " + std::to_string(length) + " values need " + std::to_string(length * item_bytes) +
               " bytes, " + std::to_string(reader.remaining()) + " are left");
    }
    reader.take(length * item_bytes, "a row");
    if (n_rows % 65536 == 0) run.cancel.check();
  }
  const std::int64_t row_stride = checked::add(kLengthBytes / item_bytes, n_columns);
  return table_of({bytes.view.data() + kLengthBytes, type, n_rows, n_columns, row_stride}, bytes, run);
}

}  // namespace stope::io
