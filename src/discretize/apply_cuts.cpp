// apply_cuts(): turns values into codes (stope/discretize.hpp).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/guarded.hpp"
#include "base/number_text.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "base/thread_pool.hpp"
#include "discretize/problem.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"
#include "table/check_table.hpp"
#include "table/column_error.hpp"

namespace stope {
namespace {

std::vector<std::string> code_names(const AttributeCuts& cuts) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i <= cuts.size(); ++i) names.push_back("s" + std::to_string(i + 1));
  return names;
}

std::vector<std::string> labels_of_numbers(const std::vector<double>& cuts) {
  std::vector<std::string> labels;
  labels.reserve(cuts.size() + 1);
  std::string low = "(-inf";
  for (const double cut : cuts) {
    const bool missing = std::isinf(cut) && cut < 0.0;  // "missing | present"
    const std::string text = number_text(cut);
    low += ',';
    low += text;
    low += ')';
    labels.push_back(missing ? "missing" : low);
    low = "[";
    low += text;
  }
  low += ",+inf)";
  labels.push_back(low);
  return labels;
}

std::vector<std::string> names_of(const AttributeCuts& cuts, CodeStyle style) {
  if (style == CodeStyle::codes) return code_names(cuts);
  if (!cuts.symbolic) return labels_of_numbers(cuts.numbers);
  std::vector<std::string> labels;
  labels.reserve(cuts.values.size() + 1);
  for (const std::string& value : cuts.values) labels.push_back("=" + value);
  labels.emplace_back("other");
  return labels;
}

void check_cuts(const AttributeCuts& cuts) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "the cuts of '" + cuts.name + "' " + what, {.feature = cuts.name});
  };
  for (std::size_t i = 0; i < cuts.numbers.size(); ++i) {
    if (std::isnan(cuts.numbers[i])) fail("hold a NaN");
    if (i > 0 && !(cuts.numbers[i - 1] < cuts.numbers[i])) fail("do not ascend");
  }
  const std::unordered_set<std::string> values(cuts.values.begin(), cuts.values.end());
  if (values.size() != cuts.values.size()) fail("name a value twice");
}

// Says why a column is nominal although its cuts are numbers: names its first value that is not a number.
std::string why_nominal(const Column& column) {
  for (const std::string& value : column.values) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) return " ('" + value + "' is not a number)";
  }
  return "";
}

// Finds the column that a set's attribute means.
const Column& column_of(const Table& table, const std::unordered_map<std::string, std::size_t>& index_of,
                        const AttributeCuts& cuts) {
  const auto index = index_of.find(cuts.name);
  if (index == index_of.end()) {
    throw Error(ErrorCode::invalid_data, "there is no column '" + cuts.name + "', which the cuts name",
                {.file = table.source, .feature = cuts.name});
  }
  const Column& column = table.columns[index->second];
  if (column.role != Role::regular) {
    throw column_error(ErrorCode::invalid_data, table, column, " has cuts, but is not a feature");
  }
  if (column.nominal() == cuts.symbolic) return column;
  throw column_error(ErrorCode::invalid_data, table, column,
                     cuts.symbolic ? " is numeric, but its cuts are values"
                                   : " is nominal" + why_nominal(column) + ", but its cuts are numbers");
}

Buffer<std::int32_t> codes_of_numbers(const discretize::Attribute& attribute, const std::vector<double>& cuts,
                                      std::int64_t n_rows) {
  Buffer<std::int32_t> codes(n_rows);
  attribute.with_numbers([&](const auto* x) {
    for (std::int64_t row = 0; row < n_rows; ++row) {
      const auto value = static_cast<double>(x[row]);  // cuts that it does not lie below; none for NaN
      codes[row] = std::isnan(value)
                       ? 0
                       : static_cast<std::int32_t>(std::upper_bound(cuts.begin(), cuts.end(), value) - cuts.begin());
    }
  });
  return codes;
}

Buffer<std::int32_t> codes_of_values(const discretize::Attribute& attribute, const std::vector<std::string>& cuts,
                                     std::int64_t n_rows) {
  std::unordered_map<std::string, std::int32_t> known;
  for (const std::string& value : cuts) known.emplace(value, static_cast<std::int32_t>(known.size()));
  std::vector<std::int32_t> code_of_value;
  for (const std::string& value : attribute.values) {
    const auto found = known.find(value);
    code_of_value.push_back(found == known.end() ? static_cast<std::int32_t>(cuts.size()) : found->second);
  }
  Buffer<std::int32_t> codes(n_rows);
  for (std::int64_t row = 0; row < n_rows; ++row) {
    codes[row] = code_of_value[static_cast<std::size_t>(attribute.codes()[row])];
  }
  return codes;
}

// Takes only the columns that are coded: missing values elsewhere do not matter.
Table coded_columns(const Table& table, const CutSet& cuts) {
  Table coded;
  coded.n_rows = table.n_rows;
  coded.source = table.source;
  std::unordered_set<std::string> names;
  std::unordered_map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < table.columns.size(); ++i) index_of.emplace(table.columns[i].name, i);
  for (const AttributeCuts& one : cuts) {
    check_cuts(one);
    if (!names.insert(one.name).second) {
      throw Error(ErrorCode::invalid_argument, "the cuts name '" + one.name + "' twice", {.feature = one.name});
    }
    coded.columns.push_back(column_of(table, index_of, one));
  }
  return coded;
}

}  // namespace

Table apply_cuts(const Table& table, const CutSet& cuts, const ApplyOptions& options, const RunOptions& run) try {
  check_shape(table);
  const Table features = coded_columns(table, cuts);
  const discretize::DecisionProblem problem =
      discretize::make_problem(features, options.missing, run, discretize::Target::unused);
  discretize::require_telling_names(features, problem);
  std::vector<Column> coded(cuts.size());
  ThreadPool pool(run.threads);
  const JobTime time(run);
  PhaseProgress progress(run, "code", static_cast<std::int64_t>(cuts.size()));
  pool.parallel_for(
      static_cast<std::int64_t>(cuts.size()), run.cancel,
      [&](std::int64_t i, int) {
        const AttributeCuts& one = cuts[static_cast<std::size_t>(i)];
        const discretize::Attribute& attribute = problem.attributes[static_cast<std::size_t>(i)];
        Column& column = coded[static_cast<std::size_t>(i)];
        column.name = one.name;
        column.type = ValueType::polynominal;
        column.values = names_of(one, options.style);
        column.data = one.symbolic ? codes_of_values(attribute, one.values, problem.n_rows)
                                   : codes_of_numbers(attribute, one.numbers, problem.n_rows);
        progress.add(1);
      },
      &progress);
  Table result;
  result.n_rows = problem.n_rows;
  result.source = table.source;
  Table others;
  others.n_rows = table.n_rows;
  for (const Column& column : table.columns) {
    if (column.role != Role::regular) others.columns.push_back(column);
  }
  if (!problem.rows.empty()) others = others.take(problem.rows);
  std::unordered_map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < cuts.size(); ++i) place.emplace(cuts[i].name, i);
  std::size_t next_other = 0;
  for (const Column& column : table.columns) {
    if (column.role != Role::regular) {
      result.columns.push_back(others.columns[next_other++]);
    } else if (const auto found = place.find(column.name); found != place.end()) {
      result.columns.push_back(std::move(coded[found->second]));
    }
  }
  time.hand("code", pool.size());
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
