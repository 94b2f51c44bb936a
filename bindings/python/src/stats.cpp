#include "stats.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

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

// One statistic of all columns.
template <class T>
nb::object each(const std::vector<ColumnStatistics>& columns, T ColumnStatistics::* statistic) {
  std::vector<T> values;
  values.reserve(columns.size());
  for (const ColumnStatistics& column : columns) values.push_back(column.*statistic);
  return array_of(std::move(values));
}

template <class T>
nb::object or_none(const std::optional<T>& value) {
  return value ? nb::cast(*value) : nb::none();
}

// What only some columns have: one Python object a column, None where a column lacks it.
template <class Of>
nb::list objects(const std::vector<ColumnStatistics>& columns, const Of& object_of) {
  nb::list list;
  for (const ColumnStatistics& column : columns) list.append(object_of(column));
  return list;
}

nb::object integers_of(const ColumnStatistics& column) {
  if (!column.integers) return nb::none();
  return nb::make_tuple(column.integers->min, column.integers->max, or_none(column.integers->sum));
}

nb::object histogram_of(const ColumnStatistics& column) {
  if (!column.histogram) return nb::none();
  return nb::make_tuple(column.histogram->low, column.histogram->high, array_of(column.histogram->counts));
}

// How often each name occurs: all names, or those of `codes`.
nb::object counts_of(const ColumnStatistics& column) {
  return is_nominal(column.type) ? array_of(column.counts) : nb::none();
}

nb::object names_of(const ColumnStatistics& column) {
  return is_nominal(column.type) ? nb::cast(column.values.names()) : nb::none();
}

nb::object codes_of(const ColumnStatistics& column) {
  return column.codes ? array_of(*column.codes) : nb::none();
}

nb::dict columns_of(const std::vector<ColumnStatistics>& columns) {
  nb::dict all;
  all["name"] = objects(columns, [](const ColumnStatistics& column) { return nb::cast(column.name); });
  all["type"] = objects(columns, [](const ColumnStatistics& column) { return nb::cast(to_string(column.type)); });
  all["count"] = each(columns, &ColumnStatistics::count);
  all["missing"] = each(columns, &ColumnStatistics::missing);
  all["zeros"] = each(columns, &ColumnStatistics::zeros);
  all["min"] = each(columns, &ColumnStatistics::min);
  all["max"] = each(columns, &ColumnStatistics::max);
  all["min_row"] = each(columns, &ColumnStatistics::min_row);
  all["max_row"] = each(columns, &ColumnStatistics::max_row);
  all["sum"] = each(columns, &ColumnStatistics::sum);
  all["mean"] = each(columns, &ColumnStatistics::mean);
  all["variance"] = each(columns, &ColumnStatistics::variance);
  all["std"] = each(columns, &ColumnStatistics::deviation);
  all["skewness"] = each(columns, &ColumnStatistics::skewness);
  all["integers"] = objects(columns, integers_of);
  all["values"] = objects(columns, names_of);
  all["counts"] = objects(columns, counts_of);
  all["codes"] = objects(columns, codes_of);
  all["distinct"] = objects(columns, [](const ColumnStatistics& column) { return or_none(column.distinct); });
  all["histogram"] = objects(columns, histogram_of);
  all["quantiles"] = objects(columns, [](const ColumnStatistics& column) { return array_of(column.quantiles); });
  return all;
}

// A dict of the columns' statistics, and a list of (value, rows, dict) for the classes.
nb::tuple described(const Statistics& statistics) {
  nb::list classes;
  for (const ClassStatistics& one : statistics.classes) {
    classes.append(nb::make_tuple(one.value, one.rows, columns_of(one.columns)));
  }
  return nb::make_tuple(columns_of(statistics.columns), classes);
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
