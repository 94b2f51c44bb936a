// Cuts as JSON (docs/FORMATS.md): {"age": ["-inf", 22.5, 39.0], "sex": ["female"]}.
#pragma once

#include <string>

#include "stope/cuts.hpp"
#include "stope/io.hpp"
#include "stope/run.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// Reads a file of cuts; `path` as in read_table. A list of numbers (and "-inf", "inf") makes a numeric attribute, a
/// list of other strings a symbolic one. Throws invalid_data, naming the attribute, for anything else: no object,
/// numbers that do not ascend, values that stand twice or are mixed with numbers. Throws io and out_of_memory, too.
CutSet read_cuts(const std::string& path, const RunOptions& run = {});

/// Writes the cuts into an open file, one attribute per line; the caller commits. Throws unsupported for a symbolic
/// attribute whose only values are "-inf" or "inf": they would be read back as numbers.
void write_cuts(OutputFile& file, const CutSet& cuts);

}  // namespace stope
#pragma GCC visibility pop
