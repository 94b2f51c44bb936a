// Hands a searcher the encoded training rows: all of them, or one part after the other where memory is short.
#pragma once

#include <cstdint>
#include <memory>

#include "knn/fitted.hpp"

namespace stope::knn {

/// Consecutive encoded training rows.
struct TrainPart {
  std::int64_t first = 0;  ///< number of the first row in the training table
  std::int64_t n = 0;
  const double* rows = nullptr;  ///< n x width, row-major
  /// The whole table, where its rows are on a GPU and `rows` is null: for the reference on that GPU alone.
  const GpuTable* on_gpu = nullptr;
};

/// Walks over the training table in parts of at most `part_rows` rows. A table that is not resident is encoded part by
/// part into one buffer, so a part is valid only until the next is asked for. part() throws invalid_argument if the
/// parts, once all have been encoded in turn, show that the table has changed since the fit.
class TrainParts {
 public:
  /// `lent`: Fitted::rows_alone_on() of the only GPU that searches, whose reference reads them; else null.
  TrainParts(const Fitted& fitted, std::int64_t part_rows, std::shared_ptr<const GpuTable> lent = nullptr);
  std::int64_t count() const;
  TrainPart part(std::int64_t i, ThreadPool& pool, const CancelToken& cancel);

 private:
  const Fitted& fitted_;
  std::int64_t part_rows_;
  std::shared_ptr<const GpuTable> lent_;
  void encode(std::int64_t i, std::int64_t first, std::int64_t n, ThreadPool& pool, const CancelToken& cancel);

  std::int64_t held_ = -1;  // the part in the buffer
  // The sum over parts 0 to summed_ - 1, as they were encoded. That over all must be the fit's.
  std::int64_t summed_ = 0;
  std::uint64_t sum_ = 0;
  Buffer<double> rows_;  // empty if the table is resident
};

}  // namespace stope::knn
