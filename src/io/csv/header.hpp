// Whether the first record of a file holds names or data.
#pragma once

#include <string>

#include "io/csv/fields.hpp"
#include "io/csv/head.hpp"
#include "stope/io.hpp"

namespace stope::io::csv {

struct HeaderDecision {
  bool header = false;
  bool guessed = false;  ///< nobody said so
  std::string doubt;     ///< empty, or the sentence to warn with, because the other decision was possible
};

/// Decides by the types that the columns have below the first record (docs/formats/csv.md).
HeaderDecision decide_header(const Text& text, const Head& head, const FieldRules& rules, const ReadOptions& options);

}  // namespace stope::io::csv
