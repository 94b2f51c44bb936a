// Neighbour lists as files: CSV, NPY, ivecs (texmex) and raw arrays, written block by block as the search delivers
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stope/io.hpp"
#include "stope/knn.hpp"

namespace stope::cli {

enum class NeighborFormat { csv, npy, ivecs, raw };

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

/// Opens the files of a format. csv and ivecs: `path` itself. npy: `path`.indices.npy and `path`.distances.npy. raw:
/// `path`.indices.i32 and `path`.distances.f32. Throws io if they cannot be written.
std::unique_ptr<NeighborOutput> open_neighbor_output(NeighborFormat format, const std::string& path,
                                                     const CancelToken& cancel);

}  // namespace stope::cli
