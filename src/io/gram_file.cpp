#include "io/gram_file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/progress.hpp"
#include "base/random.hpp"
#include "base/thread_pool.hpp"

namespace stope {
namespace io {
namespace {

constexpr std::int64_t kHeaderBytes = 16;
constexpr std::int64_t kMostSize = std::numeric_limits<std::int32_t>::max();

struct Sizes {
  std::int64_t n_columns = 0, n_rows = 0;
};

std::string words(const Sizes& sizes) {
  return std::to_string(sizes.n_columns) + " columns and " + std::to_string(sizes.n_rows) + " rows";
}

Sizes read_sizes(ByteReader& reader, const Bytes& bytes) {
  const std::string_view header = reader.take(kHeaderBytes, "the header of a gram file");
  std::int32_t sizes[2];
  std::memcpy(sizes, header.data(), sizeof sizes);
  for (const std::int32_t size : sizes) {
    if (size >= 1) continue;
    throw Error(ErrorCode::invalid_data,
                "the header of a gram file says " + words({sizes[0], sizes[1]}) + ": both must be at least 1",
                {bytes.name});
  }
  const std::string_view zeros = header.substr(sizeof sizes);
  const std::size_t bad = zeros.find_first_not_of('\0');
  if (bad != std::string_view::npos) {
    throw Error(
        ErrorCode::invalid_data,
        "byte " + std::to_string(sizeof sizes + bad) + " of the header is not zero: no gram file, or a damaged one",
        {bytes.name});
  }
  return {sizes[0], sizes[1]};
}

// Compares the header's sizes with the file's length before they are used. Their product may not even fit 64 bits.
void check_length(const Bytes& bytes, const Sizes& sizes, std::int64_t vector_bytes) {
  const auto there = static_cast<std::int64_t>(bytes.view.size());
  const std::int64_t row_bytes = sizes.n_columns * 4, content = there - kHeaderBytes;
  const std::string said = "the header says " + words(sizes) + ", the file has " + std::to_string(there) + " bytes: ";
  if (content / row_bytes < sizes.n_rows) {
    throw Error(ErrorCode::invalid_data, said + "it ends in row " + std::to_string(content / row_bytes), {bytes.name});
  }
  const std::int64_t left = content - sizes.n_rows * row_bytes;
  if (left < vector_bytes) throw Error(ErrorCode::invalid_data, said + "the vector is cut off", {bytes.name});
  if (left > vector_bytes) {
    throw Error(ErrorCode::invalid_data,
                said + "the last " + std::to_string(left - vector_bytes) + " belong to nothing", {bytes.name});
  }
}

// Mapped memory begins at a page and allocated memory at a multiple of 64 bytes, so byte 16 is aligned. Any other view
// is refused: the CPU may not allow unaligned reads.
const float* floats_at(const Bytes& bytes) {
  const char* first = bytes.view.data() + kHeaderBytes;
  if (reinterpret_cast<std::uintptr_t>(first) % alignof(float) != 0) {
    throw Error(ErrorCode::internal, "the file's bytes are not aligned", {bytes.name});
  }
  return reinterpret_cast<const float*>(first);
}

std::string header_of(std::int64_t n_columns, std::int64_t n_rows) {
  const std::int32_t sizes[4] = {static_cast<std::int32_t>(n_columns), static_cast<std::int32_t>(n_rows), 0, 0};
  return {reinterpret_cast<const char*>(sizes), sizeof sizes};
}

void check_size(const char* name, std::int64_t size) {
  if (size >= 1 && size <= kMostSize) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + " " + std::to_string(size) + ": a gram file has 1 to 2147483647");
}

}  // namespace

GramFile gram_file_of(const Bytes& bytes) {
  ByteReader reader(bytes.view, bytes.name);
  const Sizes sizes = read_sizes(reader, bytes);
  check_length(bytes, sizes, sizes.n_columns * 4);
  const auto n_values = static_cast<std::size_t>(sizes.n_columns * sizes.n_rows);
  GramFile file;
  file.n_rows = sizes.n_rows;
  file.n_columns = sizes.n_columns;
  file.values = {floats_at(bytes), n_values};
  file.vector = {floats_at(bytes) + n_values, static_cast<std::size_t>(sizes.n_columns)};
  file.owner = bytes.owner;
  file.name = bytes.name;
  file.held = bytes.held;
  return file;
}

std::vector<float> gram_result_of(const Bytes& bytes) {
  ByteReader reader(bytes.view, bytes.name);
  const Sizes sizes = read_sizes(reader, bytes);
  if (sizes.n_rows != 1) {
    throw Error(ErrorCode::invalid_data, "the header says " + words(sizes) + ", a result has one row (is it a matrix?)",
                {bytes.name});
  }
  check_length(bytes, sizes, 0);
  const float* first = floats_at(bytes);
  return {first, first + sizes.n_columns};
}

}  // namespace io

ArrayView GramFile::matrix() const try {
  ArrayView view{values.data(), ElementType::float32, n_rows, n_columns};
  view.owner = owner;
  return view;
} catch (...) {
  rethrow_as_error();
}

GramFile read_gram_file(const std::string& path, const RunOptions& run) try {
  return io::gram_file_of(io::load_bytes(path, run));
} catch (...) {
  rethrow_as_error();
}

std::vector<float> read_gram_result(const std::string& path, const RunOptions& run) try {
  return io::gram_result_of(io::load_bytes(path, run));
} catch (...) {
  rethrow_as_error();
}

void write_random_gram_file(OutputFile& file, std::int64_t n_columns, std::int64_t n_rows, std::uint64_t seed,
                            const RunOptions& run) try {
  const RunningJob running(run);
  io::check_size("X (columns)", n_columns);
  io::check_size("Y (rows)", n_rows);
  // Every block has a generator of its own, so that threads can share the work. No byte depends on the threads.
  constexpr std::int64_t kBlock = 65536;
  const std::int64_t n = checked::add(checked::mul(n_columns, n_rows), n_columns);
  const std::int64_t n_blocks = checked::ceil_div(n, kBlock);
  const std::uint64_t base = Random(seed).next();
  ThreadPool pool(run.threads);
  const std::int64_t at_once = std::int64_t{4} * pool.size();
  std::vector<float> numbers(static_cast<std::size_t>(std::min(n, at_once * kBlock)));
  const std::string header = io::header_of(n_columns, n_rows);
  file.require_space(checked::add(checked::mul(n, std::int64_t{sizeof(float)}), std::ssize(header)));
  file.write(header);
  for (std::int64_t first = 0; first < n_blocks; first += at_once) {
    const std::int64_t begin = first * kBlock, size = std::min(at_once * kBlock, n - begin);
    pool.parallel_for(checked::ceil_div(size, kBlock), run.cancel, [&](std::int64_t block, int) {
      Random random(Random(base + static_cast<std::uint64_t>(first + block)).next());
      const std::int64_t end = std::min((block + 1) * kBlock, size);
      for (std::int64_t i = block * kBlock; i < end; ++i) {
        // 24 bits: every number is a float, and none is rounded.
        numbers[static_cast<std::size_t>(i)] = static_cast<float>(random.next() >> 40) * 0x1.0p-23F - 1.0F;
      }
    });
    file.write({reinterpret_cast<const char*>(numbers.data()), static_cast<std::size_t>(size) * sizeof(float)});
    tell_progress(run, "write", begin + size, n);
  }
} catch (...) {
  rethrow_as_error();
}

void write_gram_result(OutputFile& file, std::span<const float> result) try {
  io::check_size("the numbers of a result,", static_cast<std::int64_t>(result.size()));
  file.write(io::header_of(static_cast<std::int64_t>(result.size()), 1));
  file.write({reinterpret_cast<const char*>(result.data()), result.size_bytes()});
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
