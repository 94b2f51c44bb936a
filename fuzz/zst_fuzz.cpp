// Random bytes as a zstd file, and through the compressor and back.
#include "fuzz_compression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return stope::fuzz::expand_and_compress(data, size, stope::io::Compression::zstd, "x.zst");
}
