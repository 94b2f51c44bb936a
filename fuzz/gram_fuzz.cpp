// Random bytes as a gram file and as a result give a file whose numbers can all be read, or a stope::Error.
#include <cstring>
#include <memory>

#include "fuzz_table.hpp"
#include "io/gram_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stope;
  const std::shared_ptr<void> aligned = allocate_shared_bytes(static_cast<std::int64_t>(size) + 1);
  if (size > 0) std::memcpy(aligned.get(), data, size);
  const io::Bytes bytes{{static_cast<const char*>(aligned.get()), size}, nullptr, "fuzz", 0};
  const auto no_surprise = [](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      fuzz::require(error.code() == ErrorCode::invalid_data && error.what()[0] != '\0');
    }
  };
  double sum = 0.0;
  no_surprise([&] {
    const GramFile file = io::gram_file_of(bytes);
    fuzz::require(file.n_rows > 0 && file.n_columns > 0);
    fuzz::require(file.values.size_bytes() + file.vector.size_bytes() + 16 == size);
    for (const float v : file.values) sum += static_cast<double>(v);
    for (const float v : file.vector) sum += static_cast<double>(v);
  });
  no_surprise([&] {
    const std::vector<float> result = io::gram_result_of(bytes);
    fuzz::require(result.size() * sizeof(float) + 16 == size);
  });
  volatile double read = sum;  // so that every number is read
  static_cast<void>(read);
  return 0;
}
