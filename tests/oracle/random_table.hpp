// Tables for property tests: seeded, mixed, with missing values, ties, duplicates and odd numbers.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/table.hpp"

namespace stope::oracle {

struct TableShape {
  std::int64_t n_rows = 0;
  int n_numeric = 0;
  int n_nominal = 0;
  double missing = 0.0;  ///< share of missing values
  enum class Values {
    uniform,    ///< [0, 1)
    few,        ///< whole numbers 0..3: many ties and duplicates
    bytes,      ///< whole numbers 0..255
    wild,       ///< -0, infinities, subnormals, 1e300, offsets of 1e6
    open_unit,  ///< (0, 1): what the divergences accept
    both_signs  ///< [-0.3, 0.7)
  } values = Values::uniform;
  int n_values = 3;        ///< values of a nominal column
  bool binominal = false;  ///< every other nominal column is binominal
};

inline double random_value(Random& random, TableShape::Values values) {
  switch (values) {
    case TableShape::Values::uniform: return random.uniform();
    case TableShape::Values::few: return static_cast<double>(random.below(4));
    case TableShape::Values::bytes: return static_cast<double>(random.below(256));
    case TableShape::Values::open_unit: return (static_cast<double>(random.below(1000)) + 1.0) / 1002.0;
    case TableShape::Values::both_signs: return random.uniform() - 0.3;
    case TableShape::Values::wild: break;
  }
  switch (random.below(10)) {
    case 0: return -0.0;
    case 1: return 0.0;
    case 2: return std::numeric_limits<double>::infinity();
    case 3: return -std::numeric_limits<double>::infinity();
    case 4: return std::numeric_limits<double>::denorm_min() * static_cast<double>(random.below(100));
    case 5: return 1e300 * random.uniform();
    case 6: return -1e-300 * random.uniform();
    default: return 1e6 + random.uniform();
  }
}

inline Table random_table(Random& random, const TableShape& shape) {
  Table table;
  table.n_rows = shape.n_rows;
  const auto n = static_cast<std::size_t>(shape.n_rows);
  for (int c = 0; c < shape.n_numeric; ++c) {
    std::vector<double> data(n);
    for (double& v : data) {
      v = random.uniform() < shape.missing ? std::nan("") : random_value(random, shape.values);
    }
    table.columns.push_back(make_numeric("x" + std::to_string(c), data));
  }
  for (int c = 0; c < shape.n_nominal; ++c) {
    const bool two = shape.binominal && c % 2 == 0;
    std::vector<std::string> values;
    for (int v = 0; v < (two ? 2 : shape.n_values); ++v) {
      values.push_back(v < 26 ? std::string(1, static_cast<char>('a' + v)) : "v" + std::to_string(v));
    }
    std::vector<std::int32_t> codes(n);
    for (std::int32_t& code : codes) {
      code = random.uniform() < shape.missing ? kMissingCode : static_cast<std::int32_t>(random.below(values.size()));
    }
    table.columns.push_back(
        make_nominal("s" + std::to_string(c), codes, values, two ? ValueType::binominal : ValueType::polynominal));
  }
  return table;
}

}  // namespace stope::oracle
