#include "jobs.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run.hpp"
#include "stope/jobs.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

using Texts = std::map<std::string, std::string>;
using Numbers = std::map<std::string, std::vector<double>>;

Predictor fit(const std::string& kind, const Table& table, Texts options, Numbers numbers, Run& run) {
  const NamedOptions named{std::move(options), std::move(numbers)};
  const auto made = result_of(
      run, [&](const RunOptions& how) { return std::make_unique<Predictor>(fit_model(kind, table, named, how)); });
  return *made;
}

Table apply(const Predictor& predictor, const Table& table, Texts options, Run& run) {
  const NamedOptions named{std::move(options), {}};
  return result_of(run, [&](const RunOptions& how) { return apply_model(predictor, table, named, how); });
}

Table neighbors(const Predictor& predictor, const Table& table, std::int64_t n_neighbors, Texts options, Run& run) {
  const NamedOptions named{std::move(options), {}};
  return result_of(run,
                   [&](const RunOptions& how) { return model_neighbors(predictor, table, n_neighbors, named, how); });
}

Table computed(const std::string& job, const Table& table, const Table* other, Texts options, Numbers numbers,
               Run& run) {
  const NamedOptions named{std::move(options), std::move(numbers)};
  return result_of(run, [&](const RunOptions& how) { return compute(job, table, named, how, other); });
}

}  // namespace

void bind_jobs(nb::module_& module) {
  module.def("model_kinds", &model_kinds);
  module.def("job_names", &job_names);
  module.def("describe_options", &describe_options, nb::arg("job"));
  module.def("fit_model", &fit, nb::arg("kind"), nb::arg("table"), nb::arg("options") = Texts{},
             nb::arg("numbers") = Numbers{}, nb::arg("run"));
  module.def("apply_model", &apply, nb::arg("predictor"), nb::arg("table"), nb::arg("options") = Texts{},
             nb::arg("run"));
  module.def("model_neighbors", &neighbors, nb::arg("predictor"), nb::arg("table"), nb::arg("n_neighbors"),
             nb::arg("options") = Texts{}, nb::arg("run"));
  module.def("compute", &computed, nb::arg("job"), nb::arg("table"), nb::arg("other").none() = nb::none(),
             nb::arg("options") = Texts{}, nb::arg("numbers") = Numbers{}, nb::arg("run"));
  module.def("model_info", &model_info, nb::arg("predictor"));
  module.def("model_table", &model_table, nb::arg("predictor"), nb::arg("name"));
}

}  // namespace stope::python
