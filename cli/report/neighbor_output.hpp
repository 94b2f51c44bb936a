// Neighbour lists as files: CSV, NPY, ivecs (texmex) and raw arrays, written block by block as the search delivers
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stope/io.hpp"
#include "stope/knn.hpp"

namespace stope::cli {

/// The shape of the result, known once both tables are read. Formats of fixed width pad a shorter list to `width` with
/// index -1 and distance NaN.
struct NeighborShape {
  std::int64_t n_queries = 0;
  std::int64_t n_samples = 0;
  std::int64_t width = 0;
};

class NeighborOutput {
 public:
  virtual ~NeighborOutput() = default;
  /// Throws unsupported if the format cannot hold such large row numbers.
  virtual void begin(const NeighborShape& shape) = 0;
  virtual void write(const Neighbors& block) = 0;
  virtual void commit() = 0;
  virtual std::vector<std::string> paths() const = 0;
};

/// True for npy, ivecs and raw, whose lists all have the same length.
bool is_array_format(std::string_view format);

/// Opens the files of a format, a word of --output-format. npy: `path` itself if it ends in .npy, else
/// `path`.indices.npy and `path`.distances.npy. raw: `path`.indices.i32 and `path`.distances.f32. Others: `path`
/// itself. Throws io if they cannot be written.
std::unique_ptr<NeighborOutput> open_neighbor_output(const std::string& format, const std::string& path,
                                                     const CancelToken& cancel);

}  // namespace stope::cli
