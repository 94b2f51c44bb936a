// Describes the content of a model file, for people and for scripts.
#pragma once

#include <string>

#include "report/json.hpp"
#include "stope/model.hpp"

namespace stope::cli {

/// Kind, options, when it was saved and columns; with `all` also the tables inside the file, and a long list of columns
/// whole.
std::string model_text(const std::string& path, const ModelSummary& summary, bool all);
Json model_json(const ModelSummary& summary);

}  // namespace stope::cli
