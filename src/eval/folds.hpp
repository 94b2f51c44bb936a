// Shared by the evaluations of all kinds of models: the other rows of a split, and progress fold by fold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.hpp"
#include "stope/run.hpp"

namespace stope {

// All rows but these; `rows` ascending.
inline std::vector<std::int64_t> complement(const std::vector<std::int64_t>& rows, std::int64_t n_rows) {
  std::vector<std::int64_t> others;
  others.reserve(static_cast<std::size_t>(n_rows) - rows.size());
  auto next = rows.begin();
  for (std::int64_t row = 0; row < n_rows; ++row) {
    if (next != rows.end() && *next == row) {
      ++next;
    } else {
      others.push_back(row);
    }
  }
  return others;
}

// Progress within a phase never decreases, so every fold is a phase of its own.
inline RunOptions fold_run(const RunOptions& run, std::size_t fold, std::size_t n_folds) {
  RunOptions inner = silent(run);  // the evaluation warns and reports once, for all folds
  inner.progress = run.progress;
  inner.watch = run.watch;
  if (n_folds <= 1) return inner;
  inner.watch = {};
  const std::string prefix = "fold " + std::to_string(fold + 1) + "/" + std::to_string(n_folds) + " ";
  inner.progress = [prefix, run](std::string_view phase, std::int64_t done, std::int64_t total) {
    tell_progress(run, prefix + std::string(phase), done, total);
  };
  return inner;
}

}  // namespace stope
