#include "page/subject.hpp"

#include <algorithm>
#include <cmath>

#include "page/words.hpp"
#include "stope/eval.hpp"

namespace stope::cli::page {
namespace {

constexpr std::int64_t kFewRows = 30;  // below, every column may have as many values as rows
constexpr double kMostValues = 0.5;    // values per row of a nominal column that is no id or text

std::string reason_to_leave_out(const Column& column, const ColumnStatistics& facts, std::int64_t n_rows) {
  const std::int64_t distinct = facts.distinct.value_or(0);
  if (facts.count == 0) return "has no value";
  if (distinct == 1 && facts.missing == 0) return "has the same value in every row";
  if (facts.count < kFewRows) return {};
  const auto each = [&](double share) {
    return static_cast<double>(distinct) > share * static_cast<double>(facts.count);
  };
  if (column.nominal() && each(kMostValues)) {
    return "has " + grouped(distinct, "different value") + " in " + grouped(facts.count, "row") +
           ": an id or free text";
  }
  const bool numbered = column.type == ValueType::integer && distinct == n_rows &&
                        facts.max - facts.min == static_cast<double>(n_rows - 1);
  return numbered ? "numbers the rows" : std::string();
}

std::vector<std::int64_t> rows_with(const Column& label) {
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(label.size()));
  for (std::int64_t row = 0; row < label.size(); ++row) {
    if (!label.missing(row)) rows.push_back(row);
  }
  return rows;
}

}  // namespace

Subject subject_of(std::string name, Table table, const RunOptions& run) {
  Subject subject;
  subject.name = std::move(name);
  subject.label = table.find(Role::label);
  if (subject.label >= 0) {
    std::vector<std::int64_t> rows = rows_with(table.columns[static_cast<std::size_t>(subject.label)]);
    subject.n_without_label = table.n_rows - std::ssize(rows);
    if (subject.n_without_label > 0) table = table.take(rows);
  }
  subject.table = std::move(table);
  subject.statistics = describe(subject.table, {.distinct = StatsOptions::Distinct::count, .histogram_bins = 1}, run);
  subject.learnable = subject.table;
  for (const std::int64_t i : subject.table.features()) {
    const Column& column = subject.table.columns[static_cast<std::size_t>(i)];
    std::string why = reason_to_leave_out(column, subject.of(i), subject.table.n_rows);
    if (why.empty()) continue;
    subject.left_out.push_back({column.name, std::move(why)});
    subject.learnable.columns[static_cast<std::size_t>(i)].role = Role::ignore;
  }
  subject.classes = subject.classifies() ? class_list(*subject.label_column()) : no_classes(subject.table.n_rows);
  if (subject.classes.empty()) subject.classes = no_classes(0);
  return subject;
}

Sample sample_of(const Subject& subject, std::int64_t most, std::uint64_t seed) {
  const std::int64_t n = subject.learnable.n_rows;
  if (n <= most) return {subject.learnable, n};
  std::vector<std::int32_t> labels;
  if (subject.classifies()) {
    const auto& codes = subject.label_column()->codes();
    labels.assign(codes.data(), codes.data() + n);
  }
  const std::vector<std::int64_t> rows =
      holdout_rows(n, static_cast<double>(most) / static_cast<double>(n), seed, labels);
  return {subject.learnable.take(rows), n};
}

std::string rows_words(const Sample& sample, std::uint64_t seed) {
  if (sample.whole()) return sample.n_all == 1 ? "the one row" : "all " + grouped(sample.n_all, "row");
  return "a sample of " + grouped(sample.table.n_rows) + " of the " + grouped(sample.n_all, "row") + " (seed " +
         std::to_string(seed) + ")";
}

}  // namespace stope::cli::page
