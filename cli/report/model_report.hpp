// What is in a model file, for people and for scripts.
#pragma once

#include <string>

#include "report/json.hpp"
#include "stope/model.hpp"

namespace stope::cli {

/// Kind, options, tables and columns; a long list of columns is cut unless `all`.
std::string model_text(const std::string& path, const ModelSummary& summary, bool all);
Json model_json(const ModelSummary& summary);

}  // namespace stope::cli
