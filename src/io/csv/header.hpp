// Whether the first record of a file holds names or data.
#pragma once

#include <string>
#include <vector>

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

/// Whether the first record of a later part looks like a header: at least half of its fields are among `names`, or some
/// fields do not fit the types of the columns below, and none does.
bool looks_like_names(const Text& text, const Head& head, const FieldRules& rules,
                      const std::vector<std::string>& names);

}  // namespace stope::io::csv
