// What an index of a part of a training table needs to know of the whole: the ranges of its features, and how they are
// normalised (stope/knn_parts.hpp, stope/normalize.hpp).
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "knn.hpp"
#include "knn_lists.hpp"
#include "run.hpp"
#include "stope/knn_parts.hpp"
#include "stope/normalize.hpp"

namespace nb = nanobind;

namespace stope::python {

FeatureRanges ranges_of(const std::vector<NamedRange>& ranges) {
  FeatureRanges result;
  result.features.reserve(ranges.size());
  for (const auto& [name, low, high] : ranges) result.features.push_back({name, low, high});
  return result;
}

namespace {

std::vector<NamedRange> tuples_of(const FeatureRanges& ranges) {
  std::vector<NamedRange> result;
  result.reserve(ranges.features.size());
  for (const FeatureRange& range : ranges.features) result.emplace_back(range.name, range.low, range.high);
  return result;
}

Normalizer fit_normalizer(const Table& table, std::string_view method, Run& run) {
  const NormalizeOptions options{.method = normalization(method)};
  return result_of(run, [&](const RunOptions& how) { return Normalizer::fit(table, options, how); });
}

}  // namespace

void bind_parts(nb::module_& module) {
  module.def(
      "feature_ranges",
      [](const Table& table, Run& run) {
        return tuples_of(result_of(run, [&](const RunOptions& how) { return feature_ranges(table, how); }));
      },
      nb::arg("table"), nb::arg("run"));
  nb::class_<Normalizer>(module, "Normalizer",
                         "How numeric features are normalised: fitted once, applied to any table.")
      .def_static("fit", &fit_normalizer, nb::arg("table"), nb::arg("method"), nb::arg("run"))
      .def(
          "apply",
          [](const Normalizer& normalizer, const Table& table, Run& run) {
            return result_of(run, [&](const RunOptions& how) { return normalizer.apply(table, how); });
          },
          nb::arg("table"), nb::arg("run"));
}

}  // namespace stope::python
