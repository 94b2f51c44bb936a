// Where the query rows of a search come from: a table, an array, a GPU, the training table.
#pragma once

#include <cstdint>

namespace stope::knn {

class QuerySource {
 public:
  virtual ~QuerySource() = default;
  virtual std::int64_t n_rows() const = 0;
  /// Encodes rows [begin, end), row-major. Safe from several threads at once.
  virtual void encode(std::int64_t begin, std::int64_t end, double* out) const = 0;
  /// Returns all rows if they lie encoded in the host's memory, else null.
  virtual const double* encoded() const { return nullptr; }
};

}  // namespace stope::knn
