// Rows and lists in a GPU's memory that the caller owns (stope/device_arrays.hpp), as the search sees them.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/gpu/device_rows_abi.hpp"
#include "stope/device_arrays.hpp"
#include "stope/table.hpp"

namespace stope::knn {

/// Throws invalid_argument for a matrix whose shape cannot be or whose memory or stream is not its GPU's,
/// device_unavailable where that GPU cannot be used. `what` names it.
void check_matrix(const DeviceMatrix& matrix, const char* what);

/// The matrix as a table of columns x0, x1, ... on the host, of the matrix's type.
Table table_of(const DeviceMatrix& matrix);

/// Query rows on a GPU, and where their lists of k go.
class DeviceQueries {
 public:
  /// `columns`: which of the matrix's are the encoded attributes.
  DeviceQueries(const DeviceMatrix& rows, const DeviceNeighbors& lists, std::int64_t k,
                std::vector<std::int64_t> columns);

  int gpu() const { return rows_.gpu; }
  std::int64_t n_rows() const { return rows_.n_rows; }
  /// Whether the matrix's columns are the encoded attributes, so that a GPU can read rows where they are.
  bool as_they_are() const;

  /// Rows [begin, end) on the host, encoded. Safe from several threads at once.
  void encode(std::int64_t begin, std::int64_t end, double* out) const;
  /// Lists of consecutive queries from the host, k each.
  void write(std::int64_t first_query, const std::vector<std::int64_t>& indices,
             const std::vector<double>& distances) const;

  /// As the plug-in takes queries from `first` on.
  cuda_abi::DeviceRows rows_from(std::int64_t first) const;
  cuda_abi::DeviceLists lists_from(std::int64_t first) const;

 private:
  DeviceMatrix rows_;
  DeviceNeighbors lists_;
  std::int64_t k_;
  std::vector<std::int64_t> columns_;
};

}  // namespace stope::knn
