// Results of jobs as tables (src/jobs/result_tables.hpp).
#include "jobs/result_tables.hpp"

#include <limits>
#include <utility>

namespace stope::jobs {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

double row_or_none(std::int64_t row) {
  return row < 0 ? kNone : static_cast<double>(row);
}

Column whole(std::string name, const Numbers& numbers) {
  return make_numeric(std::move(name), numbers, ValueType::integer);
}

Table table_of_columns(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.front().size();
  table.columns = std::move(columns);
  return table;
}

struct StatisticsColumns {
  TextColumn by, column, type, role;
  Numbers rows, count, missing, zeros, min, min_row, max, max_row, sum, mean, variance, deviation, skewness, distinct;

  void add(const ColumnStatistics& s, const Column& of) {
    column.add(s.name);
    type.add(std::string(to_string(s.type)));
    role.add(std::string(to_string(of.role)));
    rows.push_back(static_cast<double>(s.rows));
    count.push_back(static_cast<double>(s.count));
    missing.push_back(static_cast<double>(s.missing));
    zeros.push_back(of.nominal() ? kNone : static_cast<double>(s.zeros));
    min.push_back(s.min);
    min_row.push_back(row_or_none(s.min_row));
    max.push_back(s.max);
    max_row.push_back(row_or_none(s.max_row));
    sum.push_back(of.nominal() ? kNone : s.sum);
    mean.push_back(s.mean);
    variance.push_back(s.variance);
    deviation.push_back(s.deviation);
    skewness.push_back(s.skewness);
    distinct.push_back(s.distinct ? static_cast<double>(*s.distinct) : kNone);
  }
};

}  // namespace

void TextColumn::add(const std::string& text) {
  const auto [at, fresh] = code_of_.try_emplace(text, static_cast<std::int32_t>(values_.size()));
  if (fresh) values_.push_back(text);
  codes_.push_back(at->second);
}

Column TextColumn::column(std::string name) && {
  return make_nominal(std::move(name), codes_, std::move(values_), ValueType::nominal);
}

Table statistics_table(const Statistics& statistics, const Table& table) {
  StatisticsColumns all;
  const bool by_class = !statistics.classes.empty();
  for (std::size_t i = 0; i < statistics.columns.size(); ++i) {
    if (by_class) all.by.add_missing();
    all.add(statistics.columns[i], table.columns[i]);
  }
  for (const ClassStatistics& one : statistics.classes) {
    for (std::size_t i = 0; i < one.columns.size(); ++i) {
      all.by.add(one.value);
      all.add(one.columns[i], table.columns[i]);
    }
  }
  std::vector<Column> columns;
  if (by_class) columns.push_back(std::move(all.by).column("class"));
  columns.push_back(std::move(all.column).column("column"));
  columns.push_back(std::move(all.type).column("type"));
  columns.push_back(std::move(all.role).column("role"));
  columns.push_back(whole("rows", all.rows));
  columns.push_back(whole("count", all.count));
  columns.push_back(whole("missing", all.missing));
  columns.push_back(whole("zeros", all.zeros));
  columns.push_back(make_numeric("min", all.min));
  columns.push_back(whole("min_row", all.min_row));
  columns.push_back(make_numeric("max", all.max));
  columns.push_back(whole("max_row", all.max_row));
  columns.push_back(make_numeric("sum", all.sum));
  columns.push_back(make_numeric("mean", all.mean));
  columns.push_back(make_numeric("variance", all.variance));
  columns.push_back(make_numeric("deviation", all.deviation));
  columns.push_back(make_numeric("skewness", all.skewness));
  columns.push_back(whole("distinct", all.distinct));
  return table_of_columns(std::move(columns));
}

Table histogram_table(const Statistics& statistics) {
  TextColumn column;
  Numbers low, high, count;
  for (const ColumnStatistics& s : statistics.columns) {
    if (!s.histogram) continue;
    const Histogram& histogram = *s.histogram;
    const auto n = static_cast<double>(histogram.counts.size());
    // Between the ends an edge is weighted, so that it cannot overflow.
    const auto edge = [&](std::size_t i) {
      const double part = static_cast<double>(i) / n;
      return i == 0                         ? histogram.low
             : i == histogram.counts.size() ? histogram.high
                                            : histogram.low * (1.0 - part) + histogram.high * part;
    };
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
      column.add(s.name);
      low.push_back(edge(i));
      high.push_back(edge(i + 1));
      count.push_back(static_cast<double>(histogram.counts[i]));
    }
  }
  return table_of_columns({std::move(column).column("column"), make_numeric("low", low), make_numeric("high", high),
                           whole("count", count)});
}

Table value_counts_table(const Statistics& statistics) {
  TextColumn column, value;
  Numbers count;
  for (const ColumnStatistics& s : statistics.columns) {
    if (!is_nominal(s.type)) continue;
    for (std::size_t i = 0; i < s.counts.size(); ++i) {
      column.add(s.name);
      value.add(s.values[static_cast<std::int64_t>(i)]);
      count.push_back(static_cast<double>(s.counts[i]));
    }
  }
  return table_of_columns(
      {std::move(column).column("column"), std::move(value).column("value"), whole("count", count)});
}

Table best_cuts_table(const BestCuts& found) {
  TextColumn name, value;
  Numbers attribute, score, cut, p, family_p, q;
  bool tested = false;
  for (const BestCut& one : found.cuts) {
    attribute.push_back(static_cast<double>(one.attribute));
    name.add(one.name);
    score.push_back(one.score);
    cut.push_back(one.cut.value_or(kNone));
    one.value ? value.add(*one.value) : value.add_missing();
    p.push_back(one.p_value.value_or(kNone));
    family_p.push_back(one.family_p_value.value_or(kNone));
    q.push_back(one.q_value.value_or(kNone));
    tested = tested || one.p_value.has_value();
  }
  std::vector<Column> columns = {whole("attribute", attribute), std::move(name).column("name"),
                                 make_numeric("score", score), make_numeric("cut", cut),
                                 std::move(value).column("value")};
  if (tested) {
    columns.push_back(make_numeric("p_value", p));
    columns.push_back(make_numeric("family_p_value", family_p));
    columns.push_back(make_numeric("q_value", q));
  }
  return table_of_columns(std::move(columns));
}

Table cuts_table(const CutSet& cuts) {
  TextColumn name, value;
  Numbers number;
  for (const AttributeCuts& one : cuts) {
    for (std::int64_t i = 0; i < one.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      name.add(one.name);
      number.push_back(one.symbolic ? kNone : one.numbers[at]);
      one.symbolic ? value.add(one.values[at]) : value.add_missing();
    }
  }
  return table_of_columns(
      {std::move(name).column("name"), make_numeric("number", number), std::move(value).column("value")});
}

Table ranges_table(const FeatureRanges& ranges) {
  TextColumn name;
  Numbers low, high;
  for (const FeatureRange& one : ranges.features) {
    name.add(one.name);
    low.push_back(one.low);
    high.push_back(one.high);
  }
  return table_of_columns({std::move(name).column("name"), make_numeric("low", low), make_numeric("high", high)});
}

Table pairs_table(const std::vector<CrossDistance>& pairs) {
  Table table;
  table.n_rows = std::ssize(pairs);
  Buffer<double> request(table.n_rows), document(table.n_rows), distance(table.n_rows);
  for (std::int64_t i = 0; i < table.n_rows; ++i) {
    const CrossDistance& pair = pairs[static_cast<std::size_t>(i)];
    request[i] = static_cast<double>(pair.request);
    document[i] = static_cast<double>(pair.document);
    distance[i] = pair.distance;
  }
  table.columns = {column_of("request", std::move(request), ValueType::integer),
                   column_of("document", std::move(document), ValueType::integer),
                   column_of("distance", std::move(distance))};
  return table;
}

Table neighbors_table(const Neighbors& lists) {
  Table table;
  table.n_rows = std::ssize(lists.indices);
  Buffer<double> row(table.n_rows), pos(table.n_rows), index(table.n_rows), distance(table.n_rows);
  for (std::int64_t query = 0; query < lists.n_queries(); ++query) {
    const std::int64_t begin = lists.offsets[static_cast<std::size_t>(query)];
    const std::int64_t end = lists.offsets[static_cast<std::size_t>(query) + 1];
    for (std::int64_t i = begin; i < end; ++i) {
      row[i] = static_cast<double>(query);
      pos[i] = static_cast<double>(i - begin);
      index[i] = static_cast<double>(lists.indices[static_cast<std::size_t>(i)]);
      distance[i] = lists.distances[static_cast<std::size_t>(i)];
    }
  }
  table.columns = {
      column_of("row", std::move(row), ValueType::integer), column_of("pos", std::move(pos), ValueType::integer),
      column_of("train_index", std::move(index), ValueType::integer), column_of("distance", std::move(distance))};
  return table;
}

}  // namespace stope::jobs
