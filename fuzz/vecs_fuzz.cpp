// Random bytes as fvecs, bvecs or ivecs (the first byte chooses) give a valid table or a stope::Error. A table survives
// being written and read.
#include "fuzz_table.hpp"
#include "io/readers.hpp"
#include "io/write_table_formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stope;
  if (size < 1) return 0;
  constexpr Format kFormats[] = {Format::fvecs, Format::bvecs, Format::ivecs};
  const Format format = kFormats[data[0] % 3];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto read = [format](std::string_view view) {
    return fuzz::table_or_error([&] { return io::read_vecs({view, nullptr, "fuzz", 0}, format, fuzz::bounded_run()); });
  };
  const std::optional<Table> table = read(bytes);
  if (!table.has_value()) return 0;
  std::string written;
  io::write_vecs(*table, format, fuzz::bounded_run(), [&](std::string_view piece) { written += piece; });
  fuzz::require(written.size() == bytes.size());
  const std::optional<Table> back = read(written);
  fuzz::require(back.has_value());
  fuzz::require_equal(*table, *back);
  return 0;
}
