// Random bytes as an NPY file give a valid table or a stope::Error. A table survives being written as float64 and read.
#include "fuzz_table.hpp"
#include "io/readers.hpp"
#include "io/write_table_formats.hpp"
#include "mutate_npy.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return stope::fuzz::mutate_npy(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = [](std::string_view view) {
    return fuzz::table_or_error(
        [&] { return io::read_npy({view, nullptr, "fuzz", 0}, fuzz::bounded_run(std::int64_t{1} << 18)); });
  };
  const std::optional<Table> table = read(bytes);
  if (!table.has_value()) return 0;
  fuzz::require(table->n_rows * static_cast<std::int64_t>(table->columns.size()) <= static_cast<std::int64_t>(size));
  std::string written;
  io::write_npy(*table, "float64", fuzz::bounded_run(std::int64_t{1} << 18),
                [&](std::string_view piece) { written += piece; });
  const std::optional<Table> back = read(written);
  fuzz::require(back.has_value());
  fuzz::require_equal(*table, *back);
  return 0;
}
