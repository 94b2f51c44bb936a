#include "knn.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gil.hpp"
#include "knn_lists.hpp"
#include "rows.hpp"
#include "run.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "stope/metric.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

using Params = std::map<std::string, std::string>;

// How many attribute pairs a search may have that nobody would want to stop: some 50 ms for measures that take a
// nanosecond a pair (`quick`), and for powers, logarithms and series too.
constexpr double kBriefWork = 2e6, kQuickBriefWork = 5e7;

Duration duration_of(std::int64_t queries, const KnnIndex& index, bool quick) {
  const double pairs = static_cast<double>(queries) * static_cast<double>(index.n_samples());
  const double work = pairs * static_cast<double>(index.n_features());
  return work < (quick ? kQuickBriefWork : kBriefWork) ? Duration::brief : Duration::any;
}

// A fit reads the table once.
Duration duration_of_fit(const RowSource& rows) {
  const double columns =
      rows.table() ? static_cast<double>(rows.table()->columns.size()) : static_cast<double>(rows.array()->n_columns);
  return static_cast<double>(rows.n_rows()) * columns * columns < kBriefWork ? Duration::brief : Duration::any;
}

KnnIndex fit_index(const nb::object& train, std::string metric, Params params, std::vector<double> feature_weights,
                   std::string_view compatibility, bool share, const std::vector<NamedRange>& ranges, Run& run) {
  const RowSource rows(train, share ? Lend::yes : Lend::no);
  if (rows.none()) throw nb::type_error("an index is fitted to a table or an array");
  KnnOptions options;
  options.metric = {std::move(metric), std::move(params)};
  options.feature_weights = std::move(feature_weights);
  options.compat = compat(compatibility);
  options.ranges = ranges_of(ranges);
  return result_of(
      run,
      [&](const RunOptions& how) {
        return rows.table() ? KnnIndex::fit(*rows.table(), options, how) : KnnIndex::fit(*rows.array(), options, how);
      },
      duration_of_fit(rows));
}

// The index's rows, kept alive by a copy of it.
nb::object rows_of(const KnnIndex& index) {
  const double* const rows = index.rows();
  if (rows == nullptr) return nb::none();
  const auto shape = {static_cast<std::size_t>(index.n_samples()), static_cast<std::size_t>(index.n_features())};
  return array_over(rows, shape, index);
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw Error(ErrorCode::out_of_memory, "the lists exceed the address space");
  return result;
}

// The arguments that every search has.
struct Search {
  bool exclude_self = false;
  std::int64_t first_query = -1;
  std::string exclude_group;
  std::optional<Column> exclude_train, exclude_query;

  SearchOptions options(std::int64_t n_neighbors) && {
    return {.n_neighbors = n_neighbors,
            .exclude_self = exclude_self,
            .exclude_group = std::move(exclude_group),
            .first_query = first_query,
            .exclude_train = std::move(exclude_train),
            .exclude_query = std::move(exclude_query)};
  }
};

// Lists of at most `width` entries as two arrays (distances, indices); NaN and -1 where a list is shorter.
nb::tuple padded(const Neighbors& lists, std::int64_t width) {
  Buffer<std::int64_t> indices(product(lists.n_queries(), width));
  Buffer<double> distances(indices.size());
  std::fill(indices.begin(), indices.end(), -1);
  std::fill(distances.begin(), distances.end(), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < lists.n_queries(); ++i) {
    const std::int64_t first = lists.offsets[static_cast<std::size_t>(i)];
    const std::int64_t length = lists.offsets[static_cast<std::size_t>(i) + 1] - first;
    std::copy_n(lists.indices.data() + first, length, indices.data() + i * width);
    std::copy_n(lists.distances.data() + first, length, distances.data() + i * width);
  }
  const auto shape = {static_cast<std::size_t>(lists.n_queries()), static_cast<std::size_t>(width)};
  auto* distance_values = distances.data();
  auto* index_values = indices.data();
  return nb::make_tuple(array_over(distance_values, shape, std::move(distances)),
                        array_over(index_values, shape, std::move(indices)));
}

nb::tuple kneighbors(const KnnIndex& index, const nb::object& queries, std::int64_t n_neighbors, bool exclude_self,
                     std::int64_t first_query, std::string exclude_group, std::optional<Column> exclude_train,
                     std::optional<Column> exclude_query, bool quick, Run& run) {
  const RowSource rows(queries);
  const SearchOptions options =
      Search{exclude_self, first_query, std::move(exclude_group), std::move(exclude_train), std::move(exclude_query)}
          .options(n_neighbors);
  const std::int64_t n_rows = rows.none() ? index.n_samples() : rows.n_rows();
  if (n_neighbors > index.n_samples()) {  // RapidMiner's rules list all rows; under others the core refuses it
    const Neighbors lists = result_of(
        run, [&](const RunOptions& how) { return index.kneighbors(rows.queries(), options, how); },
        duration_of(n_rows, index, quick));
    return padded(lists, index.n_samples());
  }
  const std::int64_t width = std::max<std::int64_t>(n_neighbors, 0);  // the core refuses 0 and less
  Buffer<std::int64_t> indices(product(n_rows, width));
  Buffer<double> distances(indices.size());
  const NeighborArrays out{.indices = indices.data(), .distances = distances.data()};
  run_job(
      run, [&](const RunOptions& how) { index.kneighbors(rows.queries(), options, how, out); },
      duration_of(n_rows, index, quick));
  const auto shape = {static_cast<std::size_t>(n_rows), static_cast<std::size_t>(width)};
  auto* distance_values = distances.data();
  auto* index_values = indices.data();
  return nb::make_tuple(array_over(distance_values, shape, std::move(distances)),
                        array_over(index_values, shape, std::move(indices)));
}

nb::tuple radius_neighbors(const KnnIndex& index, const nb::object& queries, double radius, bool exclude_self,
                           std::int64_t first_query, std::string exclude_group, std::optional<Column> exclude_train,
                           std::optional<Column> exclude_query, bool quick, Run& run) {
  const RowSource rows(queries);
  const SearchOptions options =
      Search{exclude_self, first_query, std::move(exclude_group), std::move(exclude_train), std::move(exclude_query)}
          .options(1);
  const std::int64_t n_rows = rows.none() ? index.n_samples() : rows.n_rows();
  return tuple_of(result_of(
      run, [&](const RunOptions& how) { return index.radius_neighbors(rows.queries(), radius, options, how); },
      duration_of(n_rows, index, quick)));
}

nb::dict dict_of(const MetricInfo& info) {
  nb::dict dict;
  const auto set = [&](const char* key, std::string_view text) { dict[key] = nb::str(text.data(), text.size()); };
  set("name", info.name);
  set("family", info.family);
  set("rapidminer", info.rapidminer);
  set("aliases", info.aliases);
  set("accepts", to_string(info.accepts));
  set("params", info.params);
  set("summary", info.summary);
  dict["scales_itself"] = info.scales_itself;
  dict["allows_missing"] = info.allows_missing;
  dict["symmetric"] = info.symmetric;
  return dict;
}

nb::list metric_dicts() {
  nb::list list;
  for (const MetricInfo& info : metrics()) list.append(dict_of(info));
  return list;
}

VoteOptions vote_options(std::int64_t n_neighbors, std::string_view weights, bool exclude_self, bool confidences) {
  return {.n_neighbors = n_neighbors,
          .weights = vote_weights(weights),
          .exclude_self = exclude_self,
          .confidences = confidences ? Confidences::all : Confidences::none};
}

std::span<const double> span_of(const std::optional<Array1<double>>& array) {
  if (!array) return {};
  return {array->data(), array->size()};
}

nb::object predict_classes(const KnnClassifier& classifier, const nb::object& queries, std::int64_t n_neighbors,
                           std::string_view weights, bool exclude_self, bool confidences, bool quick, Run& run) {
  const RowSource rows(queries);
  const VoteOptions vote = vote_options(n_neighbors, weights, exclude_self, confidences);
  const std::int64_t n_rows = rows.none() ? classifier.index().n_samples() : rows.n_rows();
  Classification result = result_of(
      run, [&](const RunOptions& how) { return classifier.predict(rows.queries(), vote, how); },
      duration_of(n_rows, classifier.index(), quick));
  nb::object codes = array_of(std::move(result.codes));
  if (!confidences) return nb::make_tuple(codes, nb::none());
  const std::size_t n_classes = result.classes.size();
  return nb::make_tuple(codes, array_of(std::move(result.confidences), {nb::len(codes), n_classes}));
}

nb::object predict_means(const KnnRegressor& regressor, const nb::object& queries, std::int64_t n_neighbors,
                         std::string_view weights, bool exclude_self, bool quick, Run& run) {
  const RowSource rows(queries);
  const VoteOptions vote = vote_options(n_neighbors, weights, exclude_self, true);
  const std::int64_t n_rows = rows.none() ? regressor.index().n_samples() : rows.n_rows();
  return array_of(result_of(
      run, [&](const RunOptions& how) { return regressor.predict(rows.queries(), vote, how); },
      duration_of(n_rows, regressor.index(), quick)));
}

}  // namespace

void bind_knn(nb::module_& module) {
  nb::class_<KnnIndex>(module, "KnnIndex", "A fitted index: searching it is safe from several threads at once.")
      .def_static("fit", &fit_index, nb::arg("train"), nb::arg("metric") = "mixed-euclidean",
                  nb::arg("params") = Params{}, nb::arg("feature_weights") = std::vector<double>{},
                  nb::arg("compat") = "none", nb::arg("share") = false, nb::arg("ranges") = std::vector<NamedRange>{},
                  nb::arg("run"))
      .def_prop_ro("n_samples", &KnnIndex::n_samples)
      .def_prop_ro("n_features", &KnnIndex::n_features)
      .def("rows", &rows_of, "The rows as a read-only array that the index keeps, or None where it holds none.")
      .def_prop_ro("all_finite", &KnnIndex::all_finite)
      .def("train", &KnnIndex::train, nb::call_guard<WithoutGil>())
      .def("kneighbors", &kneighbors, nb::arg("queries").none(), nb::arg("n_neighbors"),
           nb::arg("exclude_self") = false, nb::arg("first_query") = -1, nb::arg("exclude_group") = "",
           nb::arg("exclude_train").none() = nb::none(), nb::arg("exclude_query").none() = nb::none(),
           nb::arg("quick") = false, nb::arg("run"))
      .def("radius_neighbors", &radius_neighbors, nb::arg("queries").none(), nb::arg("radius"),
           nb::arg("exclude_self") = false, nb::arg("first_query") = -1, nb::arg("exclude_group") = "",
           nb::arg("exclude_train").none() = nb::none(), nb::arg("exclude_query").none() = nb::none(),
           nb::arg("quick") = false, nb::arg("run"))
      .def("release_devices", &KnnIndex::release_devices, nb::call_guard<WithoutGil>());

  nb::class_<KnnClassifier>(module, "KnnClassifier", "Classes voted by the neighbours of an index.")
      .def_static(
          "fit",
          [](const KnnIndex& index, const Column& label, const std::optional<Array1<double>>& sample_weights) {
            return KnnClassifier::fit(index, label, span_of(sample_weights));
          },
          nb::arg("index"), nb::arg("label"), nb::arg("sample_weights").none() = nb::none())
      .def("predict", &predict_classes, nb::arg("queries").none(), nb::arg("n_neighbors"),
           nb::arg("weights") = "uniform", nb::arg("exclude_self") = false, nb::arg("confidences") = true,
           nb::arg("quick") = false, nb::arg("run"));

  nb::class_<KnnRegressor>(module, "KnnRegressor", "Means of the targets of an index's neighbours.")
      .def_static(
          "fit",
          [](const KnnIndex& index, const Column& label, const std::optional<Array1<double>>& sample_weights) {
            return KnnRegressor::fit(index, label, span_of(sample_weights));
          },
          nb::arg("index"), nb::arg("label"), nb::arg("sample_weights").none() = nb::none())
      .def("predict", &predict_means, nb::arg("queries").none(), nb::arg("n_neighbors"), nb::arg("weights") = "uniform",
           nb::arg("exclude_self") = false, nb::arg("quick") = false, nb::arg("run"));

  module.def("metrics", &metric_dicts);
  bind_votes(module);
  bind_parts(module);
}

}  // namespace stope::python
