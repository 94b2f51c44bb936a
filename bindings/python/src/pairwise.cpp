#include "pairwise.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"
#include "run.hpp"
#include "stope/error.hpp"
#include "stope/knn_pairwise.hpp"
#include "stope/table_builder.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

using Params = std::map<std::string, std::string>;

// The rows as a table: pairwise distances take nothing else. The columns of an array are copied.
class TableRows {
 public:
  explicit TableRows(const nb::object& rows) : source_(rows) {
    if (source_.none()) throw nb::type_error("distances are computed between the rows of a table or an array");
  }
  std::int64_t n_rows() const { return source_.n_rows(); }
  std::int64_t n_columns() const {
    return source_.table() ? static_cast<std::int64_t>(source_.table()->columns.size()) : source_.array()->n_columns;
  }
  const Table& table(const RunOptions& run) {
    if (source_.table() != nullptr) return *source_.table();
    if (!copy_) copy_ = table_of(*source_.array(), {}, run);
    return *copy_;
  }

 private:
  RowSource source_;
  std::optional<Table> copy_;
};

// The two sets of rows. The second is the first where Python hands in one object twice.
class Sides {
 public:
  Sides(const nb::object& request, const nb::object& reference) : request_(request) {
    if (!reference.is(request)) reference_.emplace(reference);
  }
  TableRows& request() { return request_; }
  TableRows& reference() { return reference_ ? *reference_ : request_; }

  // Few distances are computed too soon for anybody to press Ctrl-C.
  Duration duration() {
    const double work = static_cast<double>(request_.n_rows()) * static_cast<double>(reference().n_rows()) *
                        static_cast<double>(std::max<std::int64_t>(request_.n_columns(), 1));
    return work < 1e6 ? Duration::brief : Duration::any;
  }

 private:
  TableRows request_;
  std::optional<TableRows> reference_;
};

KnnOptions knn_options(std::string metric, Params params, std::vector<double> feature_weights, std::string_view name) {
  KnnOptions options;
  options.metric = {std::move(metric), std::move(params)};
  options.feature_weights = std::move(feature_weights);
  options.compat = compat(name);
  return options;
}

// Memory for a matrix: the core's, which throws out_of_memory for sizes beyond the address space.
Buffer<double> make_matrix(std::int64_t n_rows, std::int64_t n_columns) {
  std::int64_t size = 0;
  if (__builtin_mul_overflow(n_rows, n_columns, &size)) {
    throw Error(ErrorCode::out_of_memory, "the matrix of distances exceeds the address space");
  }
  return Buffer<double>(size);
}

nb::object distance_matrix(const nb::object& request, const nb::object& reference, std::string metric, Params params,
                           std::vector<double> feature_weights, std::string_view compat, bool similarities, Run& run) {
  Sides sides(request, reference);
  PairwiseOptions options;
  options.knn = knn_options(std::move(metric), std::move(params), std::move(feature_weights), compat);
  options.similarities = similarities;
  Buffer<double> matrix = make_matrix(sides.request().n_rows(), sides.reference().n_rows());
  double* const values = matrix.data();
  run_job(
      run,
      [&](const RunOptions& how) {
        pairwise_distances(sides.request().table(how), sides.reference().table(how), options, how,
                           std::span<double>(values, static_cast<std::size_t>(matrix.size())));
      },
      sides.duration());
  const auto shape = {static_cast<std::size_t>(sides.request().n_rows()),
                      static_cast<std::size_t>(sides.reference().n_rows())};
  return array_over(values, shape, std::move(matrix));
}

// Three arrays of one length: request rows, reference rows, distances.
nb::tuple distance_pairs(const nb::object& request, const nb::object& reference, std::int64_t n_neighbors,
                         std::string_view search, std::string metric, Params params,
                         std::vector<double> feature_weights, std::string_view compat, bool similarities, Run& run) {
  Sides sides(request, reference);
  PairwiseOptions options;
  options.knn = knn_options(std::move(metric), std::move(params), std::move(feature_weights), compat);
  options.n_neighbors = n_neighbors;
  options.search_for = search_for(search);
  options.similarities = similarities;
  std::vector<std::int64_t> requests, references;
  std::vector<double> distances;
  run_job(
      run,
      [&](const RunOptions& how) {
        const std::vector<CrossDistance> pairs =
            cross_distances(sides.request().table(how), sides.reference().table(how), options, how);
        for (const CrossDistance& pair : pairs) {
          requests.push_back(pair.request);
          references.push_back(pair.document);
          distances.push_back(pair.distance);
        }
      },
      sides.duration());
  return nb::make_tuple(array_of(std::move(requests)), array_of(std::move(references)), array_of(std::move(distances)));
}

}  // namespace

void bind_pairwise(nb::module_& module) {
  module.def("distance_matrix", &distance_matrix, nb::arg("request"), nb::arg("reference"),
             nb::arg("metric") = "mixed-euclidean", nb::arg("params") = Params{},
             nb::arg("feature_weights") = std::vector<double>{}, nb::arg("compat") = "none",
             nb::arg("similarities") = false, nb::arg("run"));
  module.def("distance_pairs", &distance_pairs, nb::arg("request"), nb::arg("reference"), nb::arg("n_neighbors") = 0,
             nb::arg("search_for") = "nearest", nb::arg("metric") = "mixed-euclidean", nb::arg("params") = Params{},
             nb::arg("feature_weights") = std::vector<double>{}, nb::arg("compat") = "none",
             nb::arg("similarities") = false, nb::arg("run"));
}

}  // namespace stope::python
