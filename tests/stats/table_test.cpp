// Whole tables: nominal columns, classes of rows, second passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "stats/stats_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace stats_cases;

Table mixed_table(std::int64_t n) {
  Table table;
  table.n_rows = n;
  table.columns.push_back(make_numeric("x", column_of<double>("5 % missing", n, 1)));
  Buffer<float> floats(n);
  const auto values = column_of<float>("offset 1e6", n, 2);
  std::copy(values.begin(), values.end(), floats.begin());
  table.columns.push_back({"f", ValueType::real, Role::regular, floats, {}});
  std::vector<std::int32_t> codes, classes;
  Random random(3);
  for (std::int64_t i = 0; i < n; ++i) {
    codes.push_back(static_cast<std::int32_t>(random.below(5)) - 1);
    classes.push_back(random.below(50) == 0 ? kMissingCode : static_cast<std::int32_t>(random.below(3)));
  }
  table.columns.push_back(make_nominal("n", codes, {"a", "b", "c", "d"}));
  table.columns.push_back(make_nominal("class", classes, {"no", "never", "yes", "unused"}));
  return table;
}

TEST(TableStatistics, CountsNominalValues) {
  for (const std::int64_t n : {0, 1, 1000, 3000000}) {
    const Table table = mixed_table(n);
    const ColumnStatistics column = describe(table).columns[2];
    std::vector<std::int64_t> counts(4);
    std::int64_t missing = 0;
    for (std::int64_t row = 0; row < n; ++row) {
      const std::int32_t code = table.columns[2].codes()[row];
      ++(code < 0 ? missing : counts[static_cast<std::size_t>(code)]);
    }
    EXPECT_EQ(column.counts, counts);
    EXPECT_EQ(column.missing, missing);
    EXPECT_EQ(column.count, n - missing);
    EXPECT_EQ(column.rows, n);
    EXPECT_EQ(column.values, table.columns[2].values);
    EXPECT_EQ(column.distinct, n == 0 ? 0 : n == 1 ? 1 - missing : 4);
    EXPECT_TRUE(std::isnan(column.mean) && std::isnan(column.min));
  }
}

// A table of n rows whose columns "group" and "value" have many values.
Table many_valued(std::int64_t n, std::int64_t n_groups, std::int64_t n_values) {
  Random random(5);
  const auto column = [&](const char* name, std::int64_t n_names) {
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < n_names; ++i) names.push_back(name + std::to_string(i));
    std::vector<std::int32_t> codes;
    for (std::int64_t row = 0; row < n; ++row) {
      // Squared, so that one group has many rows, and many have none.
      const double share = random.uniform() * random.uniform();
      codes.push_back(static_cast<std::int32_t>(share * static_cast<double>(n_names + 1)) - 1);
    }
    return make_nominal(name, codes, names);
  };
  Table table;
  table.n_rows = n;
  table.columns = {column("group", n_groups), column("value", n_values),
                   make_numeric("x", std::vector<double>(n, 1.5))};
  return table;
}

TEST(TableStatistics, ClassesWithManyValuesCountThoseThatOccur) {
  for (const std::int64_t n_values : {218, 219, 2000}) {  // 300 x 218 counts are the most that are kept for all values
    const Table table = many_valued(20000, 300, n_values);
    const Statistics statistics = describe(table, {.by = "group"});
    std::vector<std::vector<std::int64_t>> counts(300, std::vector<std::int64_t>(static_cast<std::size_t>(n_values)));
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      const std::int32_t group = table.columns[0].codes()[row], value = table.columns[1].codes()[row];
      if (group >= 0 && value >= 0) ++counts[static_cast<std::size_t>(group)][static_cast<std::size_t>(value)];
    }
    for (std::size_t group = 0; group < 300; ++group) {
      const ColumnStatistics& column = statistics.classes[group].columns[1];
      ASSERT_EQ(column.codes.has_value(), n_values > 218);
      std::vector<std::int64_t> found = column.counts;
      if (column.codes) {
        ASSERT_EQ(column.codes->size(), column.counts.size());
        ASSERT_TRUE(std::is_sorted(column.codes->begin(), column.codes->end()));
        found.assign(static_cast<std::size_t>(n_values), 0);
        for (std::size_t i = 0; i < column.counts.size(); ++i) {
          EXPECT_GT(column.counts[i], 0);
          found[static_cast<std::size_t>((*column.codes)[i])] = column.counts[i];
        }
      }
      ASSERT_EQ(found, counts[group]) << group;
      EXPECT_EQ(column.distinct, std::count_if(found.begin(), found.end(), [](std::int64_t n) { return n > 0; }));
      EXPECT_EQ(column.count + column.missing, statistics.classes[group].rows);
      // In the column of the groups, only the group's own value occurs.
      const ColumnStatistics& own = statistics.classes[group].columns[0];
      const bool any = own.rows > 0;
      EXPECT_EQ(own.codes,
                any ? std::vector<std::int32_t>{static_cast<std::int32_t>(group)} : std::vector<std::int32_t>());
      EXPECT_EQ(own.counts, any ? std::vector<std::int64_t>{own.rows} : std::vector<std::int64_t>());
      EXPECT_EQ(own.count, own.rows);
      EXPECT_EQ(own.distinct, any ? 1 : 0);
    }
  }
}

TEST(TableStatistics, ClassesBeyondTheMemoryLimitAreRefusedWithTheBytes) {
  const Table table = many_valued(20000, 30000, 3);
  RunOptions run;
  run.memory_limit = 4000000;
  try {
    describe(table, {.by = "group"}, run);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_GT(error.bytes(), run.memory_limit);
    EXPECT_NE(error.message().find("30000 classes of 3 columns need " + std::to_string(error.bytes())),
              std::string::npos);
    run.memory_limit = error.bytes();
  }
  EXPECT_EQ(describe(table, {.by = "group"}, run).classes.size(), 30000u);
}

TEST(TableStatistics, KnowsTheColumnsOfATable) {
  const Table table = mixed_table(40000);
  const Statistics statistics = describe(table);
  ASSERT_EQ(statistics.columns.size(), 4u);
  EXPECT_EQ(statistics.columns[1].name, "f");
  expect_facts(statistics.columns[0], column_of<double>("5 % missing", 40000, 1));
  expect_facts(statistics.columns[1], column_of<float>("offset 1e6", 40000, 2));
  EXPECT_EQ(statistics.report.bytes, 40000 * (8 + 4 + 4 + 4));
}

// A class has the statistics of a table of its rows, to the bit.
TEST(TableStatistics, OfAClassAreThoseOfItsRowsAlone) {
  for (const std::int64_t n : {0, 1, 50, 40000, 500000}) {
    const Table table = mixed_table(n);
    StatsOptions options;
    options.by = "class";
    options.histogram_bins = 7;
    options.distinct = StatsOptions::Distinct::count;
    for (const std::string& backend : backends()) {
      const ForcedBackend forced(backend);
      const Statistics statistics = describe(table, options);
      ASSERT_EQ(statistics.classes.size(), 4u);
      for (std::size_t k = 0; k < 4; ++k) {
        std::vector<std::int64_t> rows;
        for (std::int64_t row = 0; row < n; ++row) {
          if (table.columns[3].codes()[row] == static_cast<std::int32_t>(k)) rows.push_back(row);
        }
        StatsOptions plain = options;
        plain.by.clear();
        const Statistics alone = describe(table.take(rows), plain);
        const ClassStatistics& mine = statistics.classes[k];
        EXPECT_EQ(mine.value, table.columns[3].values[k]);
        EXPECT_EQ(mine.rows, static_cast<std::int64_t>(rows.size()));
        for (std::size_t c = 0; c < 4; ++c) {
          EXPECT_EQ(bits_of(mine.columns[c]), bits_of(alone.columns[c])) << mine.value << ", column " << c;
          EXPECT_EQ(mine.columns[c].counts, alone.columns[c].counts);
          EXPECT_EQ(mine.columns[c].distinct, alone.columns[c].distinct);
          ASSERT_EQ(mine.columns[c].histogram.has_value(), c < 2);
          if (c < 2) {
            EXPECT_EQ(mine.columns[c].histogram->counts, alone.columns[c].histogram->counts);
          }
        }
      }
    }
  }
}

// Classes of these sizes in mixed order; every ninth row or so has none. Two sizes lie beside that of a leaf.
std::vector<std::int32_t> codes_around_a_leaf() {
  std::vector<std::int32_t> codes;
  std::int32_t code = 0;
  for (const std::size_t size : {8191U, 8192U, 8193U, 1U, 0U, 16385U}) codes.insert(codes.end(), size, code++);
  codes.insert(codes.end(), 4500, kMissingCode);
  Random random(8);
  for (std::size_t i = codes.size() - 1; i > 0; --i) {
    std::swap(codes[i], codes[static_cast<std::size_t>(random.below(i + 1))]);
  }
  return codes;
}

template <class T>
Column column_of_kind(const std::string& kind, std::int64_t n) {
  const std::vector<T> values = column_of<T>(kind, n, 6);
  Buffer<T> buffer(n);
  std::copy(values.begin(), values.end(), buffer.begin());
  return {kind + (sizeof(T) == 4 ? " floats" : ""), ValueType::real, Role::regular, buffer, {}};
}

// Every kind of column, in one pass over the table or gathered class by class where memory is short.
TEST(TableStatistics, ClassesOfEveryKindOfColumnHaveTheBitsOfTheirRows) {
  const EveryThread every;
  const std::vector<std::int32_t> codes = codes_around_a_leaf();
  Table table;
  table.n_rows = std::ssize(codes);
  table.columns.push_back(make_nominal("class", codes, {"a", "b", "c", "d", "nobody", "f"}));
  for (const std::string& kind : kinds()) {
    table.columns.push_back(column_of_kind<double>(kind, table.n_rows));
    table.columns.push_back(column_of_kind<float>(kind, table.n_rows));
  }
  std::vector<Statistics> alone;
  for (std::int32_t k = 0; k < 6; ++k) {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      if (codes[static_cast<std::size_t>(row)] == k) rows.push_back(row);
    }
    alone.push_back(describe(table.take(rows)));
  }
  for (const auto depth : {StatsOptions::Depth::all, StatsOptions::Depth::extremes}) {
    for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{2'500'000}}) {  // the second has no room for slots
      for (const int threads : {1, 3}) {
        RunOptions run;
        run.threads = threads;
        run.memory_limit = limit;
        const Statistics found = describe(table, {.depth = depth, .by = "class"}, run);
        for (std::size_t k = 0; k < 6; ++k) {
          const auto& columns = found.classes[k].columns;
          for (std::size_t c = 0; c < columns.size(); ++c) {
            SCOPED_TRACE(testing::Message() << columns[c].name << ", class " << k << ", limit " << limit);
            const ColumnStatistics& expected = alone[k].columns[c];
            if (depth == StatsOptions::Depth::all) {
              ASSERT_EQ(bits_of(columns[c]), bits_of(expected));
            } else {
              ASSERT_EQ(columns[c].min_row, expected.min_row);
              ASSERT_EQ(columns[c].max_row, expected.max_row);
              ASSERT_EQ(std::signbit(columns[c].min), std::signbit(expected.min));
              ASSERT_EQ(columns[c].missing, expected.missing);
              ASSERT_TRUE(std::isnan(columns[c].sum));
            }
          }
        }
      }
    }
  }
}

TEST(TableStatistics, RefusesClassesThatAreNone) {
  const Table table = mixed_table(10);
  const auto message = [&](const std::string& by) -> std::string {
    StatsOptions options;
    options.by = by;
    try {
      describe(table, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("x"), "column 'x' is real, but classes must be nominal");
  EXPECT_NE(message("clas").find("there is no column 'clas'"), std::string::npos);
}

std::vector<std::int64_t> slow_histogram(const std::vector<double>& values, double low, double high, std::int64_t n) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n));
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    std::int64_t bin = 0;
    while (bin + 1 < n && x >= low + static_cast<double>(bin + 1) / static_cast<double>(n) * (high - low)) ++bin;
    ++counts[static_cast<std::size_t>(bin)];
  }
  return counts;
}

TEST(SecondPass, CountsBins) {
  for (const std::string kind : {"uniform", "ties", "5 % missing", "infinities", "skewed", "offset 1e15"}) {
    const auto values = column_of<double>(kind, 30000, 9);
    for (const std::int64_t bins : {1, 2, 10, 333}) {
      StatsOptions options;
      options.histogram_bins = bins;
      const auto column = describe(ArrayView{values.data(), ElementType::float64, 30000}, options).columns[0];
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const double x : values) {
        if (!std::isfinite(x)) continue;
        low = std::min(low, x);
        high = std::max(high, x);
      }
      EXPECT_EQ(column.histogram->low, low);
      EXPECT_EQ(column.histogram->high, high);
      EXPECT_EQ(column.histogram->counts, slow_histogram(values, low, high, bins)) << kind << ", " << bins;
    }
  }
}

TEST(SecondPass, HasHistogramsOfOddColumns) {
  StatsOptions options;
  options.histogram_bins = 4;
  const auto counts = [&](const std::vector<double>& values) {
    return describe(ArrayView{values.data(), ElementType::float64, static_cast<std::int64_t>(values.size())}, options)
        .columns[0]
        .histogram->counts;
  };
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const double most = std::numeric_limits<double>::max();
  EXPECT_TRUE(counts({}).empty());
  EXPECT_TRUE(counts({nan, inf, -inf}).empty());
  EXPECT_EQ(counts({2.0, nan, 2.0}), (std::vector<std::int64_t>{2})) << "one value: one bin";
  EXPECT_EQ(counts({-most, most, 0.0, 1.0}), (std::vector<std::int64_t>{1, 0, 2, 1}));
  EXPECT_EQ(counts({0.0, 1.0, 2.0, 3.0, 4.0}), (std::vector<std::int64_t>{1, 1, 1, 2}));
  options.histogram_bins = -1;
  expect_error(ErrorCode::invalid_argument, "histogram_bins is -1", [&] { counts({}); });
  options.histogram_bins = 65537;
  expect_error(ErrorCode::invalid_argument, "histogram_bins is 65537", [&] { counts({}); });
}

template <class T>
std::int64_t slow_distinct(const std::vector<T>& values) {
  std::set<T> set;
  for (const T x : values) {
    if (x == x) set.insert(x);
  }
  return static_cast<std::int64_t>(set.size());
}

template <class T>
void expect_distinct() {
  const EveryThread every;
  StatsOptions options;
  options.distinct = StatsOptions::Distinct::count;
  for (const std::string& kind : kinds()) {
    const auto values = column_of<T>(kind, 20000, 4);
    for (const int threads : {1, 3}) {
      RunOptions run;
      run.threads = threads;
      for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{200000}}) {  // the second limit: several passes
        run.memory_limit = limit;
        const ArrayView array{values.data(), element_type<T>(), 20000};
        EXPECT_EQ(describe(array, options, run).columns[0].distinct, slow_distinct(values)) << kind;
      }
    }
  }
}

TEST(SecondPass, CountsDifferentValues) {
  expect_distinct<float>();
  expect_distinct<double>();
  expect_distinct<std::int32_t>();
  expect_distinct<std::int64_t>();
}

}  // namespace
}  // namespace stope
