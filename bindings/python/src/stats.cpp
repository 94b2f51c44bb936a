#include "stats.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "device_arrays.hpp"
#include "run.hpp"
#include "stope/correlation.hpp"
#include "stope/error.hpp"
#include "stope/stats.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

// The columns of the table, or those of each class of rows.
using Described = std::vector<const std::vector<ColumnStatistics>*>;

// One array of shape (tables, statistics, columns): thousands of classes would take longer with arrays of their own.
template <class T, std::size_t kN>
nb::object together(const Described& tables, T ColumnStatistics::* const (&statistics)[kN]) {
  const std::size_t n_columns = tables.empty() ? 0 : tables[0]->size();
  std::vector<T> values;
  values.reserve(tables.size() * kN * n_columns);
  for (const std::vector<ColumnStatistics>* columns : tables) {
    for (const auto statistic : statistics) {
      for (const ColumnStatistics& column : *columns) values.push_back(column.*statistic);
    }
  }
  return array_of(std::move(values), {tables.size(), kN, n_columns});
}

nb::object whole_of(const Described& tables) {
  using Column = ColumnStatistics;
  return together<std::int64_t>(tables,
                                {&Column::count, &Column::missing, &Column::zeros, &Column::min_row, &Column::max_row});
}

nb::object numbers_of(const Described& tables) {
  using Column = ColumnStatistics;
  return together<double>(tables, {&Column::min, &Column::max, &Column::sum, &Column::mean, &Column::variance,
                                   &Column::deviation, &Column::skewness});
}

template <class T>
nb::object or_none(const std::optional<T>& value) {
  return value ? nb::cast(*value) : nb::none();
}

// One Python object a column.
template <class Of>
nb::object objects(const std::vector<ColumnStatistics>& columns, const Of& object_of) {
  nb::list list;
  for (const ColumnStatistics& column : columns) list.append(object_of(column));
  return list;
}

// One Python object a column, None where a column lacks it; None for all if every column does.
template <class T, class Of>
nb::object present_in(const std::vector<ColumnStatistics>& columns, std::optional<T> ColumnStatistics::* member,
                      const Of& object_of) {
  const auto has = [&](const ColumnStatistics& column) { return (column.*member).has_value(); };
  if (std::none_of(columns.begin(), columns.end(), has)) return nb::none();
  return objects(columns, object_of);
}

nb::object integers_of(const ColumnStatistics& column) {
  if (!column.integers) return nb::none();
  return nb::make_tuple(column.integers->min, column.integers->max, or_none(column.integers->sum));
}

nb::object histogram_of(const ColumnStatistics& column) {
  if (!column.histogram) return nb::none();
  return nb::make_tuple(column.histogram->low, column.histogram->high, array_of(column.histogram->counts));
}

// Columns of names: their numbers, how often each name occurs, and for some classes the codes of the names that do.
nb::list nominal_of(const std::vector<ColumnStatistics>& columns) {
  nb::list nominal;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ColumnStatistics& column = columns[c];
    if (!is_nominal(column.type)) continue;
    nominal.append(nb::make_tuple(c, column.counts, column.codes ? nb::cast(*column.codes) : nb::none()));
  }
  return nominal;
}

// A row for each share, with an entry a column; NaN for columns of names. None where no share was asked for.
nb::object quantiles_of(const std::vector<ColumnStatistics>& columns) {
  std::size_t n_shares = 0;
  for (const ColumnStatistics& column : columns) n_shares = std::max(n_shares, column.quantiles.size());
  if (n_shares == 0) return nb::none();
  std::vector<double> values(n_shares * columns.size(), ColumnStatistics::kNone);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < columns[c].quantiles.size(); ++i)
      values[i * columns.size() + c] = columns[c].quantiles[i];
  }
  return array_of(std::move(values), {n_shares, columns.size()});
}

// What only some columns have, or was asked for.
nb::dict further_of(const std::vector<ColumnStatistics>& columns) {
  nb::dict all;
  all["nominal"] = nominal_of(columns);
  all["integers"] = present_in(columns, &ColumnStatistics::integers, integers_of);
  all["distinct"] = present_in(columns, &ColumnStatistics::distinct,
                               [](const ColumnStatistics& column) { return or_none(column.distinct); });
  all["histogram"] = present_in(columns, &ColumnStatistics::histogram, histogram_of);
  all["quantiles"] = quantiles_of(columns);
  return all;
}

// A dict of what describes the columns, and a list of such for the classes of rows.
nb::tuple described(const Statistics& statistics) {
  const std::vector<ColumnStatistics>& columns = statistics.columns;
  nb::dict all = further_of(columns);
  all["name"] = objects(columns, [](const ColumnStatistics& column) { return nb::cast(column.name); });
  all["type"] = objects(columns, [](const ColumnStatistics& column) { return nb::cast(to_string(column.type)); });
  all["values"] = objects(columns, [](const ColumnStatistics& column) {
    return is_nominal(column.type) ? nb::cast(column.values.names()) : nb::none();
  });
  all["whole"] = whole_of({&columns})[nb::int_(0)];
  all["numbers"] = numbers_of({&columns})[nb::int_(0)];

  Described tables;
  nb::list names, rows, further;
  for (const ClassStatistics& one : statistics.classes) {
    tables.push_back(&one.columns);
    names.append(one.value);
    rows.append(one.rows);
    further.append(further_of(one.columns));
  }
  return nb::make_tuple(all, nb::make_tuple(names, rows, whole_of(tables), numbers_of(tables), further));
}

StatsOptions options_of(std::string_view depth, bool distinct, std::int64_t histogram_bins,
                        std::vector<double> quantiles, std::string by) {
  StatsOptions options;
  if (depth == "extremes") {
    options.depth = StatsOptions::Depth::extremes;
  } else if (depth != "all") {
    throw Error(ErrorCode::invalid_argument, "depth is \"all\" or \"extremes\", not \"" + std::string(depth) + '"');
  }
  if (distinct) options.distinct = StatsOptions::Distinct::count;
  options.histogram_bins = histogram_bins;
  options.quantiles = std::move(quantiles);
  options.by = std::move(by);
  return options;
}

Duration duration_of(std::int64_t n_rows, std::int64_t n_columns) {
  constexpr std::int64_t kFew = 1'000'000;
  return n_rows < kFew && n_columns < kFew && n_rows * n_columns < kFew ? Duration::brief : Duration::any;
}

nb::tuple describe_view(const ArrayView& view, const StatsOptions& how, Run& run) {
  return described(result_of(
      run, [&](const RunOptions& options) { return describe(view, how, options); },
      duration_of(view.n_rows, view.n_columns)));
}

nb::tuple correlated(const Table& table, std::string_view method, Run& run) {
  const CorrelationOptions how{correlation_method(method)};
  const auto n_columns = static_cast<std::int64_t>(table.columns.size());
  const Correlation found = result_of(
      run, [&](const RunOptions& options) { return correlation(table, how, options); },
      duration_of(table.n_rows, n_columns));
  const auto n = static_cast<std::size_t>(found.size());
  return nb::make_tuple(found.names, array_of(std::vector<double>(found.values.begin(), found.values.end()), {n, n}),
                        array_of(std::vector<std::int64_t>(found.counts.begin(), found.counts.end()), {n, n}));
}

}  // namespace

void bind_stats(nb::module_& module) {
  module.def("correlation", &correlated, nb::arg("table"), nb::arg("method"), nb::arg("run"));
  module.def(
      "describe_array",
      [](const DeviceArray& array, std::string_view depth, bool distinct, std::int64_t histogram_bins,
         std::vector<double> quantiles, Run& run) {
        return describe_view(array.view, options_of(depth, distinct, histogram_bins, std::move(quantiles), ""), run);
      },
      nb::arg("array"), nb::arg("depth") = "all", nb::arg("distinct") = false, nb::arg("histogram_bins") = 0,
      nb::arg("quantiles") = std::vector<double>(), nb::arg("run"));
  module.def(
      "describe_array",
      [](const AnyArray& array, std::string_view depth, bool distinct, std::int64_t histogram_bins,
         std::vector<double> quantiles, Run& run) {
        return describe_view(view_of(array), options_of(depth, distinct, histogram_bins, std::move(quantiles), ""),
                             run);
      },
      nb::arg("array"), nb::arg("depth") = "all", nb::arg("distinct") = false, nb::arg("histogram_bins") = 0,
      nb::arg("quantiles") = std::vector<double>(), nb::arg("run"));
  module.def(
      "describe_table",
      [](const Table& table, std::string by, std::string_view depth, bool distinct, std::int64_t histogram_bins,
         std::vector<double> quantiles, Run& run) {
        const StatsOptions how = options_of(depth, distinct, histogram_bins, std::move(quantiles), std::move(by));
        return described(result_of(
            run, [&](const RunOptions& options) { return describe(table, how, options); },
            duration_of(table.n_rows, static_cast<std::int64_t>(table.columns.size()))));
      },
      nb::arg("table"), nb::arg("by") = "", nb::arg("depth") = "all", nb::arg("distinct") = false,
      nb::arg("histogram_bins") = 0, nb::arg("quantiles") = std::vector<double>(), nb::arg("run"));
}

}  // namespace stope::python
