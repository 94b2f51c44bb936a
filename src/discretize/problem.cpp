// Turns a table into a decision problem for discretisation and trees (discretize/problem.hpp).
#include "discretize/problem.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/number_text.hpp"
#include "base/progress.hpp"
#include "base/thread_pool.hpp"
#include "discretize/crew.hpp"
#include "discretize/score.hpp"
#include "stope/error.hpp"
#include "stope/stats.hpp"
#include "table/check_table.hpp"
#include "table/column_error.hpp"
#include "table/row_weight.hpp"

namespace stope::discretize {
namespace {

[[noreturn]] void refuse(const Table& table, const Column& column, std::int64_t row, const std::string& what) {
  throw column_error(ErrorCode::invalid_data, table, column, ": " + what, row);
}

// Returns the row of the table that is the problem's `row`.
std::int64_t row_of(const DecisionProblem& problem, std::int64_t row) {
  return problem.rows.empty() ? row : problem.rows[static_cast<std::size_t>(row)];
}

const Column& label_of(const Table& table) {
  const std::int64_t label = table.find(Role::label);
  if (label < 0) {
    throw Error(ErrorCode::invalid_argument, "which column is the label?", {.file = table.source, .option = "target"});
  }
  const Column& column = table.columns[static_cast<std::size_t>(label)];
  if (column.nominal()) return column;
  throw Error(ErrorCode::invalid_argument, "the label '" + column.name + "' is numeric, but classes must be nominal",
              {.file = table.source, .option = "nominal", .feature = column.name});
}

// Checks the codes of a column, and returns the first row with a missing value, or -1.
std::int64_t first_missing_code(const Column& column) {
  constexpr std::int64_t kAtOnce = 4096;  // rows that lie in the cache between the check and the search
  const std::int32_t* const codes = column.codes().data();
  std::int64_t first = -1;
  for (std::int64_t begin = 0; begin < column.size(); begin += kAtOnce) {
    const std::int64_t end = std::min(begin + kAtOnce, column.size());
    check_codes(column, begin, end);
    if (first >= 0) continue;
    const std::int32_t* const found = std::find(codes + begin, codes + end, kMissingCode);
    if (found != codes + end) first = found - codes;
  }
  return first;
}

// Returns the first row with a missing value, or -1. Checks codes.
std::int64_t first_missing(const Column& column) {
  if (column.nominal()) return first_missing_code(column);
  return std::visit(
      [](const auto& values) {
        std::int64_t missing = 0;
        const auto is_missing = [](auto value) {
          if constexpr (std::is_same_v<decltype(value), std::int32_t>) {
            return value < 0;
          } else {
            return value != value;
          }
        };
        // No branch, because mostly none is missing.
        for (const auto value : values) missing += is_missing(value) ? 1 : 0;
        if (missing == 0) return std::int64_t{-1};
        std::int64_t row = 0;
        while (!is_missing(values[row])) ++row;
        return row;
      },
      column.data);
}

// Calls work(i) for i in [0, n), columns of n_rows, on all threads. Tables may have 100,000 columns with little work
// each.
template <class Work>
void each_column(std::size_t n, std::int64_t n_rows, ThreadPool& pool, const CancelToken& cancel, const Work& work) {
  for_tasks_of_columns(static_cast<std::int64_t>(n), n_rows, pool, cancel,
                       [&](std::int64_t begin, std::int64_t end, int) {
                         for (std::int64_t i = begin; i < end; ++i) work(static_cast<std::size_t>(i));
                       });
}

std::vector<std::int64_t> first_missing_rows(const Table& table, const std::vector<std::int64_t>& features,
                                             ThreadPool& pool, const CancelToken& cancel) {
  std::vector<std::int64_t> rows(features.size());
  each_column(features.size(), table.n_rows, pool, cancel,
              [&](std::size_t f) { rows[f] = first_missing(table.columns[static_cast<std::size_t>(features[f])]); });
  return rows;
}

// Reads the weights of all rows in kWeightUnit.
std::vector<std::int64_t> weights_of(const Table& table, const Column& column) {
  std::vector<std::int64_t> weights(static_cast<std::size_t>(table.n_rows));
  std::int64_t sum = 0;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const double weight = column.at(row);
    require_row_weight(weight, table.source, column.name, row);
    if (weight > static_cast<double>(kMostWeight) * kWeightUnit / 2) {
      refuse(table, column, row, "the weight " + number_text(weight) + " is too large (sums are limited to 2^42)");
    }
    const auto units = static_cast<std::int64_t>(std::nearbyint(weight / kWeightUnit));
    if (units > kMostWeight - sum) refuse(table, column, row, "the sum of the weights exceeds 2^42");
    sum += units;
    weights[static_cast<std::size_t>(row)] = units;
  }
  return weights;
}

// Returns the rows that remain: their weight is above 0 and, under MissingPolicy::drop, nothing is missing. Empty =
// all.
std::vector<std::int64_t> remaining_rows(const Table& table, const std::vector<std::int64_t>& features,
                                         const std::vector<std::int64_t>& first_missing,
                                         const std::vector<std::int64_t>& weights, MissingPolicy policy) {
  std::vector<char> stays(static_cast<std::size_t>(table.n_rows), 1);
  for (std::size_t row = 0; row < weights.size(); ++row) stays[row] = weights[row] > 0 ? 1 : 0;
  for (std::size_t f = 0; policy == MissingPolicy::drop && f < features.size(); ++f) {
    if (first_missing[f] < 0) continue;
    const Column& column = table.columns[static_cast<std::size_t>(features[f])];
    for (std::int64_t row = first_missing[f]; row < table.n_rows; ++row) {
      if (column.missing(row)) stays[static_cast<std::size_t>(row)] = 0;
    }
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    if (stays[static_cast<std::size_t>(row)] != 0) rows.push_back(row);
  }
  if (static_cast<std::int64_t>(rows.size()) == table.n_rows) rows.clear();
  return rows;
}

template <class T>
Buffer<T> filled(const Buffer<T>& from, T fill) {
  Buffer<T> to(from.size());
  for (std::int64_t i = 0; i < from.size(); ++i) {
    const T value = from[i];
    to[i] = value != value ? fill : value;
  }
  return to;
}

Buffer<std::int32_t> with_code(const Buffer<std::int32_t>& from, std::int32_t code) {
  Buffer<std::int32_t> to(from.size());
  for (std::int64_t i = 0; i < from.size(); ++i) to[i] = from[i] < 0 ? code : from[i];
  return to;
}

// The mean of a numeric column, from the sums of stope::describe.
Fill fill_of_numbers(const Table& table, const Column& column, const RunOptions& run) {
  Table one;
  one.n_rows = table.n_rows;
  one.columns.push_back(column);
  RunOptions here = silent(run);
  here.device = "cpu";
  here.threads = 1;
  const Statistics statistics = describe(one, {}, here);
  Fill fill;
  if (statistics.columns[0].count == 0) return fill;
  const double mean = statistics.columns[0].mean;
  if (!std::isfinite(mean)) {
    throw column_error(ErrorCode::invalid_data, table, column,
                       ": missing values cannot be filled, the mean is not finite");
  }
  fill.number = mean;
  return fill;
}

Fill fill_of_codes(const Column& column) {
  std::vector<std::int64_t> counts(column.values.size());
  for (const std::int32_t code : column.codes()) {
    if (code >= 0) ++counts[static_cast<std::size_t>(code)];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  Fill fill;
  if (most != counts.end() && *most > 0) fill.code = static_cast<std::int32_t>(most - counts.begin());
  return fill;
}

void fill_in(Attribute& attribute, const Fill& fill) {
  if (fill.code >= 0) {
    attribute.data = with_code(std::get<Buffer<std::int32_t>>(attribute.data), fill.code);
  } else if (!fill.number) {
    return;  // no value is present: all are one constant, missing
  } else if (auto* real = std::get_if<Buffer<float>>(&attribute.data)) {
    *real = filled(*real, static_cast<float>(*fill.number));
  } else {
    auto& numbers = std::get<Buffer<double>>(attribute.data);
    numbers = filled(numbers, *fill.number);
  }
  attribute.has_missing = false;
}

Attribute make_attribute(const Table& table, std::int64_t index, bool has_missing) {
  const Column& column = table.columns[static_cast<std::size_t>(index)];
  return {.name = column.name,
          .column = index,
          .symbolic = column.nominal(),
          .data = column.data,
          .values = column.values,
          .has_missing = has_missing};
}

AttributeForm form_of(const Attribute& attribute) {
  if (attribute.symbolic) return AttributeForm::codes;
  return std::holds_alternative<Buffer<float>>(attribute.data) ? AttributeForm::float32 : AttributeForm::float64;
}

// Makes what is still missing of a symbolic attribute one more value.
void name_missing(Attribute& attribute) {
  if (!attribute.symbolic || !attribute.has_missing) return;
  const auto code = static_cast<std::int32_t>(attribute.values.size());
  attribute.data = with_code(std::get<Buffer<std::int32_t>>(attribute.data), code);
  std::vector<std::string> values = attribute.values.names();
  values.emplace_back(kMissingValue);
  attribute.values = std::move(values);
}

[[noreturn]] void refuse_missing_label(const Table& table, const Column& label, std::int64_t row) {
  const auto& codes = label.codes();
  if (std::all_of(codes.begin(), codes.end(), [](std::int32_t code) { return code < 0; })) {
    throw column_error(ErrorCode::invalid_data, table, label, ": no row with a label is left");
  }
  refuse(table, label, row, "the label is missing; remove such rows");
}

void count_classes(const Table& table, const Column& label, DecisionProblem& problem) {
  problem.target = label.name;
  problem.classes = label.values;
  problem.class_of = label.codes();
  problem.class_totals.assign(label.values.size(), 0);
  for (std::int64_t row = 0; row < problem.n_rows; ++row) {
    const std::int32_t code = problem.class_of[row];
    if (code < 0) refuse_missing_label(table, label, row_of(problem, row));
    problem.class_totals[static_cast<std::size_t>(code)] += problem.weight(row);
  }
  problem.total = std::accumulate(problem.class_totals.begin(), problem.class_totals.end(), std::int64_t{0});
}

void check_size(const Table& table, std::int64_t n_rows) {
  if (n_rows > kMostRows) {
    throw Error(ErrorCode::unsupported,
                std::to_string(n_rows) + " rows: scores are counted for at most " + std::to_string(kMostRows));
  }
  if (n_rows > 0) return;
  throw Error(ErrorCode::invalid_data,
              table.n_rows == 0 ? "the table has no rows" : "no row remains: every one has a missing value or weight 0",
              {table.source});
}

// Takes the weights and the rows that remain. Returns whether `taken` holds those rows.
bool take_rows(const Table& table, const std::vector<std::int64_t>& features, const std::vector<std::int64_t>& missing,
               MissingPolicy policy, DecisionProblem& problem, Table& taken) {
  const std::int64_t weight = table.find(Role::weight);
  if (weight >= 0) {
    problem.weighted = true;
    problem.weights = weights_of(table, table.columns[static_cast<std::size_t>(weight)]);
  }
  problem.rows = remaining_rows(table, features, missing, problem.weights, policy);
  if (!problem.rows.empty()) {
    taken = table.take(problem.rows);
    taken.source = table.source;
    std::vector<std::int64_t> kept;
    for (const std::int64_t row : problem.rows) {
      if (problem.weighted) kept.push_back(problem.weights[static_cast<std::size_t>(row)]);
    }
    problem.weights = std::move(kept);
    return true;
  }
  const bool none_remains = policy == MissingPolicy::drop &&
                            std::any_of(missing.begin(), missing.end(), [](std::int64_t row) { return row >= 0; });
  const bool no_weight = problem.weighted && std::none_of(problem.weights.begin(), problem.weights.end(),
                                                          [](std::int64_t w) { return w > 0; });
  if (none_remains || no_weight) check_size(table, 0);
  return false;
}

// Checks the names of a table. Wide tables have so many that another thread does it meanwhile, if the run has one.
class NamesBeside {
 public:
  NamesBeside(const Table& table, int threads) {
    constexpr std::size_t kFewNames = 4096;  // their check takes as long as a thread takes to start, several times
    const auto check = [this, &table] {
      try {
        check_names(table);
      } catch (...) {
        error_ = std::current_exception();
      }
    };
    bool runs_beside = threads > 1 && table.columns.size() > kFewNames;
    if (runs_beside) {
      try {
        thread_ = std::jthread(check);
      } catch (const std::system_error&) {
        runs_beside = false;  // the system has no thread to give
      }
    }
    if (runs_beside) return;
    check();
    throw_if_bad();
  }
  /// Waits for the check.
  void throw_if_bad() {
    if (thread_.joinable()) thread_.join();
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
  std::jthread thread_;
};

// Names are checked elsewhere.
DecisionProblem problem_of(const Table& table, MissingPolicy policy, const RunOptions& run, Target target) {
  if (target == Target::needed) check_codes(label_of(table));
  ThreadPool pool(run.threads);
  const std::vector<std::int64_t> features = table.features();
  std::vector<std::int64_t> missing = first_missing_rows(table, features, pool, run.cancel);
  for (std::size_t f = 0; policy == MissingPolicy::error && f < features.size(); ++f) {
    if (missing[f] < 0) continue;
    const Column& column = table.columns[static_cast<std::size_t>(features[f])];
    throw column_error(ErrorCode::invalid_data, table, column, ": a missing value", missing[f], "missing");
  }
  DecisionProblem problem;
  Table taken;
  if (take_rows(table, features, missing, policy, problem, taken)) {
    missing = first_missing_rows(taken, features, pool, run.cancel);
  }
  const Table& used = problem.rows.empty() ? table : taken;
  problem.n_rows = used.n_rows;
  check_size(table, problem.n_rows);
  if (target == Target::needed) count_classes(used, label_of(used), problem);
  problem.attributes.resize(features.size());
  problem.forms.resize(features.size());
  if (policy == MissingPolicy::fill) problem.fills.resize(features.size());
  each_column(features.size(), table.n_rows, pool, run.cancel, [&](std::size_t f) {
    Attribute& attribute = problem.attributes[f];
    attribute = make_attribute(used, features[f], missing[f] >= 0);
    if (policy == MissingPolicy::fill) {
      const Column& column = used.columns[static_cast<std::size_t>(features[f])];
      problem.fills[f] = attribute.symbolic ? fill_of_codes(column) : fill_of_numbers(used, column, run);
      if (attribute.has_missing) fill_in(attribute, problem.fills[f]);
    }
    name_missing(attribute);
    problem.forms[f] = form_of(attribute);
  });
  return problem;
}

}  // namespace

bool DecisionProblem::pure() const {
  return std::count_if(class_totals.begin(), class_totals.end(), [](std::int64_t n) { return n > 0; }) < 2;
}

DecisionProblem make_problem(const Table& table, MissingPolicy policy, const RunOptions& run, Target target) {
  check_shape(table);
  NamesBeside names(table, run.threads > 0 ? run.threads : available_threads());
  try {
    DecisionProblem problem = problem_of(table, policy, run, target);
    names.throw_if_bad();
    return problem;
  } catch (...) {
    names.throw_if_bad();  // bad names are reported first
    throw;
  }
}

void require_telling_names(const Table& table, const DecisionProblem& problem) {
  for (const Attribute& attribute : problem.attributes) {
    if (!attribute.symbolic || !attribute.has_missing) continue;
    const auto at = std::find(attribute.values.begin(), attribute.values.end() - 1, kMissingValue);
    const auto code = static_cast<std::int32_t>(at - attribute.values.begin());
    for (std::int64_t row = 0; row < problem.n_rows && code + 1 < attribute.n_values(); ++row) {
      if (attribute.codes()[row] != code) continue;
      refuse(table, table.columns[static_cast<std::size_t>(attribute.column)], row_of(problem, row),
             "the value '?', by which cuts mean a missing value (rename it, or count it as missing, too)");
    }
  }
}

}  // namespace stope::discretize
