// What the tests of discretisation share: random decision tables of every kind, and their form for the oracle.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "environment.hpp"
#include "oracle/discretize_oracle.hpp"
#include "stope/device.hpp"
#include "stope/table.hpp"

namespace stope::discretize_cases {

inline std::vector<std::string> cpu_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& info : device_info().backends) {
    if (info.available && info.name != "cuda" && info.name != "avx512vnni") names.push_back(info.name);
  }
  return names;
}

/// Kinds of numeric columns.
inline constexpr int kKinds = 12;

inline double random_number(Random& random, int kind) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double u = random.uniform();
  switch (kind) {
    case 0: return u - 0.5;
    case 1: return static_cast<double>(random.below(4));  // ties
    case 2: return 0.1;                                   // constant
    case 3: return std::nan("");                          // all missing
    case 4: return random.below(4) == 0 ? std::nan("") : static_cast<double>(random.below(10)) / 10.0;
    case 5: return random.below(2) == 0 ? -0.0 : random.below(2) == 0 ? 0.0 : u;                // signed zeros
    case 6: return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0) + random.below(6));  // adjacent doubles
    case 7: return std::bit_cast<double>(std::bit_cast<std::uint64_t>(-3.7) + random.below(5000));
    case 8: {  // every odd number
      const double odd[] = {std::nan(""),
                            -infinity,
                            infinity,
                            -0.0,
                            0.0,
                            std::numeric_limits<double>::max(),
                            -std::numeric_limits<double>::max(),
                            std::numeric_limits<double>::denorm_min(),
                            -std::numeric_limits<double>::denorm_min(),
                            u};
      return odd[random.below(10)];
    }
    case 9: return std::bit_cast<double>(random.next());                               // any bits
    case 10: return (u - 0.5) * std::numeric_limits<double>::denorm_min() * 0x1.0p40;  // subnormal
    default: return static_cast<double>(random.below(1000)) / 100.0;                   // decimals with ties
  }
}

struct Shape {
  std::int64_t n_rows = 0;
  int n_numeric = 0, n_symbolic = 0;
  std::int32_t n_classes = 2;
  bool weighted = false, floats = false;
};

/// Makes a table with label "y" and maybe weights "w"; the kinds of columns are drawn.
inline Table random_decisions(Random& random, const Shape& shape) {
  Table table;
  table.n_rows = shape.n_rows;
  const auto n = static_cast<std::size_t>(shape.n_rows);
  for (int c = 0; c < shape.n_numeric; ++c) {
    const auto kind = static_cast<int>(random.below(kKinds));
    std::vector<double> numbers(n);
    for (double& x : numbers) x = random_number(random, kind);
    table.columns.push_back(make_numeric("x" + std::to_string(c), numbers));
    if (!shape.floats || c % 2 != 0) continue;
    Buffer<float> floats(shape.n_rows);
    for (std::size_t i = 0; i < n; ++i) floats[static_cast<std::int64_t>(i)] = static_cast<float>(numbers[i]);
    table.columns.back().data = floats;
  }
  for (int c = 0; c < shape.n_symbolic; ++c) {
    const std::uint64_t n_values = 1 + random.below(5);
    std::vector<std::string> values;
    for (std::uint64_t v = 0; v < n_values; ++v) values.push_back("v" + std::to_string(v));
    std::vector<std::int32_t> codes(n);
    for (std::int32_t& code : codes) {
      code = c % 2 == 1 && random.below(5) == 0 ? kMissingCode : static_cast<std::int32_t>(random.below(n_values));
    }
    table.columns.push_back(make_nominal("s" + std::to_string(c), codes, values));
  }
  std::vector<std::string> classes;
  for (std::int32_t k = 0; k < shape.n_classes; ++k) classes.push_back("c" + std::to_string(k));
  std::vector<std::int32_t> labels(n);
  // Some classes are rarer than others, and the label may follow a column.
  for (std::int32_t& k : labels) {
    k = static_cast<std::int32_t>(random.below(1 + random.below(static_cast<std::uint64_t>(shape.n_classes))));
  }
  table.columns.push_back(make_nominal("y", labels, classes));
  table.columns.back().role = Role::label;
  if (!shape.weighted) return table;
  std::vector<double> weights(n);
  for (double& w : weights) w = static_cast<double>(1 + random.below(64)) / 16.0;
  table.columns.push_back(make_numeric("w", weights));
  table.columns.back().role = Role::weight;
  return table;
}

/// Adds weights of one of three kinds: none lies between 0 and the unit, few differ, or they fill 50 bits.
inline void add_weights(Random& random, Table& table) {
  const std::uint64_t kind = random.below(3);
  std::vector<double> weights(static_cast<std::size_t>(table.n_rows));
  for (double& w : weights) {
    w = kind == 0   ? static_cast<double>(random.below(3))
        : kind == 1 ? static_cast<double>(1 + random.below(64)) / 16.0
                    : static_cast<double>(1 + random.below(std::uint64_t{1} << 50)) / static_cast<double>(1 << 25);
  }
  weights[0] = 1.0;
  table.columns.push_back(make_numeric("w", weights));
  table.columns.back().role = Role::weight;
}

/// Makes a table in which many cuts leave the classes in the same proportions, so that every gain above 0 is rounding:
/// each value comes once with each class. One column in four has a real cut.
inline Table even_decisions(Random& random, std::int64_t n_values, int n_numeric, std::int32_t n_classes) {
  Table table;
  table.n_rows = n_values * n_classes;
  std::vector<std::int32_t> labels;
  std::vector<std::string> names;
  for (std::int32_t k = 0; k < n_classes; ++k) {
    labels.insert(labels.end(), static_cast<std::size_t>(n_values), k);
    names.push_back("c" + std::to_string(k));
  }
  for (int c = 0; c < n_numeric; ++c) {
    std::vector<double> x;
    for (std::int64_t row = 0; row < table.n_rows; ++row) x.push_back(static_cast<double>(row % n_values));
    if (c % 4 == 3) x[random.below(x.size())] = -1.0;
    table.columns.push_back(make_numeric("x" + std::to_string(c), x));
  }
  table.columns.push_back(make_nominal("y", labels, names));
  table.columns.back().role = Role::label;
  return table;
}

inline oracle::Feature feature_of(const Column& column) {
  oracle::Feature feature;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (!column.nominal()) {
      feature.numbers.push_back(column.at(row));
    } else {
      const std::int32_t code = column.codes()[row];
      feature.codes.push_back(code >= 0 ? code : static_cast<std::int32_t>(column.values.size()));
    }
  }
  return feature;
}

inline oracle::Decisions decisions_of(const Table& table) {
  oracle::Decisions decisions;
  const Column& label = table.columns[static_cast<std::size_t>(table.find(Role::label))];
  decisions.n_classes = static_cast<std::int32_t>(label.values.size());
  for (std::int64_t row = 0; row < table.n_rows; ++row) decisions.classes.push_back(label.codes()[row]);
  const std::int64_t weight = table.find(Role::weight);
  for (std::int64_t row = 0; weight >= 0 && row < table.n_rows; ++row) {
    decisions.weights.push_back(table.columns[static_cast<std::size_t>(weight)].at(row));
  }
  return decisions;
}

}  // namespace stope::discretize_cases
