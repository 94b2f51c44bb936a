// Several CSV files as the text of one.
#pragma once

#include <string>
#include <vector>

#include "io/bytes.hpp"
#include "stope/io.hpp"

namespace stope::io::csv {

/// The text of all parts, and the options with which it is read.
struct JoinedParts {
  Bytes bytes;
  ReadOptions options;
};

/// Joins the records of all parts as UTF-8, without the headers of all but the first, so that the reader sees the one
/// file that they would be together. `name` is what the whole is called. The text goes to a mapped file where memory is
/// short. Throws what load_bytes and open_text throw, and invalid_data for a header that differs from the first part's.
JoinedParts join_parts(const std::vector<std::string>& paths, const std::string& name, const ReadOptions& options,
                       const RunOptions& run);

}  // namespace stope::io::csv
