#include "impute.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "run.hpp"
#include "stope/impute.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

// A column of codes has the numbers of its categories as names. The code after the last stands for a category that the
// fitted rows lack.
constexpr const char* kUnseen = "unseen";
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

Column codes_column(std::string name, const double* values, std::int64_t n, std::int32_t n_categories) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(n_categories) + 1);
  for (std::int32_t code = 0; code < n_categories; ++code) names.push_back(std::to_string(code));
  Buffer<std::int32_t> codes(n);
  for (std::int64_t row = 0; row < n; ++row) {
    codes[row] = std::isnan(values[row]) ? kMissingCode : static_cast<std::int32_t>(values[row]);
    if (codes[row] >= n_categories && std::ssize(names) == n_categories) names.emplace_back(kUnseen);
  }
  return column_of(std::move(name), std::move(codes), std::move(names));
}

// Columns of numbers lie in the array.
Table table_of(const Rows& rows, const std::vector<std::int32_t>& n_categories, const std::shared_ptr<void>& owner) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(rows.shape(0));
  for (std::size_t c = 0; c < rows.shape(1); ++c) {
    std::string name = "x" + std::to_string(c);
    // The core never writes to a column that is lent.
    auto* const values = const_cast<double*>(rows.data()) + static_cast<std::int64_t>(c) * table.n_rows;
    const std::int32_t n = n_categories.empty() ? -1 : n_categories[c];
    table.columns.push_back(n < 0 ? column_of(std::move(name), Buffer<double>::borrow(values, table.n_rows, owner))
                                  : codes_column(std::move(name), values, table.n_rows, n));
  }
  return table;
}

// The cells that were missing, and their donors where these are asked for.
struct Cells {
  std::size_t width = 0;
  std::vector<std::int64_t> rows, columns, donors;
  std::vector<double> values, distances;

  void add(const FilledCell& cell, std::int64_t column) {
    rows.push_back(cell.row);
    columns.push_back(column);
    values.push_back(cell.value);
    for (std::size_t i = 0; i < width; ++i) {
      const bool there = i < cell.donors.size();
      donors.push_back(there ? cell.donors[i] : -1);
      distances.push_back(there ? cell.distances[i] : std::nan(""));
    }
  }
};

class ArrayImputer {
 public:
  ArrayImputer(const Rows& rows, std::vector<std::int32_t> n_categories, std::int64_t n_neighbors,
               std::string_view weights, Run& run)
      : n_categories_(std::move(n_categories)) {
    const Table table = table_of(rows, n_categories_, keep_alive(nb::cast(rows)));
    const ImputeOptions options{.n_neighbors = n_neighbors, .weights = vote_weights(weights)};
    imputer_ = result_of(run, [&](const RunOptions& how) { return Imputer::fit(table, options, how); });
  }

  nb::tuple cells(const Rows& rows, bool donors, Run& run) const {
    const Table table = table_of(rows, n_categories_, keep_alive(nb::cast(rows)));
    Cells cells;
    if (donors)
      cells.width = static_cast<std::size_t>(std::min(imputer_.options().n_neighbors, imputer_.train().n_rows));
    run_job(run, [&](RunOptions how) {
      how.warn = {};  // what to do with columns without values is the estimator's to say
      imputer_.apply(table, how, nullptr,
                     [&](const FilledCell& cell) { cells.add(cell, std::stoll(cell.column->name.substr(1))); });
    });
    const std::size_t n = cells.rows.size();
    return nb::make_tuple(array_of(std::move(cells.rows)), array_of(std::move(cells.columns)),
                          array_of(std::move(cells.values)), array_of(std::move(cells.donors), {n, cells.width}),
                          array_of(std::move(cells.distances), {n, cells.width}));
  }

 private:
  std::vector<std::int32_t> n_categories_;
  Imputer imputer_;
};

}  // namespace

void bind_impute(nb::module_& module) {
  nb::class_<ArrayImputer>(module, "Imputer", "Donors for the missing values of rows in Fortran order.")
      .def(nb::init<const Rows&, std::vector<std::int32_t>, std::int64_t, std::string_view, Run&>(), nb::arg("rows"),
           nb::arg("n_categories"), nb::arg("n_neighbors"), nb::arg("weights"), nb::arg("run"))
      .def("cells", &ArrayImputer::cells, nb::arg("rows"), nb::arg("donors"), nb::arg("run"),
           "Returns rows, columns, values, donors and distances of the missing values, row by row.");
}

}  // namespace stope::python
