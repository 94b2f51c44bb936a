// Random bytes as a raw array give a valid table or a stope::Error. A table survives being written and read.
//
// The first byte chooses the dtype, the next eight are n_features (small, or anything), the rest is the file.
#include "fuzz_table.hpp"
#include "io/readers.hpp"
#include "io/write_table_formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stope;
  if (size < 9) return 0;
  constexpr const char* kTypes[] = {"float32", "float64", "int32", "int64", "uint8", "float16"};
  ReadOptions options;
  options.dtype = kTypes[(data[0] & 127) % 6];
  std::memcpy(&options.n_features, data + 1, sizeof options.n_features);
  if (data[0] & 128) options.n_features &= 15;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 9, size - 9);
  const auto read = [&options](std::string_view view) {
    return fuzz::table_or_error(
        [&] { return io::read_raw({view, nullptr, "fuzz", 0}, options, fuzz::bounded_run(std::int64_t{1} << 18)); });
  };
  const std::optional<Table> table = read(bytes);
  if (!table.has_value()) return 0;
  std::string written;
  io::write_raw(*table, options.dtype, fuzz::bounded_run(std::int64_t{1} << 18),
                [&](std::string_view piece) { written += piece; });
  fuzz::require(written.size() == bytes.size());
  const std::optional<Table> back = read(written);
  fuzz::require(back.has_value());
  fuzz::require_equal(*table, *back);
  return 0;
}
