// Shared by the commands on gram files: the multiplication and its report.
#pragma once

#include <string>
#include <vector>

#include "report/session.hpp"
#include "stope/gram.hpp"
#include "stope/gram_file.hpp"

namespace stope::cli {

/// z = A^T (A x), rounded to float32.
std::vector<float> multiply_gram(const GramFile& file, const RunOptions& run, GramReport& report);
void note_gram(Session& session, const std::string& path, const GramFile& file);

}  // namespace stope::cli
