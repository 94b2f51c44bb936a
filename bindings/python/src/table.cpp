#include "table.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "run.hpp"
#include "stope/arrow.hpp"
#include "stope/error.hpp"
#include "stope/table.hpp"
#include "stope/table_builder.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

constexpr std::size_t kBriefValues = std::size_t{1} << 16;  // copied within a millisecond: a thread would cost as much

// One column of numbers: of an array of one dimension.
Column numeric_column(const std::string& name, const AnyArray& values, std::string_view type, bool share, Run& run) {
  const ArrayView view = view_of(values, share ? Lend::yes : Lend::no);
  if (view.n_columns != 1) throw Error(ErrorCode::invalid_argument, "a column is an array of one dimension");
  Table table =
      result_of(run, [&](const RunOptions& options) { return table_of(view, {name}, options); }, Duration::brief);
  Column column = std::move(table.columns.front());
  if (!type.empty()) column.type = value_type(type);
  if (column.nominal())
    throw Error(ErrorCode::invalid_argument, "a column of numbers has the type " + std::string(type));
  return column;
}

// One column of names: `codes` counts into `values`, -1 is missing.
Column nominal_column(const std::string& name, const nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig>& codes,
                      const Values& values, std::string_view type, bool share) {
  const auto size = static_cast<std::int64_t>(codes.size());
  const ValueType kind = type.empty() ? ValueType::polynominal : value_type(type);
  if (!is_nominal(kind)) {
    throw Error(ErrorCode::invalid_argument, "a column of codes has the type " + std::string(type));
  }
  if (share) {
    auto* data = const_cast<std::int32_t*>(codes.data());  // NOLINT: a buffer is not written once it is filled
    return column_of(name, Buffer<std::int32_t>::borrow(data, size, keep_alive(nb::cast(codes))), values, kind);
  }
  Buffer<std::int32_t> copy(size);
  std::copy_n(codes.data(), size, copy.data());
  return column_of(name, std::move(copy), values, kind);
}

Table table_of_columns(const std::vector<Column>& columns, std::int64_t n_rows) {
  Table table;
  table.columns = columns;
  table.n_rows = n_rows;
  table.validate();
  return table;
}

// The stream of a capsule of the Arrow interface. Raises ValueError for a capsule of another name.
ArrowArrayStream* stream_in(const nb::capsule& capsule) {
  void* stream = PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream");
  if (stream == nullptr) throw nb::python_error();
  return static_cast<ArrowArrayStream*>(stream);
}

Table table_of_arrow(const nb::capsule& stream, const ArrowOptions& options, Run& run) {
  auto* moved = stream_in(stream);
  return result_of(run, [&](const RunOptions& how) { return import_arrow(moved, options, how); });
}

std::string format_of(const ArrowSchema* column) {
  if (column == nullptr || column->format == nullptr) return "";
  if (column->dictionary == nullptr) return column->format;
  return (column->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0 ? "ordered dictionary" : "dictionary";
}

// The Arrow formats of a stream's columns, e.g. "b" for booleans, which nothing else of a table tells.
std::vector<std::string> arrow_formats(const nb::capsule& capsule) {
  auto* stream = stream_in(capsule);
  std::vector<std::string> formats;
  if (stream->release == nullptr || stream->get_schema == nullptr) return formats;
  ArrowSchema schema{};
  if (stream->get_schema(stream, &schema) != 0 || schema.release == nullptr) return formats;
  const std::shared_ptr<ArrowSchema> held(&schema, [](ArrowSchema* s) { s->release(s); });
  for (std::int64_t i = 0; schema.children != nullptr && i < schema.n_children; ++i) {
    formats.push_back(format_of(schema.children[i]));
  }
  return formats;
}

nb::capsule arrow_stream(const Table& table) {
  auto held = std::make_unique<ArrowArrayStream>();
  ArrowArrayStream* stream = held.get();
  nb::capsule capsule(stream, "arrow_array_stream", [](void* p) noexcept {
    const std::unique_ptr<ArrowArrayStream> last(static_cast<ArrowArrayStream*>(p));
    if (last->release != nullptr) last->release(last.get());
  });
  static_cast<void>(held.release());
  const WithoutGil released;
  export_arrow(table, stream);
  return capsule;
}

// The values of a column, without a copy: float64, float32, or int32 codes.
nb::object column_values(const Column& column) {
  return std::visit(
      [&](const auto& buffer) {
        auto shared = buffer;
        const auto* data = shared.data();
        return array_over(data, {static_cast<std::size_t>(buffer.size())}, std::move(shared));
      },
      column.data);
}

const Column& checked_column(const Table& table, std::int64_t index) {
  if (index < 0 || index >= static_cast<std::int64_t>(table.columns.size())) throw nb::index_error("no such column");
  return table.columns[static_cast<std::size_t>(index)];
}

Table with_roles(Table table, const std::vector<std::pair<std::int64_t, std::string>>& roles) {
  for (const auto& [index, name] : roles) {
    checked_column(table, index);
    table.columns[static_cast<std::size_t>(index)].role = role(name);
  }
  return table;
}

}  // namespace

void bind_table(nb::module_& module) {
  module.def("arrow_formats", &arrow_formats, nb::arg("stream"));

  nb::class_<Values>(module, "Values", "The names of a nominal column's codes.")
      .def(nb::init<std::vector<std::string>>(), nb::arg("names"))
      .def("__len__", &Values::size)
      .def("__eq__", [](const Values& a, const Values& b) { return a == b; })
      .def("names", [](const Values& values) { return values.names(); });

  nb::class_<Column>(module, "Column", "A column of a table.")
      .def_static("numeric", &numeric_column, nb::arg("name"), nb::arg("values"), nb::arg("type") = "",
                  nb::arg("share") = false, nb::arg("run"))
      .def_static("nominal", &nominal_column, nb::arg("name"), nb::arg("codes"), nb::arg("values"),
                  nb::arg("type") = "", nb::arg("share") = false)
      .def_ro("name", &Column::name)
      .def_prop_ro("type", [](const Column& column) { return to_string(column.type); })
      .def_prop_rw(
          "role", [](const Column& column) { return to_string(column.role); },
          [](Column& column, std::string_view name) { column.role = role(name); })
      .def_prop_ro("is_nominal", &Column::nominal)
      .def_prop_ro("values", [](const Column& column) { return column.values; })
      .def("array", &column_values)
      .def("__len__", &Column::size);

  nb::class_<Table>(module, "Table", "A table: typed columns of equal length.")
      .def_static("of_columns", &table_of_columns, nb::arg("columns"), nb::arg("n_rows"))
      .def_static(
          "of_arrow",
          [](const nb::capsule& stream, std::vector<std::string> nominal, std::vector<std::string> numeric,
             std::vector<std::string> ignore, std::string target, bool target_is_nominal, std::string id,
             std::string sample_weight, std::string source, bool share, Run& run) {
            ArrowOptions options;
            options.nominal = std::move(nominal);
            options.numeric = std::move(numeric);
            options.ignore = std::move(ignore);
            options.target = std::move(target);
            options.target_is_nominal = target_is_nominal;
            options.id = std::move(id);
            options.sample_weight = std::move(sample_weight);
            options.source = std::move(source);
            options.memory = share ? ArrowMemory::shared : ArrowMemory::copied;
            return table_of_arrow(stream, options, run);
          },
          nb::arg("stream"), nb::arg("nominal") = std::vector<std::string>{},
          nb::arg("numeric") = std::vector<std::string>{}, nb::arg("ignore") = std::vector<std::string>{},
          nb::arg("target") = "", nb::arg("target_is_nominal") = false, nb::arg("id") = "",
          nb::arg("sample_weight") = "", nb::arg("source") = "", nb::arg("share") = true, nb::arg("run"))
      .def_static(
          "of_array",
          [](const AnyArray& array, const std::vector<std::string>& names, bool share, Run& run) {
            const ArrayView view = view_of(array, share ? Lend::yes : Lend::no);
            const Duration duration = array.size() < kBriefValues ? Duration::brief : Duration::any;
            return result_of(run, [&](const RunOptions& options) { return table_of(view, names, options); }, duration);
          },
          nb::arg("array"), nb::arg("names") = std::vector<std::string>{}, nb::arg("share") = false, nb::arg("run"))
      .def_ro("n_rows", &Table::n_rows)
      .def_prop_ro("n_columns", [](const Table& table) { return table.columns.size(); })
      .def("column", &checked_column, nb::arg("index"), nb::rv_policy::copy)
      .def(
          "find", [](const Table& table, std::string_view name) { return table.find(name); }, nb::arg("name"))
      .def("with_roles", &with_roles, nb::arg("roles"))
      .def(
          "take", [](const Table& table, const std::vector<std::int64_t>& rows) { return table.take(rows); },
          nb::arg("rows"), nb::call_guard<WithoutGil>())
      .def_prop_ro("nbytes", &Table::bytes)
      .def(
          "__arrow_c_stream__", [](const Table& table, const nb::object&) { return arrow_stream(table); },
          nb::arg("requested_schema").none() = nb::none());
}

}  // namespace stope::python
