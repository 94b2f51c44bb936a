#include "row_text.hpp"

#include <nanobind/stl/string_view.h>

#include <string>
#include <string_view>

#include "run.hpp"
#include "stope/row_text.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

nb::bytes rows_text(const Table& table, std::string_view name, Run& run) {
  const RowText text = row_text(name);
  const std::string made = result_of(
      run,
      [&](const RunOptions& how) {
        std::string out;
        append_rows(out, table, text, how);
        return out;
      },
      Duration::brief);
  return nb::bytes(made.data(), made.size());
}

nb::bytes csv_header(const Table& table) {
  std::string out;
  append_csv_header(out, table);
  return nb::bytes(out.data(), out.size());
}

}  // namespace

void bind_row_text(nb::module_& module) {
  module.def("rows_text", &rows_text, nb::arg("table"), nb::arg("form"), nb::arg("run"));
  module.def("csv_header", &csv_header, nb::arg("table"));
}

}  // namespace stope::python
