// Rows and lists in a GPU's memory that the caller owns (stope/device_arrays.hpp), as the search sees them.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/gpu/device_rows_abi.hpp"
#include "stope/device_arrays.hpp"
#include "stope/table.hpp"

namespace stope::knn {

/// Throws invalid_argument for a matrix whose shape is impossible, or whose memory or stream is not its GPU's. Throws
/// device_unavailable where that GPU cannot be used. `what` names the matrix in the message.
void check_matrix(const DeviceMatrix& matrix, const char* what);

/// Returns the matrix as a table on the host, with columns x0, x1, ... of the matrix's type.
Table table_of(const DeviceMatrix& matrix);

/// Query rows on a GPU, and where their lists of k go.
class DeviceQueries {
 public:
  /// `columns`: which of the matrix's columns are the encoded attributes.
  DeviceQueries(const DeviceMatrix& rows, const DeviceNeighbors& lists, std::int64_t k,
                std::vector<std::int64_t> columns);

  int gpu() const { return rows_.gpu; }
  std::int64_t n_rows() const { return rows_.n_rows; }
  /// Whether the matrix's columns are the encoded attributes, so that a GPU can read rows where they are.
  bool as_they_are() const;

  /// Encodes rows [begin, end) on the host. Safe from several threads at once.
  void encode(std::int64_t begin, std::int64_t end, double* out) const;
  /// Writes lists of consecutive queries, k each, from the host.
  void write(std::int64_t first_query, const std::vector<std::int64_t>& indices,
             const std::vector<double>& distances) const;

  /// Returns what the plug-in needs to read the queries from `first` on.
  cuda_abi::DeviceRows rows_from(std::int64_t first) const;
  cuda_abi::DeviceLists lists_from(std::int64_t first) const;

 private:
  DeviceMatrix rows_;
  DeviceNeighbors lists_;
  std::int64_t k_;
  std::vector<std::int64_t> columns_;
};

}  // namespace stope::knn
