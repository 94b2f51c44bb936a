// What the fuzz target of the C ABI makes from random bytes: choices, words, arrays.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "stope/stope.h"

namespace stope::fuzz {

inline constexpr std::int64_t kHuge = INT64_MAX / 8 * 8 - 64;

inline std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text + "  ");
  std::vector<std::string> all{""};
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

// Options of all jobs. What would make a job run for ever gets no large value, see value().
inline const std::vector<std::string> kNames = words(
    "n_neighbors metric metric.p weights normalize method min max compat missing n_components whiten alpha "
    "fit_intercept criterion max_depth nominal ccp_alpha balanced class_weight.a n_bins max_cuts style order "
    "bins by scheme n_folds holdout proba seed exclude_self first_query exclude_group search_for similarities "
    "target memory prune_holdout min_score min_samples_leaf distinct extremes confidence min_intervals centering "
    "scaling tolerance standard_errors strategy columns indicators ranges feature_weights n_permutations threads "
    "memory_limit device x");
inline const std::vector<std::string> kValues = words(
    "0 1 2 3 -1 0.5 1e-300 1e300 nan true false a b x0 x1 label a,\"b gower euclidean minkowski cosine hamming "
    "mdlp chimerge md-global gini entropy range z value drop fill distance rapidminer equal-width labels loo "
    "holdout copied shared cpu 9223372036854775807 -9223372036854775808 1000");
inline constexpr std::array kJobs{"stats",          "histogram", "value_counts", "best_cuts", "find_cuts", "evaluate",
                                  "feature_ranges", "pairwise",  "neighbors",    "x",         ""};
inline constexpr std::array kKinds{"neighbors", "classify", "regress",   "pca",    "lsq",
                                   "tree",      "cuts",     "normalize", "impute", "x"};
inline constexpr std::array kTypes{"real", "integer", "date", "nominal", "polynominal", "binominal", "x"};
inline constexpr std::array kSizes{8, 4, 1, 2, 4, 8, 1, 2, 4, 1};  // bytes of the element types

// The bytes, one after the other; zeros follow their end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
  bool more() const { return left_ > 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  std::int64_t below(std::int64_t n) { return byte() % n; }
  bool seldom() { return byte() % 16 == 15; }
  template <class List>
  const auto& one_of(const List& list) {
    return list[static_cast<std::size_t>(below(std::ssize(list)))];
  }
  stope_array array(std::vector<char>& memory, std::int64_t n_rows, std::int64_t n_columns, int type);

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

// An array whose elements all lie in `memory`. Where no step is taken the stride may be anything; seldom it is no
// multiple of the element's size.
inline stope_array Input::array(std::vector<char>& memory, std::int64_t n_rows, std::int64_t n_columns, int type) {
  const std::int64_t size = kSizes[static_cast<std::size_t>(type)];
  const std::int64_t rows = std::max<std::int64_t>(n_rows, 1), columns = std::max<std::int64_t>(n_columns, 1);
  const bool by_column = below(2) == 0;
  const std::int64_t gap = 1 + below(3);
  std::int64_t column_stride = size * gap * (by_column ? rows : 1), row_stride = size * gap * (by_column ? 1 : columns);
  memory.assign(static_cast<std::size_t>(size * gap * rows * columns + 64), '\0');
  std::int64_t first = 0;
  if (below(4) == 0) {  // from the last row to the first
    first = (rows - 1) * row_stride;
    row_stride = -row_stride;
  }
  if ((n_rows <= 1 || n_columns == 0) && seldom()) row_stride = kHuge;
  if ((n_columns <= 1 || n_rows == 0) && seldom()) column_stride = -kHuge;
  if (seldom()) row_stride = size > 1 && n_rows > 1 ? 1 : row_stride;
  if (seldom()) ++first;  // not aligned
  stope_array array{};
  array.data = seldom() && n_rows * n_columns == 0 ? nullptr : memory.data() + first;
  array.n_rows = n_rows;
  array.n_columns = n_columns;
  array.row_stride = row_stride;
  array.column_stride = column_stride;
  array.type = seldom() ? static_cast<std::int32_t>(below(20)) - 5 : type;
  if (array.type >= 0 && array.type < std::ssize(kSizes) && kSizes[static_cast<std::size_t>(array.type)] > size)
    array.type = type;
  array.gpu = seldom() ? static_cast<std::int32_t>(below(3)) : -1;
  if (seldom()) array.reserved = this;
  return array;
}

// Whole numbers and NaN, in the type of the array; the memory is the caller's own.
inline void fill(std::vector<char>& memory, int type, std::uint8_t seed) {
  for (std::size_t i = 0; i * static_cast<std::size_t>(kSizes[static_cast<std::size_t>(type)]) + 8 < memory.size();
       ++i) {
    const auto number = static_cast<std::uint8_t>((i * 37U + seed) % 11U);
    char* const to = memory.data() + i * static_cast<std::size_t>(kSizes[static_cast<std::size_t>(type)]);
    if (type == STOPE_FLOAT64) {
      const double real = number == 10 ? std::nan("") : number / 2.0;
      std::memcpy(to, &real, sizeof real);
    } else if (type == STOPE_FLOAT32) {
      const float real = number == 10 ? std::nanf("") : static_cast<float>(number);
      std::memcpy(to, &real, sizeof real);
    } else {
      *to = static_cast<char>(type == STOPE_BOOLEAN ? number % 2 : number);
    }
  }
}

// What a run tells through `ask`; an empty list for what is no run.
inline std::string told(stope_run* run, std::int64_t (*ask)(stope_run*, char*, std::int64_t)) {
  const std::int64_t size = ask(run, nullptr, 0);
  if (size < 0) return "[]";
  std::string text(static_cast<std::size_t>(size), '?');
  return ask(run, text.data(), size) == size ? text : "the size changed";
}

inline bool is_json(const char* text) {
  return text == nullptr || nlohmann::json::accept(text);
}

}  // namespace stope::fuzz
