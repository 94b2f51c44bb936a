// Shared by the commands on gram files: the multiplication and its report.
#pragma once

#include <string>
#include <vector>

#include "report/session.hpp"
#include "stope/gram.hpp"
#include "stope/gram_file.hpp"

namespace stope::cli {

MatrixView matrix_of(const GramFile& file);
/// z = A^T (A x), rounded to float32.
std::vector<float> multiply_gram(const GramFile& file, const RunOptions& run, GramReport& report);
void note_gram(Session& session, const std::string& path, const GramFile& file);
/// Notes how it was multiplied, for the JSON, and on stderr under --explain.
void note_gram_plan(Session& session, const GramReport& report);

}  // namespace stope::cli
