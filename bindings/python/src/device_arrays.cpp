#include "device_arrays.hpp"

#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "arrays.hpp"
#include "run.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

ElementType element_type(std::string_view name) {
  using enum ElementType;
  for (const ElementType type : {float64, float32, int8, int16, int32, int64, uint8, uint16, uint32, boolean}) {
    if (to_string(type) == name) return type;
  }
  throw Error(ErrorCode::unsupported,
              "an array has elements of the type " + std::string(name) + ", which stope does not take");
}

// Rows and columns, and the elements from one to the next.
struct Extent {
  std::int64_t n_rows = 0, n_columns = 0, row_stride = 0, column_stride = 0;
};

DeviceArray device_array(std::uint64_t address, std::string_view type, const Extent& extent, int gpu,
                         std::uint64_t stream, nb::object owner) {
  if (extent.n_rows < 0 || extent.n_columns < 0 || gpu < 0) {
    throw Error(ErrorCode::invalid_argument, "an array has a negative size, or the number of its GPU is negative");
  }
  if (extent.n_rows > 1 && extent.n_columns > 0 && extent.row_stride == 0) {
    throw Error(ErrorCode::unsupported, "an array repeats one row by a stride of 0; copy it");
  }
  DeviceArray array;
  array.view.data = reinterpret_cast<const void*>(address);  // NOLINT: a number is what the interface has
  array.view.type = element_type(type);
  if (address == 0 && extent.n_rows > 0 && extent.n_columns > 0) {
    throw Error(ErrorCode::invalid_argument, "an array with elements lies at a null pointer");
  }
  array.view.n_rows = extent.n_rows;
  array.view.n_columns = extent.n_columns;
  array.view.row_stride = extent.n_rows > 1 ? extent.row_stride : 0;
  array.view.column_stride = extent.column_stride;
  array.view.gpu = gpu;
  array.view.stream = reinterpret_cast<void*>(stream);  // NOLINT
  array.owner = std::move(owner);
  return array;
}

// DLPack: the producer has put its work in order with `stream`.
DeviceArray of_dlpack(const AnyArray& array, std::uint64_t stream, nb::object owner) {
  if (array.ndim() != 2) throw Error(ErrorCode::invalid_argument, "Expected 2D array in a GPU's memory");
  DeviceArray result{.view = view_of(array), .owner = std::move(owner), .array = array};
  if (result.view.gpu < 0) throw Error(ErrorCode::invalid_argument, "an array lies in the CPU's memory, not a GPU's");
  result.view.stream = reinterpret_cast<void*>(stream);  // NOLINT
  return result;
}

// The memory of a list of `n_rows` times `n_neighbors` entries.
void* list_memory(const DeviceArray& array, ElementType type, std::int64_t n_rows, std::int64_t n_neighbors,
                  const char* what) {
  const ArrayView& view = array.view;
  const bool contiguous = view.column_stride == 1 && (view.n_rows <= 1 || view.row_stride == view.n_columns);
  if (view.type != type || view.n_rows != n_rows || view.n_columns != n_neighbors || !contiguous) {
    throw Error(ErrorCode::invalid_argument, std::string("out: ") + what + " must be a " +
                                                 std::string(to_string(type)) + " array in C order of shape (" +
                                                 std::to_string(n_rows) + ", " + std::to_string(n_neighbors) + ")");
  }
  return const_cast<void*>(view.data);  // NOLINT: out is written
}

// The memory of `n_rows` predictions of `n_values` numbers each.
template <class T>
T* prediction_memory(const DeviceArray& array, const DeviceArray& queries, std::int64_t n_values, const char* what) {
  constexpr ElementType type = std::is_same_v<T, double> ? ElementType::float64 : ElementType::int32;
  if (array.view.gpu != queries.view.gpu) {
    throw Error(ErrorCode::invalid_argument, std::string("out: ") + what + " must lie in the GPU of the queries");
  }
  return static_cast<T*>(list_memory(array, type, queries.view.n_rows, n_values, what));
}

void predict_classes_into(const KnnClassifier& classifier, const DeviceArray& queries, std::int64_t n_neighbors,
                          std::string_view weights, const DeviceArray& codes, const DeviceArray* shares, Run& run) {
  PredictionArrays out;
  out.codes = prediction_memory<std::int32_t>(codes, queries, 1, "codes");
  if (shares != nullptr) out.values = prediction_memory<double>(*shares, queries, shares->view.n_columns, "shares");
  const auto n_classes = static_cast<std::int64_t>(classifier.classes().size());
  if (shares != nullptr && shares->view.n_columns != n_classes) {
    throw Error(ErrorCode::invalid_argument, "out: shares must have a column for each class");
  }
  out.gpu = queries.view.gpu;
  out.stream = codes.view.stream;
  const VoteOptions vote{.n_neighbors = n_neighbors,
                         .weights = vote_weights(weights),
                         .confidences = shares != nullptr ? Confidences::all : Confidences::none};
  run_job(run, [&](const RunOptions& how) { classifier.predict(queries.view, vote, how, out); });
}

void predict_means_into(const KnnRegressor& regressor, const DeviceArray& queries, std::int64_t n_neighbors,
                        std::string_view weights, const DeviceArray& means, Run& run) {
  PredictionArrays out;
  out.values = prediction_memory<double>(means, queries, 1, "means");
  out.gpu = queries.view.gpu;
  out.stream = means.view.stream;
  const VoteOptions vote{.n_neighbors = n_neighbors, .weights = vote_weights(weights)};
  run_job(run, [&](const RunOptions& how) { regressor.predict(queries.view, vote, how, out); });
}

void kneighbors_into(const KnnIndex& index, const DeviceArray& queries, std::int64_t n_neighbors,
                     const DeviceArray& distances, const DeviceArray& indices, Run& run) {
  const std::int64_t n_rows = queries.view.n_rows;
  NeighborArrays out;
  out.distances = static_cast<double*>(list_memory(distances, ElementType::float64, n_rows, n_neighbors, "distances"));
  out.indices = static_cast<std::int64_t*>(list_memory(indices, ElementType::int64, n_rows, n_neighbors, "indices"));
  if (distances.view.gpu != queries.view.gpu || indices.view.gpu != queries.view.gpu) {
    throw Error(ErrorCode::invalid_argument, "out: distances and indices must lie in the GPU of the queries");
  }
  out.gpu = queries.view.gpu;
  out.stream = distances.view.stream;
  run_job(run, [&](const RunOptions& how) {
    index.kneighbors(queries.view, SearchOptions{.n_neighbors = n_neighbors}, how, out);
  });
}

}  // namespace

void bind_device_arrays(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceArray", "An array of two dimensions in a GPU's memory.")
      .def(
          "__init__",
          [](DeviceArray* self, std::uint64_t address, std::string_view type, std::int64_t n_rows,
             std::int64_t n_columns, std::int64_t row_stride, std::int64_t column_stride, int gpu, std::uint64_t stream,
             nb::object owner) {
            const Extent extent{
                .n_rows = n_rows, .n_columns = n_columns, .row_stride = row_stride, .column_stride = column_stride};
            new (self) DeviceArray(device_array(address, type, extent, gpu, stream, std::move(owner)));
          },
          nb::arg("address"), nb::arg("type"), nb::arg("n_rows"), nb::arg("n_columns"), nb::arg("row_stride"),
          nb::arg("column_stride"), nb::arg("gpu"), nb::arg("stream"), nb::arg("owner").none())
      .def_static("of_dlpack", &of_dlpack, nb::arg("array"), nb::arg("stream"), nb::arg("owner").none())
      .def_prop_ro("address",
                   [](const DeviceArray& array) {
                     return reinterpret_cast<std::uintptr_t>(array.view.data);  // NOLINT
                   })
      .def_prop_ro("type", [](const DeviceArray& array) { return to_string(array.view.type); })
      .def_prop_ro("shape",
                   [](const DeviceArray& array) { return nb::make_tuple(array.view.n_rows, array.view.n_columns); })
      .def_prop_ro(
          "strides",
          [](const DeviceArray& array) { return nb::make_tuple(array.view.row_stride, array.view.column_stride); })
      .def_prop_ro("gpu", [](const DeviceArray& array) { return array.view.gpu; })
      .def_prop_ro("stream", [](const DeviceArray& array) {
        return reinterpret_cast<std::uintptr_t>(array.view.stream);  // NOLINT
      });
  module.def("kneighbors_into", &kneighbors_into, nb::arg("index"), nb::arg("queries"), nb::arg("n_neighbors"),
             nb::arg("distances"), nb::arg("indices"), nb::arg("run"),
             "Lists of neighbours of rows in a GPU's memory, written to memory of that GPU.");
  module.def("predict_classes_into", &predict_classes_into, nb::arg("classifier"), nb::arg("queries"),
             nb::arg("n_neighbors"), nb::arg("weights"), nb::arg("codes"), nb::arg("shares").none(), nb::arg("run"),
             "Classes voted for rows in a GPU's memory, written to memory of that GPU.");
  module.def("predict_means_into", &predict_means_into, nb::arg("regressor"), nb::arg("queries"),
             nb::arg("n_neighbors"), nb::arg("weights"), nb::arg("means"), nb::arg("run"),
             "Means for rows in a GPU's memory, written to memory of that GPU.");
}

}  // namespace stope::python
