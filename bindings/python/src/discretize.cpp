#include "discretize.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run.hpp"
#include "stope/cuts_file.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"
#include "stope/find_cuts.hpp"
#include "stope/stats.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

nb::dict rank(const Table& table, std::string_view criterion_name, std::string_view missing,
              std::int64_t n_permutations, std::uint64_t seed, Run& run) {
  const BestCutOptions options{.criterion = criterion(criterion_name),
                               .missing = missing_policy(missing),
                               .order = AttributeOrder::column,
                               .n_permutations = n_permutations,
                               .seed = seed};
  const BestCuts found = result_of(run, [&](const RunOptions& how) { return best_cuts(table, options, how); });
  nb::list cuts;
  for (const BestCut& one : found.cuts) {
    nb::dict cut;
    cut["feature"] = one.attribute;
    cut["name"] = one.name;
    cut["symbolic"] = one.symbolic;
    cut["score"] = one.score;
    cut["pairs"] = one.pairs;
    cut["cut"] = one.cut;
    cut["value"] = one.value;
    cut["p_value"] = one.p_value;
    cut["family_p_value"] = one.family_p_value;
    cut["q_value"] = one.q_value;
    cuts.append(cut);
  }
  nb::dict result;
  result["cuts"] = cuts;
  result["class_counts"] = found.report.class_counts;
  return result;
}

nb::list find(const Table& table, std::string_view method, std::string_view missing, std::int64_t n_bins,
              std::int64_t max_cuts, double confidence, std::int64_t min_intervals, Run& run) {
  const DiscretizeOptions options{.method = discretize_method(method),
                                  .missing = missing_policy(missing),
                                  .n_bins = n_bins,
                                  .max_cuts = max_cuts,
                                  .confidence = confidence,
                                  .min_intervals = min_intervals};
  return list_of(result_of(run, [&](const RunOptions& how) { return find_cuts(table, options, how); }));
}

Table apply(const Table& table, const nb::list& cuts, std::string_view missing, std::string_view style, Run& run) {
  const CutSet set = cuts_of(cuts);
  const ApplyOptions options{.missing = missing_policy(missing), .style = code_style(style)};
  const auto job = [&](const RunOptions& how) { return apply_cuts(table, set, options, how); };
  return result_of(run, job, duration_of_a_pass(table));
}

// What stands in for a missing value of each column: its mean, or its most frequent value (the first of equally
// frequent ones); None where a column has no value.
nb::list fills(const Table& table, Run& run) {
  const Statistics found = result_of(run, [&](const RunOptions& how) { return describe(table, {}, how); });
  nb::list list;
  for (const ColumnStatistics& column : found.columns) {
    if (column.count == 0) {
      list.append(nb::none());
    } else if (is_nominal(column.type)) {
      list.append(std::max_element(column.counts.begin(), column.counts.end()) - column.counts.begin());
    } else {
      list.append(column.mean);
    }
  }
  return list;
}

}  // namespace

Duration duration_of_a_pass(const Table& table) {
  constexpr std::int64_t kFewValues = 1'000'000;
  const auto n_columns = static_cast<std::int64_t>(table.columns.size());
  return table.n_rows < kFewValues / std::max<std::int64_t>(n_columns, 1) ? Duration::brief : Duration::any;
}

nb::list list_of(const CutSet& cuts) {
  nb::list list;
  for (const AttributeCuts& one : cuts) {
    list.append(one.symbolic ? nb::make_tuple(one.name, one.values) : nb::make_tuple(one.name, one.numbers));
  }
  return list;
}

CutSet cuts_of(const nb::list& list) {
  CutSet cuts;
  for (const nb::handle item : list) {
    if (!nb::isinstance<nb::tuple>(item) || nb::len(item) != 2) {
      throw Error(ErrorCode::invalid_argument, "a set of cuts is a list of (name, numbers or values)");
    }
    AttributeCuts one;
    std::vector<double> numbers;
    std::vector<std::string> values;
    if (!nb::try_cast(item[0], one.name)) throw Error(ErrorCode::invalid_argument, "cuts have a name, which is a str");
    if (nb::try_cast(item[1], numbers)) {
      one.numbers = std::move(numbers);
    } else if (nb::try_cast(item[1], values)) {
      one.symbolic = true;
      one.values = std::move(values);
    } else {
      throw Error(ErrorCode::invalid_argument, "the cuts of '" + one.name + "' are neither numbers nor strings",
                  {.feature = one.name});
    }
    cuts.push_back(std::move(one));
  }
  return cuts;
}

void bind_discretize(nb::module_& module) {
  module.def("best_cuts", &rank, nb::arg("table"), nb::kw_only(), nb::arg("criterion"), nb::arg("missing"),
             nb::arg("n_permutations"), nb::arg("seed"), nb::arg("run"));
  module.def("find_cuts", &find, nb::arg("table"), nb::kw_only(), nb::arg("method"), nb::arg("missing"),
             nb::arg("n_bins"), nb::arg("max_cuts"), nb::arg("confidence"), nb::arg("min_intervals"), nb::arg("run"));
  module.def("apply_cuts", &apply, nb::arg("table"), nb::arg("cuts"), nb::kw_only(), nb::arg("missing"),
             nb::arg("style"), nb::arg("run"));
  module.def("column_fills", &fills, nb::arg("table"), nb::arg("run"));
  module.def(
      "read_cuts",
      [](const std::string& path, Run& run) {
        return list_of(result_of(run, [&](const RunOptions& how) { return read_cuts(path, how); }));
      },
      nb::arg("path"), nb::arg("run"));
  module.def(
      "write_cuts",
      [](const std::string& path, const nb::list& list, Run& run) {
        const CutSet cuts = cuts_of(list);
        run_job(run, [&](const RunOptions& how) {
          OutputFile file(path, how.cancel);
          write_cuts(file, cuts);
          file.commit();
        });
      },
      nb::arg("path"), nb::arg("cuts"), nb::arg("run"));
}

}  // namespace stope::python
