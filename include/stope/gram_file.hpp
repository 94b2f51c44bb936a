// Test files of the gram operator (docs/FORMATS.md): a float32 matrix and the vector it is multiplied with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stope/array.hpp"
#include "stope/io.hpp"
#include "stope/run.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// A file's content. A plain file is mapped, so that it may be larger than the memory.
struct GramFile {
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::span<const float> values;  ///< row by row
  std::span<const float> vector;  ///< n_columns numbers
  std::shared_ptr<const void> owner = {};
  std::string name;
  std::int64_t held = 0;  ///< bytes of memory that it holds; 0 for a mapping

  /// The matrix, which shares the memory.
  ArrayView matrix() const;
};

/// Reads a test file; `path` "-" is standard input, and .gz and .zst files are expanded. Throws invalid_data for a
/// damaged header (sizes below 1, bytes that must be zero and are not), and for a file that is longer or shorter than
/// its sizes say (naming the row or the vector in which it ends). Throws io and out_of_memory, too.
GramFile read_gram_file(const std::string& path, const RunOptions& run = {});

/// Reads the numbers of a result: a file of one row, without a vector. Throws what read_gram_file throws.
std::vector<float> read_gram_result(const std::string& path, const RunOptions& run = {});

/// Writes a matrix of n_rows x n_columns and a vector, uniform in [-1, 1), into an open file, piece by piece. The same
/// seed gives the same bytes on every machine. The caller commits. Throws invalid_argument for sizes outside 1 to 2^31
/// - 1.
void write_random_gram_file(OutputFile& file, std::int64_t n_columns, std::int64_t n_rows, std::uint64_t seed,
                            const RunOptions& run = {});

/// Writes a result into an open file; the caller commits.
void write_gram_result(OutputFile& file, std::span<const float> result);

}  // namespace stope
#pragma GCC visibility pop
