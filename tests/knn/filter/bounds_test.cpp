// Tables on which a bound of the filters once failed, or is as tight as it can be. They run on every back end, kind of
// scan and order of rows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"
#include "knn/filter/filter_cases.hpp"

namespace stope {
namespace {

TEST(FilterBounds, ARowThatIsAlwaysListedMayLieOutsideItsBox) {
  Random random(1);
  std::vector<double> a(8192), b(8192);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = i / 8 % 2 == 0 ? -1.0 : 1.0, b[i] = random.uniform();
  const double q = 0x1p40 + 0x1p18;
  a[8001] = q - 0.6 * 0x1p17, b[8001] = 0.9;
  a[8003] = q + 0.9 * 0x1p17, b[8003] = 0.1;
  const Table query = table_of({std::vector<double>(8, q), std::vector<double>(8, 0.5)});
  expect_the_references_answer(table_of({a, b}), query, "euclidean", 1);
}

// Where a few rows are far out, the usual rows choose the scales. The first of the few is in every sample.
TEST(FilterBounds, AFewRowsFarOut) {
  for (const double far : {1e3, 1e8, 1e28, 1e160, 1e305}) {
    Random random(8);
    const std::size_t n_queries = repeated<std::size_t>(40, 16);
    std::vector<double> a(4096), b(4096), p(n_queries), q(n_queries);
    const auto value = [&](std::size_t i) { return (i % 512 == 0 ? far : 1.0) * (random.uniform() - 0.25); };
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = value(i), b[i] = value(i + 1);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = value(i + 500), q[i] = value(i + 1);
    SCOPED_TRACE(far);
    for (const char* metric : {"euclidean", "manhattan", "gower", "chebyshev"}) {
      expect_the_references_answer(table_of({a, b}), table_of({p, q}), metric, 5);
    }
  }
}

TEST(FilterBounds, ProductsBeyondTheRangeOfAFloat) {
  Random random(2);
  for (const std::size_t width : {std::size_t{1}, std::size_t{12}, std::size_t{70}}) {
    std::vector<std::vector<double>> columns(width, std::vector<double>(9000));
    for (std::vector<double>& column : columns) {
      for (double& value : column) value = random.uniform();
    }
    for (std::size_t r = 0; r < 9000; ++r) {
      if (r >= 8500 || r % 17 == 1) columns[0][r] = 1e20 * (1.0 + 1e-5 * random.uniform());
    }
    std::vector<std::vector<double>> query(width, std::vector<double>(3, 0.5));
    query[0] = {1e20, 1e21, 0.5};
    expect_the_references_answer(table_of(columns), table_of(query), "euclidean", 3);
  }
}

// Rows that differ in the last bits of a product, at sizes where squares or products vanish or overflow, and offsets
// that leave images few digits. Half of the queries point away from the rows: their products are negative.
TEST(FilterBounds, InnerProductsThatHardlyDiffer) {
  constexpr std::size_t kRows = 800, kQueries = 12;
  std::int64_t done = 0;
  for (const std::size_t width : {std::size_t{1}, std::size_t{3}, std::size_t{37}, std::size_t{130}}) {
    for (const double size : {1.0, 1e-30, 1e-100, 1e-170, 1e-310, 1e30, 1e100, 1e160}) {
      for (const double offset : {0.0, 1e6}) {
        if (!chosen(done++)) continue;
        Random random(width);
        const auto number = [&] { return size * (offset + random.uniform() - 0.5); };
        std::vector<std::vector<double>> columns(width, std::vector<double>(kRows)), query;
        for (std::vector<double>& column : columns) {
          for (double& value : column) value = number();
        }
        query.assign(width, std::vector<double>(kQueries));
        for (std::size_t c = 0; c < width; ++c) {
          for (std::size_t q = 0; q < kQueries; ++q) query[c][q] = (q % 2 == 0 ? 1.0 : -1.0) * number();
          for (std::size_t r = 400; r < kRows; r += 3) {  // copies of other rows, some a unit away
            columns[c][r] = r % 2 == 0 ? columns[c][r % 7] : std::nextafter(columns[c][r % 7], 1e308);
          }
          for (std::size_t r = 1; r < kRows; r += 11) columns[c][r] = r % 2 == 0 ? 0.0 : -0.0;
          query[c][3] = -0.0;
          query[c][5] *= 1e-200;
          query[c][7] = std::copysign(c == 0 ? 1e300 : 1e-300, query[c][7]);
        }
        SCOPED_TRACE(std::to_string(width) + " columns of size " + std::to_string(size));
        std::vector<double> weights;
        if (offset > 0.0) weights.assign(width, 0.7), weights[0] = 1e5;
        expect_the_references_answer(table_of(columns), table_of(query), "inner-product", 3, weights);
      }
    }
  }
}

// The query's bytes round all but one of its numbers to 0, and the nearest row lies in the direction of what that lost.
TEST(FilterBounds, InnerProductsThatAQuerysBytesDoNotSee) {
  constexpr std::size_t kRows = 600, kColumns = 130, kNearest = 501;
  std::vector<std::vector<double>> columns(kColumns, std::vector<double>(kRows)), query;
  for (std::size_t r = 0; r < kRows; ++r) {
    const double sign = r % 2 == 0 ? -1.0 : 1.0;
    columns[0][r] = r % 6 < 2 ? 0.49 * sign : 0.0;
    for (std::size_t c = 1; c < kColumns && columns[0][r] == 0.0; ++c) columns[c][r] = c % 2 == 0 ? sign : -sign;
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    columns[c][kNearest - 1] = c == 0 ? 0.0 : -1.0;
    columns[c][kNearest] = c == 0 ? 0.0 : 1.0;
    query.emplace_back(4, c == 0 ? 127.0 : 0.49);
  }
  expect_the_references_answer(table_of(columns), table_of(query), "inner-product", 1);
}

// The first term of the formula overflows for one row, which makes it the nearest, and the next term would bring the
// sum back below those of many others. The sample that chooses the scales has a few such rows, that of residuals more,
// so none of them is always listed.
TEST(FilterBounds, InnerProductsThatOverflowOnTheirWay) {
  constexpr std::size_t kRows = 8192, kColumns = 17, kOverflowing = 8001;
  const double q = 0x1p332, t = 0x1p692;  // q t is one step beyond all numbers
  Random random(4);
  std::vector<std::vector<double>> columns(kColumns, std::vector<double>(kRows)), query;
  for (std::size_t r = 0; r < kRows; ++r) {
    if (r == 0 || r % 8 == 1) {
      columns[0][r] = columns[1][r] = t / 4.0;
    } else if (r % 64 == 2) {  // makes large residuals usual, which only large images have
      columns[5][r] = 2.0 * t;
    } else {  // most values are 0, and so are the centres
      columns[r % kColumns][r] = 0x1p630 * (1.0 + random.uniform());
    }
  }
  columns[0][kOverflowing] = t;
  columns[1][kOverflowing] = -0.75 * t;
  for (std::size_t c = 0; c < kColumns; ++c) query.emplace_back(4, c < 2 ? q : 0.0);
  expect_the_references_answer(table_of(columns), table_of(query), "inner-product", 1);
}

TEST(FilterBounds, TermsThatOverflowInTheReference) {
  std::vector<double> values(2048, 1e300);
  values[3] = 8.9e307;
  values[1001] = 1.7e308;
  for (const char* metric : {"canberra", "braycurtis"}) {
    expect_the_references_answer(table_of({values}), table_of({{9e307}}), metric, 1, {1e-20});
  }
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = 8e307 + 1e304 * static_cast<double>(i);
  expect_the_references_answer(table_of({values}), table_of({{9e307}}), "braycurtis", 1, {1e-20});
}

TEST(FilterBounds, SubnormalScales) {
  Random random(3);
  std::vector<double> a(2048, 0.0), b(2048);
  for (double& value : b) value = 6e299 + 3e299 * random.uniform();
  a[0] = 1e300;
  b[3] = 5e299;
  b[1001] = 5e299 * (1.0 - 1e-5);
  expect_the_references_answer(table_of({a, b}), table_of({{0.0}, {0.0}}), "manhattan", 1, {1.0, 1.1e-20});
  for (double& value : b) value = -8e307 + 1.7e308 * random.uniform();
  b[3] = 5e307;
  b[1001] = 5e307 * (1.0 - 1e-5);
  expect_the_references_answer(table_of({b}), table_of({{3e307}}), "gower", 1, {1e-12});
}

TEST(FilterBounds, LatitudesBeyondThePoles) {
  constexpr double kPi = 3.141592653589793;
  std::vector<double> latitude(2048, 0.0), longitude(2048);
  for (std::size_t i = 0; i < longitude.size(); ++i) longitude[i] = i % 3 == 0 ? kPi : i % 3 == 1 ? kPi / 2 : -kPi / 2;
  longitude[3] = 1e-8;
  latitude[1001] = kPi;
  longitude[1001] = kPi + 1.2e-8;
  expect_the_references_answer(table_of({latitude, longitude}), table_of({{0.0}, {0.0}}), "haversine", 1);
  Random random(4);
  for (double limit : {1.5, 1.6, 4.0, 20.0}) {
    for (double& value : latitude) value = limit * (2.0 * random.uniform() - 1.0);
    for (double& value : longitude) value = limit * (2.0 * random.uniform() - 1.0);
    const auto few = [](const std::vector<double>& values) {
      return std::vector<double>(values.begin(), values.begin() + 20);
    };
    expect_the_references_answer(table_of({latitude, longitude}), table_of({few(latitude), few(longitude)}),
                                 "haversine", 5);
  }
}

// A table on which a bound is as tight as it can be. All but four values of a column lie on the grid that bytes round
// to, symmetric around 0 so that the centre does not move it. Every distance has many near it.
Table on_the_grid(Random& random, std::size_t n_numeric, int n_nominal, std::int64_t n, double missing) {
  std::vector<std::vector<double>> columns(n_numeric, std::vector<double>(static_cast<std::size_t>(n)));
  for (std::size_t c = 0; c < n_numeric; ++c) {
    for (std::size_t r = 0; r + 1 < columns[c].size(); r += 2) {
      const double value = (static_cast<double>(random.below(128)) * 2.0 - 127.0) / 128.0;
      columns[c][r] = c == 0 ? std::copysign(127.0 / 128.0, value) : value;
      columns[c][r + 1] = -columns[c][r];
    }
    // Two rows (and their mirror images) lie off the grid. Rounding moves them away from rows 0 and 2, past others that
    // are really farther.
    for (const std::size_t r : {std::size_t{0}, std::size_t{2}}) {
      const double away = columns[c][r] > 0.0 ? -1.0 / 128.0 : 1.0 / 128.0;
      const double on = columns[c][r] + away * (c % 2 == 0 ? 1.0 : 2.0) + (c < 2 ? away : 0.0);
      const double off = columns[c][r] + away * 1.5078125;
      columns[c][r + 8] = on, columns[c][r + 9] = -on;
      columns[c][columns[c].size() - 1 - r] = off, columns[c][columns[c].size() - 2 - r] = -off;
    }
  }
  Table table = table_of(columns);
  for (int c = 0; c < n_nominal; ++c) {
    std::vector<std::int32_t> codes(static_cast<std::size_t>(n));
    for (std::int32_t& code : codes) code = static_cast<std::int32_t>(random.below(2));
    table.columns.push_back(make_nominal("n" + std::to_string(c), codes, {"a", "b"}));
  }
  for (std::size_t c = 1; c < n_numeric; ++c) {
    for (double& value : std::get<Buffer<double>>(table.columns[c].data)) {
      if (random.uniform() < missing) value = std::nan("");
    }
  }
  return table;
}

TEST(FilterBounds, ValuesOnTheGridOfBytes) {
  Random random(5);
  for (int round = 0; round < repeated(24, 12); ++round) {
    const bool nominal = round % 3 == 2, missing = round % 2 == 1, weighted = round / 3 % 2 == 1;
    const std::string metric = round % 3 == 0                    ? (missing ? "nan-euclidean" : "euclidean")
                               : round % 3 == 1 && round % 4 < 2 ? "manhattan"
                                                                 : "gower";
    const std::size_t n_numeric = nominal ? 4 : 16;
    const int n_nominal = nominal ? 24 : 0;
    const Table train = on_the_grid(random, n_numeric, n_nominal, 1024, missing ? 0.02 : 0.0);
    std::vector<std::int64_t> rows(repeated<std::size_t>(16, 4));
    std::iota(rows.begin(), rows.end(), 0);
    const Table query = train.take(rows);
    std::vector<double> weights;
    for (std::size_t c = 0; weighted && c < train.columns.size(); ++c)
      weights.push_back(c == 0 ? 1.0 : nominal ? 0.703 : 0.5);
    for (const std::int64_t k : {2, 3, 100, 500}) {
      SCOPED_TRACE("round " + std::to_string(round) + ", k " + std::to_string(k));
      expect_the_references_answer(train, query, metric, k, weights);
    }
  }
}

// The corners of a cube are the largest bytes that there are: sums of two products in 16 bits are as large as can be,
// of either sign. Each query looks for its own row, or for the corner opposite to it.
TEST(FilterBounds, CornersOfACube) {
  Random random(10);
  std::int64_t number = 0;
  for (const std::size_t width : {std::size_t{4}, std::size_t{7}, std::size_t{20}, std::size_t{33}}) {
    for (const double spread : {0.0, 1e-3, 0.5}) {
      std::vector<std::vector<double>> columns(width, std::vector<double>(1024)), queries(width);
      for (std::size_t c = 0; c < width; ++c) {
        for (double& value : columns[c])
          value = (random.below(2) == 0 ? -1.0 : 1.0) * (1.0 - spread * random.uniform());
        for (std::size_t i = 0; i < 16; ++i) queries[c].push_back((i % 2 == 0 ? 1.0 : -1.0) * columns[c][7 * i]);
      }
      for (const char* metric : {"euclidean", "cosine"}) {
        for (const std::int64_t k : {1, 5, 200}) {
          if (!chosen(number++)) continue;
          SCOPED_TRACE(std::to_string(width) + " columns, k " + std::to_string(k));
          expect_the_references_answer(table_of(columns), table_of(queries), metric, k);
        }
      }
    }
  }
}

// Every value lies halfway between two nibbles. Each query looks for a row whose image rounding moved straight away
// from it, by all that the bound allows, while a row that is a little farther is found first.
TEST(FilterBounds, ValuesHalfwayBetweenNibbles) {
  constexpr std::size_t kRows = 1024, kWidth = 16, kQueries = 8;
  constexpr double kStep = 0.125;
  Random random(9);
  std::vector<std::vector<double>> columns(kWidth, std::vector<double>(kRows)), queries(kWidth);
  for (std::size_t c = 0; c < kWidth; ++c) {
    std::vector<double>& column = columns[c];
    // Rows come in mirrored pairs, so that the centre is 0.
    const auto set = [&](std::size_t row, double value) { column[row] = value, column[row + 1] = -value; };
    for (std::size_t row = 0; row < kRows; row += 2) {
      set(row, c == 0 ? 1.0 : static_cast<double>(random.below(17)) * kStep - 1.0);
    }
    for (std::size_t i = 0; i < kQueries; ++i) {
      const auto steps = static_cast<double>(random.below(11)) - 5.0;
      // Halves are rounded to even, here to 7.5 - steps or 8.5 - steps steps from the first nibble.
      const double away = std::fmod(std::fabs(steps), 2.0) == 1.0 ? kStep : -kStep;
      set(kRows - 2 - 2 * i, steps * kStep);
      queries[c].push_back(steps * kStep + away);
      set(2 * i, queries[c].back() + (c % 2 == 0 ? 1.0 : -1.0) * kStep * (1.0 + 0x1p-20));
    }
  }
  const Table train = table_of(columns), query = table_of(queries);
  for (const char* metric : {"euclidean", "sqeuclidean"}) {
    for (const std::int64_t k : {1, 2, 3}) {
      expect_the_references_answer(train, query, metric, k);
      for (std::int64_t i = 0; i < query.n_rows; ++i) expect_the_references_answer(train, query.take({i}), metric, k);
    }
  }
}

// Neighbours lie nearer to each other than floats do, far from the centre: rounding alone decides.
TEST(FilterBounds, NeighboursNearerThanFloats) {
  Random random(6);
  std::int64_t number = 0;
  for (const char* metric :
       {"braycurtis", "canberra", "nan-euclidean", "euclidean", "manhattan", "gower", "chebyshev", "cosine", "heom"}) {
    for (const std::size_t width : {std::size_t{1}, std::size_t{6}}) {
      const double missing = width > 1 && std::string(metric) != "cosine" ? 0.1 : 0.0;
      std::vector<std::vector<double>> columns(width, std::vector<double>(1500));
      for (std::vector<double>& column : columns) {
        for (std::size_t r = 0; r < column.size(); ++r) {
          const double side = r % 2 == 0 ? 1.0 : std::string(metric) == "braycurtis" ? 3.0 : -1.0;
          column[r] = side + static_cast<double>(random.below(1024)) * 0x1p-32;
          if (random.uniform() < missing) column[r] = std::nan("");
        }
      }
      const Table train = table_of(columns);
      std::vector<std::int64_t> rows(repeated<std::size_t>(40, 8));
      std::iota(rows.begin(), rows.end(), 0);
      for (const std::int64_t k : {1, 7, 60}) {
        if (!chosen(number++)) continue;
        SCOPED_TRACE(metric);
        expect_the_references_answer(train, train.take(rows), metric, k);
      }
    }
  }
}

}  // namespace
}  // namespace stope
