#include "rows.hpp"

#include "device_arrays.hpp"

namespace nb = nanobind;

namespace stope::python {

RowSource::RowSource(const nb::object& rows, Lend lend) : held_(rows) {
  if (rows.is_none()) return;
  if (nb::try_cast(rows, table_)) return;
  is_array_ = true;
  if (const DeviceArray* there = nullptr; nb::try_cast(rows, there)) {
    view_ = there->view;
    return;
  }
  AnyArray array;
  if (!nb::try_cast(rows, array)) {
    throw nb::type_error("rows are a table, an array of numbers, or None for the training rows");
  }
  view_ = view_of(array, lend);
  array_ = std::move(array);
}

QueryRows RowSource::queries() const {
  if (table_ != nullptr) return QueryRows(*table_);
  if (is_array_) return QueryRows(view_);
  return QueryRows::of_training();
}

}  // namespace stope::python
