// The rows that a Python caller hands to a search or a fit: a table's, an array's, or (None) the training rows.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

#include "arrays.hpp"
#include "stope/knn_arrays.hpp"
#include "stope/table.hpp"

namespace stope::python {

/// Rows as the core takes them; an array may lie in a GPU's memory. It keeps the Python object alive, so that a job may
/// read the rows without the GIL.
class RowSource {
 public:
  /// Throws TypeError for an object that is no `_core.Table`, no array and not None.
  explicit RowSource(const nanobind::object& rows, Lend lend = Lend::no);

  const Table* table() const { return table_; }                            ///< or null
  const ArrayView* array() const { return is_array_ ? &view_ : nullptr; }  ///< or null
  bool none() const { return table_ == nullptr && !is_array_; }            ///< whether the training rows are meant
  std::int64_t n_rows() const { return table_ ? table_->n_rows : view_.n_rows; }
  QueryRows queries() const;

 private:
  nanobind::object held_;
  const Table* table_ = nullptr;
  std::optional<AnyArray> array_;
  bool is_array_ = false;
  ArrayView view_;
};

}  // namespace stope::python
