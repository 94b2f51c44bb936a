// Matrices and vectors for the tests of the gram operator, and an operator under a forced back end.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "environment.hpp"
#include "gram/operator.hpp"
#include "oracle/gram_oracle.hpp"
#include "stope/device.hpp"

namespace stope::gram {

using oracle::GramCase;

/// The kinds of numbers in a matrix.
enum class Values { plain, offset, wide_range };

inline double draw(Random& random, Values values) {
  const double u = random.uniform() - 0.5;
  if (values == Values::offset) return 1e6 + u;
  if (values == Values::wide_range) return std::ldexp(u, static_cast<int>(random.below(200)) - 100);
  return u;
}

inline std::vector<double> draw_vector(Random& random, std::int64_t n, Values values = Values::plain) {
  std::vector<double> numbers(static_cast<std::size_t>(n));
  for (double& v : numbers) v = draw(random, values);
  return numbers;
}

inline GramCase make_case(std::int64_t n_rows, std::int64_t n_columns, bool is_float, std::uint64_t seed,
                          Values values = Values::plain, std::int64_t gap = 0) {
  Random random(seed);
  GramCase c;
  c.n_rows = n_rows;
  c.n_columns = n_columns;
  c.stride = n_columns + gap;
  c.is_float = is_float;
  // Values between rows must not matter.
  const std::size_t size = static_cast<std::size_t>((n_rows - 1) * c.stride + n_columns);
  (is_float ? c.doubles : c.doubles).resize(is_float ? 0 : size, std::nan(""));
  if (is_float) c.floats.resize(size, std::nanf(""));
  for (std::int64_t i = 0; i < n_rows; ++i) {
    for (std::int64_t j = 0; j < n_columns; ++j) {
      const double v = draw(random, values);
      const auto at = static_cast<std::size_t>(i * c.stride + j);
      if (is_float) {
        c.floats[at] = static_cast<float>(v);
      } else {
        c.doubles[at] = v;
      }
    }
  }
  c.x = draw_vector(random, n_columns);
  c.y = draw_vector(random, n_rows);
  return c;
}

inline std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (const BackendInfo& backend : device_info().backends) {
    if (backend.available) names.push_back(backend.name);
  }
  return names;
}

/// The matrix of a case that outlives what reads it: the owner frees nothing.
inline ArrayView view(const GramCase& c) {
  ArrayView array{c.values(), c.is_float ? ElementType::float32 : ElementType::float64, c.n_rows, c.n_columns,
                  c.stride};
  array.owner = std::shared_ptr<const void>(std::shared_ptr<void>(), c.values());
  return array;
}
inline std::shared_ptr<const RowSource> rows_of(const GramCase& c) {
  return make_row_source(view(c), Reads::afterwards, {});
}

/// Hands out copies of its rows, as a table or a file does.
class CopiedRows : public RowSource {
 public:
  explicit CopiedRows(const GramCase& c) : c_(c) {}
  std::int64_t n_rows() const override { return c_.n_rows; }
  std::int64_t n_columns() const override { return c_.n_columns; }
  ElementType dtype() const override { return c_.is_float ? ElementType::float32 : ElementType::float64; }
  bool in_place() const override { return false; }
  std::int64_t row_stride() const override { return c_.n_columns; }
  const void* rows(std::int64_t first, std::int64_t n, void* scratch) const override {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < c_.n_columns; ++j) {
        const std::int64_t at = i * c_.n_columns + j;
        if (c_.is_float) {
          static_cast<float*>(scratch)[at] = static_cast<float>(c_.at(first + i, j));
        } else {
          static_cast<double*>(scratch)[at] = c_.at(first + i, j);
        }
      }
    }
    return scratch;
  }

 protected:
  const GramCase& c_;
};

/// Hands out blocks of columns, too.
class BlockRows final : public CopiedRows {
 public:
  explicit BlockRows(const GramCase& c) : CopiedRows(c) {}
  bool has_blocks() const override { return true; }
  void block(std::int64_t first, std::int64_t n, std::int64_t column, std::int64_t width, void* out,
             std::int64_t stride) const override {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        const double value = c_.at(first + i, column + j);
        if (c_.is_float) {
          static_cast<float*>(out)[i * stride + j] = static_cast<float>(value);
        } else {
          static_cast<double*>(out)[i * stride + j] = value;
        }
      }
    }
  }
};

/// All three products of a case.
struct Products {
  std::vector<double> y, zt, z;

  bool operator==(const Products& other) const { return bits(*this) == bits(other); }
  static std::vector<std::uint64_t> bits(const Products& p) {
    std::vector<std::uint64_t> all;
    for (const auto* vector : {&p.y, &p.zt, &p.z}) {
      for (const double v : *vector) all.push_back(std::bit_cast<std::uint64_t>(v));
    }
    return all;
  }
};

inline GramOptions options_of(const GramCase& c) {
  GramOptions options;
  options.shift = c.shift;
  options.scale = c.scale;
  return options;
}

inline Products multiply(const GramCase& c, Operator& by) {
  Products p;
  p.y.resize(static_cast<std::size_t>(c.n_rows));
  p.zt.resize(static_cast<std::size_t>(c.n_columns));
  p.z.resize(static_cast<std::size_t>(c.n_columns));
  by.multiply(c.x, p.y);
  by.multiply_transposed(c.y, p.zt);
  by.gram(c.x, p.z);
  return p;
}

inline Products multiply(const GramCase& c, const RunOptions& run = {}) {
  return multiply(c, *make_operator(rows_of(c), options_of(c), run));
}

}  // namespace stope::gram
