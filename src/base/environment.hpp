// The environment variables that stope reads: one table of them, and one reader for each form of value. A variable is
// read anew at each call, since tests set it while they run. A variable that is set to the empty string counts as not
// set.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stope::environment {

/// The variables, in the order of the table.
enum class Variable {
  cuda_plugin,
  files_plugin,
  temporary_folder,
  visible_gpus,
  gpu_kept,
  backend,
  scan,
  block_order,
  visit,
  cuda_scan,
  tile_rows,
  tile_queries,
  part_rows,
  device_rows,
  blocks_under_way,
  cluster_pairs,
  stats_gpu_rows,
  stats_thread_values,
  csv_chunk,
  system_root,
  progress_delay,
  fault_alloc,
  fault_io,
  fault_device,
};

enum class Form { text, word, count };
enum class Audience { users, tests };

struct Row {
  Variable variable;
  const char* name;
  Form form;
  Audience audience;
  const char* values;  ///< a word: all allowed ones, with ", " between two; else what the value is
  const char* help;    ///< one sentence; CONTRIBUTING.md has the same
};

std::span<const Row> table() noexcept;
const Row& row_of(Variable variable) noexcept;

/// Whether the variable exists, even if it is empty.
bool is_set(Variable variable) noexcept;

/// The value as it is; empty if it is not set.
std::string_view text(Variable variable) noexcept;

/// One of the variable's words, or empty if it is not set. Throws invalid_argument for any other.
std::string_view word(Variable variable);

/// A positive whole number, or 0 if it is not set. Throws invalid_argument for anything else.
std::int64_t count(Variable variable);

}  // namespace stope::environment
